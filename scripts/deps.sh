#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what the build (deps.sh build) or the build and the tests (deps.sh test) need, and only
# what is missing. deps.sh --check build|test only tells. quickstart.sh and test.sh source it.
#
# A line of the tables is: package, then how to tell that it is there without asking the package
# manager, which also accepts a tool or library that came from elsewhere:
#   cmd:NAME a command, lib:NAME a pkg-config module, file:PATH a file,
#   fuzzer: clang links a libFuzzer program, pkg: only the package manager knows.

deps_table_apt() {
    # libc6-dev by name: gcc only recommends it.
    cat <<'END'
gcc             cmd:cc
libc6-dev       file:/usr/include/stdio.h
make            cmd:make
cmake           cmd:cmake
ninja-build     cmd:ninja
pkg-config      cmd:pkg-config
libjansson-dev  lib:jansson
libsqlite3-dev  lib:sqlite3
libcurl4-openssl-dev lib:libcurl
libmicrohttpd-dev lib:libmicrohttpd
zlib1g-dev      lib:zlib
libncurses-dev  lib:ncursesw
END
    [[ $1 == test ]] || return 0
    # Debian 12 and 13: libclang-rt-dev depends on the package of the default clang
    # (libclang-rt-14-dev, libclang-rt-19-dev). For others see deps_apt_clang_rt.
    cat <<'END'
libcmocka-dev   lib:cmocka
clang           cmd:clang
libclang-rt-dev fuzzer:
sqlite3         cmd:sqlite3
jq              cmd:jq
tmux            cmd:tmux
prometheus      cmd:promtool
python3         cmd:python3
END
    # For the live page. Ubuntu has it only as a snap, and the test then says that it was skipped.
    grep -qsx 'ID=ubuntu' /etc/os-release || echo 'chromium        cmd:chromium'
}

deps_table_dnf() {
    cat <<'END'
gcc                    cmd:cc
glibc-devel            file:/usr/include/stdio.h
make                   cmd:make
cmake                  cmd:cmake
ninja-build            cmd:ninja
pkgconf-pkg-config     cmd:pkg-config
jansson-devel          lib:jansson
sqlite-devel           lib:sqlite3
libcurl-devel          lib:libcurl
libmicrohttpd-devel    lib:libmicrohttpd
zlib-devel             lib:zlib
ncurses-devel          lib:ncursesw
findutils              cmd:find
END
    [[ $1 == test ]] || return 0
    cat <<'END'
libasan                pkg:
libubsan               pkg:
libcmocka-devel        lib:cmocka
clang                  cmd:clang
compiler-rt            fuzzer:
sqlite                 cmd:sqlite3
jq                     cmd:jq
tmux                   cmd:tmux
curl                   cmd:curl
openssl                cmd:openssl
python3                cmd:python3
chromium               cmd:chromium-browser
diffutils              cmd:diff
END
}

# The package manager: apt, dnf, or nothing for one that is not known here.
deps_manager() {
    if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
        echo apt
    elif command -v dnf >/dev/null && command -v rpm >/dev/null; then
        echo dnf
    fi
}

# Can clang link a libFuzzer program?
deps_have_fuzzer() {
    local dir ok=1
    command -v clang >/dev/null || return 1
    dir=$(mktemp -d) || return 1
    printf '%s\n' '#include <stddef.h>' '#include <stdint.h>' \
        'int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n);' \
        'int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return d == NULL && n > 0; }' \
        >"$dir/probe.c"
    clang -fsanitize=fuzzer,address,undefined -o "$dir/probe" "$dir/probe.c" >/dev/null 2>&1 || ok=0
    rm -rf "$dir"
    [[ $ok == 1 ]]
}

# deps_have MANAGER PACKAGE TEST
deps_have() {
    case $3 in
    fuzzer:) deps_have_fuzzer && return 0 ;;
    cmd:*) command -v "${3#cmd:}" >/dev/null && return 0 ;;
    file:*) [[ -e ${3#file:} ]] && return 0 ;;
    esac
    case $1 in
    apt)
        dpkg-query -W -f='${db:Status-Status}\n' "$2" 2>/dev/null | grep -qx installed && return 0
        ;;
    dnf) rpm -q --whatprovides "$2" >/dev/null 2>&1 && return 0 ;;
    esac
    case $3 in
    lib:*) command -v pkg-config >/dev/null && pkg-config --exists "${3#lib:}" && return 0 ;;
    esac
    return 1
}

# deps_missing build|test: prints the missing packages, one a line.
deps_missing() {
    local manager package test
    manager=$(deps_manager)
    "deps_table_${manager:-apt}" "$1" | while read -r package test; do
        deps_have "${manager:-none}" "$package" "$test" || printf '%s\n' "$package"
    done
}

# The package of libFuzzer and the sanitizers for the default clang; nothing where clang has them.
deps_apt_clang_rt() {
    local version name
    version=$(apt-cache depends clang 2>/dev/null |
        sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
    for name in libclang-rt-dev "libclang-rt-$version-dev"; do
        if [[ -n $(apt-cache show "$name" 2>/dev/null) ]]; then
            echo "$name"
            return 0
        fi
    done
}

# Prints the words as one could type them, then runs them with the output in a file.
deps_run() {
    local log rc=0
    printf '  %s\n' "$*"
    log=$(mktemp) || return 1
    "$@" >"$log" 2>&1 </dev/null || rc=$?
    [[ $rc == 0 ]] || tail -n 40 "$log" >&2
    rm -f "$log"
    return "$rc"
}

# deps_install build|test [--check]: returns 0 when everything is there, or when the package manager
# is not known (the build will tell). Never asks a question, except that sudo may ask for the
# password on a terminal. Needs no network when nothing is missing.
deps_install() {
    local what=$1 mode=${2:-} manager package
    local -a missing=() sudo=() update=() install=()
    mapfile -t missing < <(deps_missing "$what")
    [[ ${#missing[@]} -gt 0 ]] || return 0
    manager=$(deps_manager)

    case $manager in
    apt)
        update=(apt-get update -qq -o DPkg::Lock::Timeout=300)
        install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
            -o DPkg::Lock::Timeout=300)
        ;;
    dnf)
        install=(dnf install -y -q --setopt=install_weak_deps=False)
        ;;
    *)
        echo "No package manager that is known here (apt, dnf), and something seems to be missing."
        echo "The build needs: a C compiler (gcc 12, clang 14 or newer), make or ninja, CMake 3.22,"
        echo "pkg-config, jansson 2.13, SQLite 3.34, libcurl 7.81, libmicrohttpd 0.9.71, zlib and ncursesw 6.1 with their headers."
        if [[ $what == test ]]; then
            echo "The tests need also: cmocka, clang with libFuzzer, the sqlite3 shell, jq, tmux, promtool,"
            echo "python3 and chromium."
        fi
        return 0
        ;;
    esac

    echo "Missing packages: ${missing[*]}"
    if [[ $(id -u) != 0 ]]; then
        if ! command -v sudo >/dev/null; then
            mode=--check
        elif sudo -n true 2>/dev/null; then
            sudo=(sudo -n)
        elif [[ -t 0 && -t 1 ]]; then
            sudo=(sudo)
        else
            mode=--check
        fi
    fi
    if [[ $mode == --check ]]; then
        echo "To install them, run as root:"
        [[ ${#update[@]} == 0 ]] || echo "  ${update[*]}"
        echo "  ${install[*]} ${missing[*]}"
        return 1
    fi

    echo "Installing them with:"
    if [[ ${#update[@]} -gt 0 ]] && ! deps_run ${sudo[@]+"${sudo[@]}"} "${update[@]}"; then
        echo "The package lists could not be renewed; trying with those that are there." >&2
    fi
    if [[ $manager == apt ]]; then
        local -a known=()
        for package in "${missing[@]}"; do
            [[ $package != libclang-rt-dev ]] || package=$(deps_apt_clang_rt)
            [[ -z $package ]] || known+=("$package")
        done
        missing=(${known[@]+"${known[@]}"})
    fi
    [[ ${#missing[@]} -gt 0 ]] || return 0
    deps_run ${sudo[@]+"${sudo[@]}"} "${install[@]}" "${missing[@]}" || return 1
    # The tests start their own Prometheus; nobody asked for one that runs as a service.
    if [[ " ${missing[*]} " == *" prometheus "* && -d /run/systemd/system ]]; then
        deps_run ${sudo[@]+"${sudo[@]}"} systemctl disable --now prometheus || true
    fi
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -euo pipefail
    check=''
    if [[ ${1:-} == --check ]]; then
        check=--check
        shift
    fi
    case ${1:-} in
    build | test)
        deps_install "$1" "$check"
        ;;
    *)
        echo "usage: scripts/deps.sh [--check] build|test" >&2
        exit 2
        ;;
    esac
fi
