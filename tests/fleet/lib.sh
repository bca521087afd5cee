# SPDX-License-Identifier: MIT
# A fleet of made-up machines and a real Prometheus over it: sourced by tests/e2e/fleet.sh and
# bench/fleet.sh. Expects $root (source tree), $dir (a folder of its own); sets $fleet_pid,
# $prom_pid, $prom (its URL). fleet_end ends both.
# shellcheck shell=bash disable=SC2154

# fleet_start PROGRAM MACHINES GPUS: ports in $dir/ports, targets in $dir/web.json and dcgm.json.
fleet_start() {
    "$1" "$2" "$3" "$root/data/h200/live" >"$dir/ports" 2>"$dir/fleet.err" &
    fleet_pid=$!
    local i
    for i in $(seq 300); do
        grep -q '^ready$' "$dir/ports" && break
        kill -0 $fleet_pid 2>/dev/null || break
        sleep 0.1
    done
    grep -q '^ready$' "$dir/ports" || { echo "the fleet does not start: $(cat "$dir/fleet.err")"; return 1; }
    for i in web dcgm; do
        awk -v kind=$i '$1 == kind { list = list (list ? "," : "") "\"127.0.0.1:" $2 "\"" }
            END { print "[{\"targets\":[" list "]}]" }' "$dir/ports" >"$dir/$i.json"
    done
    first=127.0.0.1:$(awk '$1 == "web" { print $2; exit }' "$dir/ports")
}

# prom_start SCRAPE_SECONDS EVALUATION_SECONDS [OPTION…]: over the fleet, with the rules of deploy/.
prom_start() {
    local port scrape=$1 evaluation=$2
    rate_s=$((4 * scrape))
    shift 2
    cat >"$dir/prometheus.yml" <<END
global: {scrape_interval: ${scrape}s, scrape_timeout: ${scrape}s, evaluation_interval: ${evaluation}s}
rule_files: [$root/deploy/prometheus/rules/*.yml]
scrape_configs:
  - {job_name: smeff, file_sd_configs: [{files: [$dir/web.json]}]}
  - {job_name: dcgm, file_sd_configs: [{files: [$dir/dcgm.json]}]}
END
    for _ in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 10000))
        prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" \
            --web.listen-address=127.0.0.1:$port --log.level=warn "$@" >"$dir/prometheus.log" 2>&1 &
        prom_pid=$!
        prom=http://127.0.0.1:$port
        for _ in $(seq 100); do
            curl -sf "$prom/-/ready" >/dev/null && return 0
            kill -0 $prom_pid 2>/dev/null || break
            sleep 0.1
        done
        kill $prom_pid 2>/dev/null
        wait $prom_pid 2>/dev/null
    done
    echo "Prometheus does not start: $(tail -n 3 "$dir/prometheus.log")"
    return 1
}

fleet_end() {
    [[ -z ${prom_pid:-} ]] || kill "$prom_pid" 2>/dev/null
    [[ -z ${fleet_pid:-} ]] || kill "$fleet_pid" 2>/dev/null
    wait ${prom_pid:+"$prom_pid"} ${fleet_pid:+"$fleet_pid"} 2>/dev/null
}

# ask EXPRESSION: the API's answer, as JSON.
ask() { curl -sS --max-time 30 --data-urlencode "query=$1" "$prom/api/v1/query"; }

# number EXPRESSION: its only value; "" when there is none, or more than one. On a machine that is
# busy a scrape may be late, and its series are away for one: it is asked again.
number() {
    local v
    for _ in 1 2 3 4; do
        v=$(ask "$1" | jq -r '.data.result | if length == 1 then .[0].value[1] else "" end')
        [[ -z $v ]] || break
        sleep 1
    done
    echo "$v"
}

# rows EXPRESSION: how many series.
rows() { ask "$1" | jq -r '.data.result | length'; }

# good EXPRESSION: is there data, all of it numbers? Prints what is wrong.
good() {
    local wrong
    for _ in 1 2 3 4; do
        wrong=$(ask "$1" | jq -r 'if .status != "success" then .error
            elif (.data.result | length) == 0 then "no data"
            elif [.data.result[].value[1] | select(test("NaN|Inf"))] | length > 0 then "NaN or Inf"
            else empty end')
        [[ $wrong == "no data" ]] || break
        sleep 1
    done
    [[ -z $wrong ]] || echo "$wrong"
}

# panels FILE: the expressions of a dashboard, variables set to this fleet: $first is the machine, and
# rates are over four scrapes, as Grafana takes them.
panels() {
    jq -r '.panels[] | select(.targets) | .title as $t | .targets[] | "\($t)\t\(.expr)"' "$1" |
        sed -e "s/\\\$__rate_interval/${rate_s}s/g" -e "s/\\\$instance/$first/g" -e 's/\$gpu/.*/g' -e 's/\$model/.*/g'
}

# check_panels FILE: prints every panel without data; the number of those with data is $panels_good.
check_panels() {
    local title expression wrong
    panels_good=0
    while IFS=$'\t' read -r title expression; do
        wrong=$(good "$expression")
        if [[ -z $wrong ]]; then
            panels_good=$((panels_good + 1))
        else
            echo "${1##*/}, $title: $wrong: $expression"
        fi
    done < <(panels "$1")
}

# What NVIDIA's own dashboard (Grafana 12239, old names) asks, panel by panel, and the same under
# the new names. "name<TAB>expression" lines.
dcgm_queries() {
    local of='{instance=~".*", gpu=~".*"}'
    printf '%s\t%s\n' \
        "temperature" "DCGM_FI_DEV_GPU_TEMP$of" \
        "mean temperature" "avg(DCGM_FI_DEV_GPU_TEMP$of)" \
        "power" "DCGM_FI_DEV_POWER_USAGE$of" \
        "power in all" "sum(DCGM_FI_DEV_POWER_USAGE$of)" \
        "SM clock" "DCGM_FI_DEV_SM_CLOCK$of * 1000000" \
        "GPU utilisation" "DCGM_FI_DEV_GPU_UTIL$of" \
        "memory in use" "DCGM_FI_DEV_FB_USED$of" \
        "tensor pipe" "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE$of" \
        "new temperature" "DCGM_FI_DEV_GPU_TEMP_CELSIUS$of" \
        "new power" "sum(DCGM_FI_DEV_BOARD_POWER_WATTS$of)" \
        "new SM clock" "DCGM_FI_DEV_SM_CLOCK_HERTZ$of" \
        "new GPU utilisation" "DCGM_FI_DEV_GPU_UTIL_RATIO$of" \
        "new memory in use" "DCGM_FI_DEV_FB_USED_BYTES$of" \
        "new tensor pipe" "DCGM_FI_PROF_TENSOR_UTIL_RATIO$of"
}
