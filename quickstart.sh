#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From a fresh copy of the source to the first answer: installs what is missing, builds, and shows
# what a recording of a real GPU says. Can be run from any folder, and again at any time.
set -euo pipefail

start=$PWD
root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/common.sh
. "$root/scripts/common.sh"
# shellcheck source=scripts/deps.sh
. "$root/scripts/deps.sh"

usage() {
    cat <<'END'
usage: ./quickstart.sh [--no-install]

Installs the missing packages, builds smeff (build/release/smeff) and analyses the recording of an
NVIDIA H200 that is in data/.

  --no-install  install nothing; only say what is missing
  --help        this text
END
}

# The first GPU's name, or "NVIDIA GPU" when only its device file tells; fails without a GPU.
gpu_name() {
    local name=''
    if command -v nvidia-smi >/dev/null; then
        name=$(timeout 10 nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null |
            sed -n 1p) || name=''
    fi
    if [[ -z $name && -e /dev/nvidia0 ]]; then
        name='NVIDIA GPU'
    fi
    [[ -n $name ]] && printf '%s\n' "$name"
}

with_install=yes
for arg in "$@"; do
    case $arg in
    --help | -h)
        usage
        exit 0
        ;;
    --no-install) with_install=no ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done

cd "$root"
log_init
if [[ $with_install == yes ]]; then
    deps_install build || die "without these packages smeff cannot be built"
else
    deps_install build --check || true
fi

heading "Building build/release/smeff ..."
build_preset release || die "the build failed"
say

recording=data/h200/decode.sqlite
heading "A real recording of an NVIDIA H200, made with Nsight Systems (about one second)."
say "It ships with smeff ($recording), so no GPU is needed to read it."
if gpu=$(gpu_name); then
    say "This machine has a GPU ($gpu). Measure it with: build/release/smeff measure 5"
fi
say "\$ build/release/smeff analyze $recording"
say
build/release/smeff analyze "$recording" || die "smeff analyze failed"

prefix=''
[[ $start == "$root" ]] || prefix=$(printf '%q/' "$root")
say
heading "Next:"
width=$((${#prefix} + 39))
printf "  %-${width}s  %s\n" \
    "${prefix}build/release/smeff analyze YOUR.sqlite" \
    "your own recording (nsys export --type sqlite)" \
    "${prefix}build/release/smeff metrics" "what each number means and when it misleads" \
    "${prefix:-./}test.sh" "all tests"
