#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs a command (./test.sh) in a copy of this tree in a bare, fresh Debian, to see what a new user
# would see. Needs root and debootstrap. The mirror is the one in this machine's apt configuration
# (or $SMEFF_MIRROR); the fresh root is kept as an archive in ${XDG_CACHE_HOME:-~/.cache}/smeff.
set -euo pipefail

root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
place=/srv/elsewhere # where the copy lies inside: another name and depth than out here

usage() {
    cat <<'END'
usage: scripts/bare-root.sh [--fresh] SUITE [COMMAND...]

SUITE is bookworm, trixie or another suite of Debian. COMMAND runs as root in the copy of the tree;
default ./test.sh. --fresh makes the root anew instead of taking the archive of an earlier run.

example: scripts/bare-root.sh trixie bash -c 'cd / && /srv/elsewhere/quickstart.sh'
END
}

die() {
    echo "bare-root.sh: $*" >&2
    exit 1
}

# Prints "address suite component" for each of Debian's own entries in apt's configuration.
host_entries() {
    # shellcheck disable=SC2016 # apt expands these
    apt-get indextargets --format '$(ORIGIN)|$(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 'Identifier: Packages' | sed -n 's/^Debian|//p' | LC_ALL=C sort -u
}

# The main archive: the entry whose suite has no "-updates", "-security" and the like behind it.
host_mirror() {
    if [[ -n ${SMEFF_MIRROR:-} ]]; then
        printf '%s\n' "$SMEFF_MIRROR"
        return 0
    fi
    awk '$2 !~ /[-\/]/ { print $1; exit }' <<<"$entries"
}

# Runs a command in a mount and process namespace of its own: when its first process ends, for
# whatever reason, the kernel ends all other processes in it and takes its mounts away. So there is
# never a mount below the folder that is removed at the end.
run_apart() {
    local rc=0
    unshare --mount --mount-proc --pid --fork --kill-child --propagation private "$@" <&0 &
    child=$!
    wait "$child" || rc=$?
    child=''
    return "$rc"
}

# Makes the archive of the fresh root.
make_archive() {
    local fresh=$work/fresh
    echo "Making a bare $suite from $mirror ..."
    if ! run_apart debootstrap --variant=minbase "$suite" "$fresh" "$mirror" \
        >"$work/debootstrap.log" 2>&1; then
        tail -n 30 "$work/debootstrap.log" >&2
        die "debootstrap failed"
    fi
    rm -rf "$fresh"/var/cache/apt/archives/*.deb
    mkdir -p "$cache"
    tar -C "$fresh" --numeric-owner -c . | gzip -1 >"$work/archive"
    mv "$work/archive" "$archive.part.$$"
    mv "$archive.part.$$" "$archive"
    rm -rf "$fresh"
}

# Lets apt inside reach what apt out here reaches.
adapt_apt() {
    local codename suffix address release component
    codename=$(awk '$2 !~ /[-\/]/ { print $2; exit }' <<<"$entries")
    printf 'deb %s %s main\n' "$mirror" "$suite" >"$bare/etc/apt/sources.list"
    while read -r address release component; do
        suffix=${release#"$codename"}
        [[ -n $component && $suffix != "$release" && -n $suffix ]] || continue
        printf 'deb %s %s %s\n' "$address" "$suite$suffix" "$component"
    done <<<"$entries" >>"$bare/etc/apt/sources.list"

    apt-config dump |
        grep -iE '^Acquire::((http|https|ftp)::|Check-|Retries|ForceIPv|Languages)' |
        grep -viE 'proxy-auto-?detect' >"$bare/etc/apt/apt.conf.d/90host" || true
    cp -n /etc/apt/trusted.gpg.d/* "$bare/etc/apt/trusted.gpg.d/" 2>/dev/null || true
    if grep -q ' https:' "$bare/etc/apt/sources.list" && [[ -d /etc/ssl/certs ]]; then
        mkdir -p "$bare/etc/ssl"
        cp -RL /etc/ssl/certs "$bare/etc/ssl/"
    fi
    rm -f "$bare/etc/resolv.conf"
    cp -L /etc/resolv.conf /etc/hosts "$bare/etc/"
}

# The files that a commit of this tree would have, without what is built in it.
copy_tree() {
    mkdir -p "$bare$place"
    cd "$root"
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -co --exclude-standard -z |
            while IFS= read -r -d '' file; do
                [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"
            done | tar --null --no-recursion -T - -c
    else
        tar --exclude=./build --exclude=./.git -c .
    fi | tar --no-same-owner -C "$bare$place" -x
}

# shellcheck disable=SC2317 # the trap calls it
cleanup() {
    local try
    trap '' INT TERM
    if [[ -n $child ]]; then
        kill -KILL "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    [[ -n $work ]] || return 0
    for try in 1 2 3 4 5; do
        rm -rf --one-file-system "$work" 2>/dev/null && return 0
        sleep "$try"
    done
    echo "bare-root.sh: could not remove $work" >&2
}

fresh=no
while [[ ${1:-} == -* ]]; do
    case $1 in
    --fresh) fresh=yes ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
    shift
done
if [[ $# == 0 || ! $1 =~ ^[a-z][a-z0-9-]*$ ]]; then
    usage >&2
    exit 2
fi
suite=$1
shift
[[ $# -gt 0 ]] || set -- ./test.sh

[[ $(id -u) == 0 ]] || die "needs root"
for tool in debootstrap apt-get apt-config unshare chroot; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null || die "needs $tool"
done
export PATH=$PATH:/usr/sbin:/sbin

child=''
work=''
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
work=$(mktemp -d "${TMPDIR:-/var/tmp}/smeff-root.XXXXXX")

entries=$(host_entries)
mirror=$(host_mirror)
[[ -n $mirror ]] ||
    die "no Debian mirror in apt's configuration: run apt-get update, or set SMEFF_MIRROR"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/smeff
archive=$cache/root-$suite-$(dpkg --print-architecture).tar.gz
if [[ $fresh == yes || ! -s $archive ]]; then
    make_archive
fi

bare=$work/root
mkdir "$bare"
tar -C "$bare" --numeric-owner -xzpf "$archive"
chmod 755 "$bare"
adapt_apt
copy_tree

keep=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
    "TERM=${TERM:-dumb}" CI="${CI:-}" NO_COLOR="${NO_COLOR:-}")
for name in http_proxy https_proxy no_proxy SMEFF_FUZZ_SECONDS; do
    [[ -z ${!name:-} ]] || keep+=("$name=${!name}")
done
echo "Running in a bare $suite: $*"
# shellcheck disable=SC2016 # the inner shells expand these
run_apart env -i "${keep[@]}" /bin/sh -c '
    bare=$1
    shift
    mount -t proc proc "$bare/proc" &&
        mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$bare/dev/pts" &&
        mount -t tmpfs -o mode=1777 tmpfs "$bare/dev/shm" && exec chroot "$bare" "$@"' sh "$bare" \
    /bin/sh -c 'cd "$1" && shift && "$@"' sh "$place" "$@"
