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
usage: ./quickstart.sh [--no-install] [--no-panel] [--load | --no-load]

Installs the missing packages, builds smeff (build/release/smeff), and opens the live panel: on a
GPU of this machine, else on a recording of a real one that is in data/. Where there is no terminal
one frame of it is printed.

  --no-install  install nothing; only say what is missing
  --no-panel    print a frame, and open nothing
  --load        on a GPU without an inference server: run a known load (gemv, as decoding does) for
                a minute; --no-load: do not; by default you are asked
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

# Is somebody at a terminal who wants to see the panel?
has_viewer() {
    [[ $with_panel == yes && -t 0 && -t 1 && ${TERM:-dumb} != dumb ]]
}

# On a GPU: what can be measured, whether somebody serves on it, and the panel.
show_gpu() {
    local worker='' servers
    heading "What can be measured here (smeff doctor):"
    build/release/smeff doctor || true
    servers=$(build/release/smeff servers --json 2>/dev/null | grep -c '"url"' || true)
    if [[ $servers == 0 && $with_load == ask ]] && has_viewer; then
        say
        read -r -t 30 -p "No inference server was found. Run a known load on GPU 0 for a minute? [y/N] " with_load ||
            with_load=no
    fi
    if [[ $servers == 0 && $with_load =~ ^[yY] ]]; then
        build/release/smeff load gemv 60 >/dev/null &
        worker=$!
        sleep 4
    fi
    if has_viewer; then
        build/release/smeff top || true
    else
        build/release/smeff top --once || true
    fi
    [[ -z $worker ]] || kill "$worker" 2>/dev/null || true
}

show_recording() {
    say "Without a GPU here, these are ten seconds of an NVIDIA H200 under a decode-like load:"
    say "GPU-Util says 100 %; the hardware counters say that it waited for its memory (data/h200/live)."
    if has_viewer; then
        say "\$ build/release/smeff top --replay data/h200/live/decode.jsonl.gz --loop"
        sleep 2
        build/release/smeff top --replay data/h200/live/decode.jsonl.gz --loop || die "smeff top failed"
    else
        say "\$ build/release/smeff top --replay data/h200/live/decode.jsonl.gz --once"
        say
        build/release/smeff top --replay data/h200/live/decode.jsonl.gz --once || die "smeff top failed"
    fi
}

with_install=yes
with_panel=yes
with_load=ask
for arg in "$@"; do
    case $arg in
    --help | -h)
        usage
        exit 0
        ;;
    --no-install) with_install=no ;;
    --no-panel) with_panel=no ;;
    --load) with_load=yes ;;
    --no-load) with_load=no ;;
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

if gpu=$(gpu_name); then
    heading "This machine has a GPU: $gpu"
    show_gpu
else
    show_recording
fi

prefix=''
[[ $start == "$root" ]] || prefix=$(printf '%q/' "$root")
say
heading "Next:"
width=$((${#prefix} + 39))
printf "  %-${width}s  %s\n" \
    "${prefix}build/release/smeff top" "the live panel (? for its keys)" \
    "${prefix}build/release/smeff measure 10" "table, verdict and evidence of ten seconds" \
    "${prefix}build/release/smeff analyze FILE" "a recording, or a capture of Nsight Systems" \
    "${prefix}build/release/smeff metrics" "what each number means and when it misleads" \
    "${prefix:-./}test.sh" "all tests"
