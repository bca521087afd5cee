#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the panel costs: bench/panel.sh SMEFF BENCH_PANEL (both of a release build). Needs tmux, python3.
# Drawing a frame; the time to the first frame; CPU and memory with 8 GPUs of 50 Hz at 10 frames a second, their recording
# played (the recordings of data/h200/live, side by side), with ten minutes of it behind it.
set -eu
smeff=$(readlink -f "$1") bench=$(readlink -f "$2")
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
dir=$(mktemp -d)
session="smeff-bench-$$"
t() { env -u TMUX tmux -L "$session" -f /dev/null "$@"; }
end() {
    t kill-server 2>/dev/null || true
    "$smeff" daemon stop --run-dir "$dir/run" >/dev/null 2>&1 || true
    rm -rf "$dir"
}
trap end EXIT
export LC_ALL=C.UTF-8 SMEFF_SERVER=none
live=$root/data/h200/live
python3 "$root/bench/merge.py" "$dir/8.jsonl" 8 "$live"/{decode,matmul,bursty,tail,idle}.jsonl.gz

echo "== $("$smeff" --version), $(uname -srm), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), $(nproc) cores, tmux $(t -V)"
echo "== drawing a frame, 8 GPUs"
"$bench" "$dir/8.jsonl" 200 60
"$bench" "$dir/8.jsonl" 80 24

echo "== from the start of smeff top --replay to its first frame, and to the first frame with a GPU's readings (ms), 10 times"
python3 - "$smeff" "$live/decode.jsonl.gz" <<'END'
import os, pty, select, struct, fcntl, sys, termios, time
firsts, readings, bases = [], [], []
for _ in range(10):  # what starting any program in such a terminal takes here
    begin = time.monotonic()
    pid, fd = pty.fork()
    if pid == 0:
        os.execv("/bin/echo", ["echo", "x"])
    os.read(fd, 100)
    bases.append(time.monotonic() - begin)
    os.waitpid(pid, 0)
    os.close(fd)
for _ in range(10):
    begin = time.monotonic()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.argv[1], ["smeff", "top", "--replay", sys.argv[2]])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    seen, first = b"", None
    while time.monotonic() - begin < 5:
        if not select.select([fd], [], [], 0.1)[0]:
            continue
        seen += os.read(fd, 65536)
        if first is None and b"smeff" in seen and b"quit" in seen:
            first = time.monotonic() - begin
        if first and b"GPU-Util" in seen and b"100 %" in seen:
            break
    readings.append(time.monotonic() - begin)
    firsts.append(first)
    os.write(fd, b"q")
    while True:
        try:
            if not os.read(fd, 65536):
                break
        except OSError:
            break
    os.waitpid(pid, 0)
for name, values in (("/bin/echo", bases), ("first frame", firsts), ("with readings", readings)):
    print(name, " ".join("%.0f" % (1000 * v) for v in sorted(values)))
END

echo "== CPU time and memory of the panel's process over 30 s, 8 GPUs at 50 Hz from a daemon, 200x60"
mkdir -m 700 "$dir/run"
"$smeff" daemon start --replay "$dir/8.jsonl" --loop --run-dir "$dir/run"
watch() { # what key
    t new-session -d -x 200 -y 60 "exec $smeff top --run-dir $dir/run"
    sleep 20 # the history is read first
    t send-keys "$2"
    sleep 2
    pid=$(t display-message -p '#{pane_pid}')
    before=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
    sleep 30
    after=$(awk '{ print $14 + $15 }' "/proc/$pid/stat")
    echo "$1: CPU $(awk -v t=$((after - before)) -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", 100 * t / hz / 30 }') % of a core, $(grep -E 'VmHWM|VmRSS|RssAnon' "/proc/$pid/status" | tr -s '\t ' ' ' | tr '\n' ' ')"
    t kill-server
}
watch overview o
watch "one GPU" 1
if [ "${3:-}" = long ]; then
    echo "== the same after ten minutes, when the history is full"
    sleep 570
    watch "one GPU" 1
    watch overview o
fi
