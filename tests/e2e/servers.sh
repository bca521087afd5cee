#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# smeff servers against a small server: numbers, both forms, keys, exit codes. $1 = smeff, $2 = source tree, $3 = fakes.
set -u
smeff=$1 root=$2 fakes=$3 failed=0
for tool in jq timeout; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
dir=$(mktemp -d) || exit 1
unset NO_COLOR ${!SMEFF_@} http_proxy https_proxy all_proxy CURL_CA_BUNDLE SSL_CERT_FILE
"$fakes/http_server" >"$dir/port" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$dir"' EXIT
for _ in $(seq 100); do [ -s "$dir/port" ] && break; sleep 0.05; done
at=127.0.0.1:$(cat "$dir/port")

fail() { echo "FAILED: $*"; failed=1; }
equal() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; } # what, got, expected
has() { case $2 in *"$3"*) ;; *) fail "$1: no '$3' in '${2:0:600}'" ;; esac; } # what, text, part
run() { # what, expected code, arguments…
    local what=$1 expected=$2 code
    shift 2
    out=$(timeout 20 "$smeff" servers "$@" 2>"$dir/err")
    code=$?
    err=$(cat "$dir/err")
    [ $code = "$expected" ] || fail "$what: exit $code, expected $expected ($err)"
}

run "text" 0 "$at/steady"
has "text" "$out" "http://$at/steady  vLLM, m"
has "text" "$out" "tokens/s  vllm:generation_tokens_total"
has "text" "$out" "Running                         3  vllm:num_requests_running"
run "JSON" 0 "$at/steady" --json
equal "one line" "$(wc -l <<<"$out")" 1
equal "the server" "$(jq -r '.servers[0]|"\(.server) \(.state) \(.model) \(.named)"' <<<"$out")" "vllm ok m true"
equal "50 tokens a second" "$(jq '.servers[0].signals.output_tokens_per_second.value|. > 49.5 and . < 50.5' <<<"$out")" true
equal "the window" "$(jq '.servers[0].window_s|. > 1 and . < 2.5' <<<"$out")" true
equal "every metric of the group" "$(jq -r '.servers[0].signals|keys|length' <<<"$out")" \
    "$("$smeff" metrics --json | jq -s '[.[]|select(.group == "Servers")]|length')"
equal "a number, or a reason" "$(jq '[.servers[].signals[]|(.value != null) or (.reason|length > 0)]|all' <<<"$out")" true
# docs/interface.md shows an object as it really is: the same keys.
shown=$(awk '/^## Servers/ { on = 1 } on && /^```json/ { take = 1; next } /^```/ { if (take) exit } take' "$root/docs/interface.md")
equal "keys in docs/interface.md" "$(jq -c keys <<<"$shown")" "$(jq -c '.servers[0]|keys' <<<"$out")"

# Several at once, by argument, option and environment; the slow one costs its second, twice at most.
began=$SECONDS
SMEFF_SERVER=$at/404 run "several" 1 --json "$at/hang" --server "$at/steady" --server "$at/metrics,$at/501"
equal "several" "$(jq -r '[.servers[]|"\(.url|sub(".*/"; "")):\(.state)"]|sort|join(" ")' <<<"$out")" \
    "501:unsupported hang:failed metrics:ok steady:ok"
[ $((SECONDS - began)) -le 5 ] || fail "several: took $((SECONDS - began)) s"
SMEFF_SERVER=$at/metrics run "SMEFF_SERVER" 0 --json
equal "SMEFF_SERVER" "$(jq '.servers|length' <<<"$out")" 1

# A key is sent to who is named, and is in no output.
echo sesame >"$dir/key"
run "no key" 4 "$at/key"
has "no key" "$out" "no_permission: HTTP 401"
run "a key from a file" 0 --token-file "$dir/key" "$at/key" --json
case $out$err in *sesame*) fail "the key is in the output" ;; esac
SMEFF_TOKEN=sesame run "a key from the environment" 0 "$at/key"
echo "open sesame" >"$dir/key"
run "a key with a blank" 2 --token-file "$dir/key" "$at/key"
case $out$err in *sesame*) fail "a bad key is in the output: $err" ;; esac
run "no file with a key" 2 --token-file "$dir/nothing" "$at/key"
has "no file with a key" "$err" "$dir/nothing: No such file"

# TLS: only with a certificate that is trusted. A real one, where openssl is there to make it.
if command -v openssl >/dev/null; then
    mkdir "$dir/web" && printf 'vllm:num_requests_running 3\n' >"$dir/web/metrics"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout "$dir/tls.key" -out "$dir/tls.pem" 2>/dev/null || fail "no certificate could be made"
    (cd "$dir/web" && exec openssl s_server -WWW -accept 0 -key "$dir/tls.key" -cert "$dir/tls.pem" >"$dir/tls.log" 2>&1 </dev/null) &
    tls=$!
    for _ in $(seq 100); do grep -q '^ACCEPT' "$dir/tls.log" && break; sleep 0.05; done
    tls_port=$(sed -n 's/^ACCEPT.*:\([0-9]*\)$/\1/p' "$dir/tls.log")
    run "TLS, not trusted" 1 "https://localhost:$tls_port/metrics"
    has "TLS, not trusted" "$out" "failed: TLS: "
    SSL_CERT_FILE=$dir/tls.pem run "TLS, trusted" 0 "https://localhost:$tls_port/metrics" --json
    equal "TLS, trusted" "$(jq '.servers[0].signals.running.value + 0' <<<"$out")" 3
    SSL_CERT_FILE=$dir/tls.pem run "TLS, another name" 1 "https://127.0.0.1:$tls_port/metrics"
    has "TLS, another name" "$out" "failed: TLS: "
    kill $tls
fi

run "a missing key and a missing page" 1 "$at/key" "$at/404"
run "a missing page and a missing key" 1 "$at/404" "$at/key"
http_proxy=http://127.0.0.1:1 all_proxy=http://127.0.0.1:1 run "a proxy of the environment" 0 "$at/metrics"
run "nobody there" 1 127.0.0.1:1
has "nobody there" "$out" "nobody answers there"
run "no URL" 2 "ftp://$at/"
run "a password in the URL" 2 "http://user:hush@$at/"
case $err in *hush*) fail "the password is in the output" ;; esac
LC_ALL=C run "ASCII" 0 "$at/steady"
LC_ALL=C grep -q '[^ -~]' <<<"$out" && fail "more than ASCII in the C locale"
if [ -w /dev/full ]; then
    "$smeff" servers "$at/metrics" >/dev/full 2>"$dir/err"; equal "standard output is full" $? 1
fi
exit $failed
