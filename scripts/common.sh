# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What quickstart.sh and test.sh share: messages, logs of long commands, and configuring a build.
# Source it with $root set to the source tree. Callers run with `set -euo pipefail`.

: "${root:?set it to the source tree first}"

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
    bold=$'\033[1m' plain=$'\033[0m'
fi

say() {
    printf '%s\n' "$*"
}

heading() {
    printf '%s%s%s\n' "$bold" "$*" "$plain"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Makes build/log, where the output of every long command goes.
log_init() {
    log_dir=$root/build/log
    if ! mkdir -p "$log_dir" 2>/dev/null || [[ ! -w $log_dir || ! -w $root/build ]]; then
        die "cannot write to $root/build; run this as the owner of that folder, or copy the tree"
    fi
}

# log_run NAME COMMAND...: runs the command quietly; when it fails, shows the end of its output.
log_run() {
    local log=$log_dir/$1.log
    shift
    rm -f "$log"
    if "$@" >"$log" 2>&1 </dev/null; then
        return 0
    fi
    say "FAILED: $*"
    say "--- the end of $log:"
    tail -n 60 "$log"
    say "---"
    return 1
}

cpu_count() {
    nproc 2>/dev/null || echo 2
}

# A build folder whose tree was moved or copied, or whose build tool or compiler has gone, is of no
# use any more: CMake would only stop with an error.
build_dir_refresh() {
    local cache=$1/CMakeCache.txt key value
    [[ -f $cache ]] || return 0
    value=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
    if [[ $value != "$root" ]]; then
        rm -rf "$1"
        return 0
    fi
    for key in CMAKE_MAKE_PROGRAM CMAKE_C_COMPILER; do
        value=$(sed -n "s/^$key:[A-Z]*=//p" "$cache")
        if [[ $value == /* && ! -x $value ]]; then
            rm -rf "$1"
            return 0
        fi
    done
}

# build_tree NAME FOLDER CMAKE-ARGUMENTS...: configures and builds; the first time with Ninja where
# it is installed, else with make.
build_tree() {
    local name=$1 folder=$2
    local -a generator=()
    shift 2
    build_dir_refresh "$folder"
    if [[ ! -f $folder/CMakeCache.txt ]] && command -v ninja >/dev/null; then
        generator=(-G Ninja)
    fi
    log_run "$name-configure" cmake "$@" ${generator[@]+"${generator[@]}"} || return 1
    log_run "$name-build" cmake --build "$folder" --parallel "$(cpu_count)"
}

# build_preset PRESET: the same for a preset of CMakePresets.json.
build_preset() {
    build_tree "$1" "$root/build/$1" --preset "$1"
}
