#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What recordings of an hour take: bench/recording.sh SMEFF FILE... (made by: smeff record FILE --for 3600 --replay RECORDING --loop).
# Bytes, samples, and how long it takes until they are open: the first frame of the panel that plays them, the statistics of all
# of it, its report. Beside them: gzip and the jq that reads the same lines.
set -eu
smeff=$(readlink -f "$1")
shift
export LC_ALL=C.UTF-8 SMEFF_SERVER=none
echo "== $("$smeff" --version), $(uname -srm), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg)"
timed() { # what command...
    local what=$1
    shift
    for _ in 1 2 3; do
        python3 - "$what" "$@" <<'END'
import subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(f"   {sys.argv[1]:46} {time.monotonic() - begin:6.2f} s")
END
    done
}
for file; do
    seconds=$("$smeff" analyze --json "$file" | jq '.gpus[0].window_s')
    echo "== $(basename "$file"): $(stat -c %s "$file") bytes, $(zcat "$file" | wc -c) as text, $seconds s of the counters, $("$smeff" analyze --json "$file" | jq '.gpus[0].metrics.sm_active.samples') samples"
    timed "analyze" "$smeff" analyze "$file"
    timed "export --report" "$smeff" export --report "$file"
    timed "zcat" zcat "$file"
    timed "zcat | jq -c .event" sh -c "zcat $file | jq -c .event"
    python3 - "$smeff" "$file" <<'END'
import fcntl, os, pty, select, struct, sys, termios, time
times = []
for _ in range(5):
    begin = time.monotonic()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.argv[1], ["smeff", "top", "--replay", sys.argv[2]])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen = b""
    while b"quit" not in seen and time.monotonic() - begin < 10:
        if select.select([fd], [], [], 0.1)[0]:
            seen += os.read(fd, 65536)
    times.append(time.monotonic() - begin)
    os.write(fd, b"q")
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass
    os.waitpid(pid, 0)
    os.close(fd)
print(f"   top --replay: its first frame                  {min(times):.2f} to {max(times):.2f} s in five runs")
END
done
