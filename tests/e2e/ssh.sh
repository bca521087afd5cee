#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff top --host through a real ssh and sshd, where both are installed. $1 = smeff, $2 = source tree.
set -u
smeff=$1 root=$2 failed=0
sshd=/usr/sbin/sshd
[ -x $sshd ] && command -v ssh >/dev/null && command -v ssh-keygen >/dev/null || { echo "skipped: needs ssh and sshd"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "skipped: sshd needs root"; exit 77; }
dir=$(mktemp -d /root/smeff-ssh.XXXXXX) || exit 1 # sshd wants folders that only their owner may change
pid=
end() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$dir"
}
trap end EXIT
unset NO_COLOR COLUMNS LINES ${!SMEFF_@}
export LC_ALL=C.UTF-8
fail() { echo "FAILED: $*"; failed=1; }
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:2500}'" ;; esac; }

port=$((20000 + $$ % 20000))
ssh-keygen -q -t ed25519 -N '' -f "$dir/host"
ssh-keygen -q -t ed25519 -N '' -f "$dir/key"
mkdir -p "$dir/there" /run/sshd
# What that host has as smeff: here it plays a recording, for want of a GPU.
printf '#!/bin/sh\n[ "$*" = stream ] || exit 9\nSMEFF_SERVER=none exec %s stream --replay %s --loop\n' "$(readlink -f "$smeff")" "$root/data/h200/live/decode.jsonl.gz" >"$dir/there/smeff"
chmod 755 "$dir/there/smeff"
printf 'environment="PATH=%s:/usr/bin:/bin" %s\n' "$dir/there" "$(cat "$dir/key.pub")" >"$dir/authorized"
cat >"$dir/sshd_config" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $dir/host
AuthorizedKeysFile $dir/authorized
PermitRootLogin prohibit-password
PasswordAuthentication no
PermitUserEnvironment PATH
PidFile none
END
"$sshd" -D -e -f "$dir/sshd_config" 2>"$dir/sshd.log" &
pid=$!
# ssh reads the real user's configuration: a wrapper names ours
mkdir "$dir/bin"
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$dir/config" >"$dir/bin/ssh"
chmod 755 "$dir/bin/ssh"
cat >"$dir/config" <<END
Host there nobody
  HostName 127.0.0.1
  Port $port
  IdentityFile $dir/key
  IdentitiesOnly yes
  UserKnownHostsFile $dir/known
  StrictHostKeyChecking accept-new
  BatchMode yes
END
for _ in $(seq 50); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done

out=$(PATH=$dir/bin:$PATH timeout 30 "$smeff" top --once --host root@there 2>"$dir/err") || fail "exit code $? ($(cat "$dir/err" "$dir/sshd.log"))"
has "a frame of another host" "$out" "GPU-Util"
has "a frame of another host" "$out" "NVIDIA H200"
err=$(PATH=$dir/bin:$PATH timeout 30 "$smeff" top --once --host no-such-user@there 2>&1 >/dev/null) && fail "a user who may not: exit code 0"
has "a user who may not" "$err" "ssh ended with exit code 255"
rm "$dir/there/smeff"
err=$(PATH=$dir/bin:$PATH timeout 30 "$smeff" top --once --host root@there 2>&1 >/dev/null) && fail "no smeff there: exit code 0"
has "no smeff there" "$err" "there is no smeff in PATH on that host"
exit $failed
