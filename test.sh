#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# All tests: installs what is missing, builds with sanitizers, runs ctest, compiles everything with
# clang too, checks the source, and runs each fuzz target for a short time. The last line is
# "N passed, N failed" (", N skipped" follows where something was); exit code 1 if anything failed.
set -euo pipefail

root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=scripts/common.sh
. "$root/scripts/common.sh"
# shellcheck source=scripts/deps.sh
. "$root/scripts/deps.sh"

usage() {
    cat <<'END'
usage: ./test.sh [--no-install] [PATTERN]

Without PATTERN: every test. With it: only the ctest tests whose name matches this regular
expression.

  --no-install  install nothing; only say what is missing
  --help        this text

SMEFF_FUZZ_SECONDS=N  how long each fuzz target runs (default 20; 0: only over its corpus)
END
}

passed=0
failed=()
skipped=()
work=''
steady=()

pass() {
    passed=$((passed + 1))
}

# fail NAME REASON, skip NAME REASON
fail() {
    failed+=("FAILED  $1: $2")
}

skip() {
    skipped+=("SKIPPED $1: $2")
}

# Prints the outcome and ends the script. An interrupted run must not look like a finished one, so
# this is called once, at the end, and not from the trap.
finish() {
    say
    if [[ ${#skipped[@]} -gt 0 ]]; then
        printf '%s\n' "${skipped[@]}"
    fi
    if [[ ${#failed[@]} -gt 0 ]]; then
        printf '%s\n' "${failed[@]}"
    elif [[ $passed == 0 ]]; then
        failed=("no test ran")
        printf 'FAILED  %s\n' "${failed[@]}"
    fi
    if [[ ${#skipped[@]} -gt 0 ]]; then
        say "$passed passed, ${#failed[@]} failed, ${#skipped[@]} skipped"
    else
        say "$passed passed, ${#failed[@]} failed"
    fi
    [[ ${#failed[@]} == 0 ]] || exit 1
    exit 0
}

# Prints a line "passed|failed|skipped <tab> name <tab> reason" for each test of ctest's JUnit file.
# The reason of a skipped test is what it printed, that of a failed one ctest's word for it.
junit_lines() {
    awk '
    function attribute(line, key) {
        if (!match(line, " " key "=\"[^\"]*\"")) return ""
        return text(substr(line, RSTART + length(key) + 3, RLENGTH - length(key) - 4))
    }
    function text(s) {
        gsub(/&lt;/, "<", s); gsub(/&gt;/, ">", s)
        gsub(/&quot;/, "\"", s); gsub(/&apos;/, "\047", s)
        gsub(/&#[0-9]+;/, " ", s); gsub(/&amp;/, "\\&", s); gsub(/\t/, " ", s)
        return s
    }
    function flush_case() {
        if (name == "") return
        if (status == "run") print "passed\t" name "\t"
        else if (status == "notrun" && skipped)
            print "skipped\t" name "\t" (out == "" ? "gave no reason" : out)
        else if (status == "fail")
            print "failed\t" name "\t" (reason == "" ? "Failed" : reason) "; its output is above"
        else print "failed\t" name "\tdid not run (" (reason == "" ? status : reason) ")"
        name = ""
    }
    function add(s) {
        sub(/^[ ]+/, "", s); sub(/[ \r]+$/, "", s)
        if (s != "") out = (out == "" ? s : out "; " s)
    }
    !in_out && /<testcase / {
        flush_case()
        name = attribute($0, "name"); status = attribute($0, "status")
        out = ""; reason = ""; skipped = 0
    }
    !in_out && /<failure/ { reason = attribute($0, "message") }
    !in_out && /<skipped message="SKIP_/ { skipped = 1 }
    {
        line = $0
        if (!in_out && line ~ /<system-out>/) { in_out = 1; sub(/.*<system-out>/, "", line) }
        if (in_out) {
            ends = line ~ /<\/system-out>/
            sub(/<\/system-out>.*/, "", line)
            line = text(line)
            if (skipped) sub(/^[Ss](kipped|KIPPED): */, "", line)
            add(line)
            if (ends) in_out = 0
        }
    }
    END { flush_case() }' "$1"
}

# Runs the ctest tests; with a pattern, only those that match. One more at a time than there are
# processors, since the longest wait for time to pass.
run_ctest() {
    local junit=$root/build/asan/ctest.xml kind name reason rc=0 count=0
    local -a match=()
    [[ -z $1 ]] || match=(-R "$1")
    rm -f "$junit"
    ${steady[@]+"${steady[@]}"} ctest --test-dir "$root/build/asan" --no-tests=error \
        --output-on-failure --output-junit "$junit" --test-output-size-passed 65536 \
        --parallel "$(($(cpu_count) + 1))" ${match[@]+"${match[@]}"} </dev/null 2>&1 || rc=$?

    if [[ -s $junit ]]; then
        while IFS=$'\t' read -r kind name reason; do
            count=$((count + 1))
            case $kind in
            passed) pass ;;
            skipped) skip "$name" "$reason" ;;
            *) fail "$name" "$reason" ;;
            esac
        done < <(junit_lines "$junit")
    fi
    if [[ $count == 0 ]]; then
        if [[ -n $1 ]]; then
            fail ctest "no test matches \"$1\""
        else
            fail ctest "it ran no test"
        fi
    elif [[ $rc != 0 && ${#failed[@]} == 0 ]]; then
        fail ctest "exit code $rc"
    fi
}

# Everything compiled a second time, by clang.
run_clang() {
    if ! command -v clang >/dev/null; then
        skip clang "clang is not installed"
        return 0
    fi
    if build_tree clang "$root/build/clang" --preset debug -B "$root/build/clang" \
        -DCMAKE_C_COMPILER=clang; then
        pass
    else
        fail clang "does not compile with clang; see build/log/clang-build.log"
    fi
}

run_source_check() {
    if scripts/check-source.sh; then
        pass
    else
        fail check-source "see the lines above"
    fi
}

# run_fuzz_target PROGRAM: works on a copy of the corpus, so that nothing is written into the tree.
run_fuzz_target() {
    local program=$1 name=${1##*/} corpus='' folder log rc=0
    local -a limit=(-max_total_time="$fuzz_seconds")
    [[ $fuzz_seconds != 0 ]] || limit=(-runs=0)
    for folder in "$root/tests/fuzz/corpus/$name" "$root/tests/fuzz/corpus/${name#fuzz_}"; do
        [[ ! -d $folder ]] || corpus=$folder
    done
    mkdir -p "$work/$name/corpus" "$root/build/fuzz/found"
    [[ -z $corpus ]] || cp -R "$corpus/." "$work/$name/corpus/"
    [[ -n $corpus ]] || say "$name has no corpus in tests/fuzz/corpus; it starts from nothing"

    log=$log_dir/$name.log
    (cd "$work/$name" && exec ${steady[@]+"${steady[@]}"} "$program" "${limit[@]}" \
        -timeout=25 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="$root/build/fuzz/found/$name-" corpus) \
        >"$log" 2>&1 </dev/null || rc=$?
    if [[ $rc == 0 ]]; then
        say "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
        pass
    else
        tail -n 60 "$log"
        fail "$name" "exit code $rc; log build/log/$name.log, input build/fuzz/found/$name-*"
    fi
}

run_fuzz() {
    local program count=0
    if [[ ! -f tests/fuzz/CMakeLists.txt ]]; then
        skip fuzz "there is no tests/fuzz/CMakeLists.txt"
        return 0
    fi
    if ! deps_have_fuzzer; then
        skip fuzz "no clang that can link libFuzzer is installed"
        return 0
    fi
    rm -f "$root"/build/fuzz/tests/fuzz/fuzz_* # of targets that are no more
    if ! build_tree fuzz "$root/build/fuzz" -S "$root" -B "$root/build/fuzz" \
        -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSMEFF_FUZZ=ON; then
        fail fuzz "the fuzz targets do not build; see build/log/fuzz-build.log"
        return 0
    fi
    for program in "$root"/build/fuzz/tests/fuzz/fuzz_*; do
        [[ -f $program && -x $program ]] || continue
        count=$((count + 1))
        run_fuzz_target "$program"
    done
    [[ $count -gt 0 ]] || fail fuzz "no program build/fuzz/tests/fuzz/fuzz_* was built"
}

with_install=yes
pattern=''
for arg in "$@"; do
    case $arg in
    --help | -h)
        usage
        exit 0
        ;;
    --no-install) with_install=no ;;
    -*)
        usage >&2
        exit 2
        ;;
    *)
        if [[ -n $pattern || -z $arg ]]; then
            usage >&2
            exit 2
        fi
        pattern=$arg
        ;;
    esac
done
fuzz_seconds=${SMEFF_FUZZ_SECONDS:-20}
[[ $fuzz_seconds =~ ^(0|[1-9][0-9]{0,5})$ ]] || die "SMEFF_FUZZ_SECONDS is not a whole number"

cd "$root"
log_init
trap '[[ -z $work ]] || rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
work=$(mktemp -d)
# High address-space randomisation breaks the sanitizers of gcc 12 and clang 14 now and then.
if [[ $(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0) -gt 28 ]] &&
    setarch -R true 2>/dev/null; then
    steady=(setarch -R)
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

if [[ $with_install == yes ]]; then
    if ! deps_install test; then
        fail packages "not installed; ./test.sh --no-install runs what can run without them"
        finish
    fi
else
    deps_install test --check || true
fi

heading "Building with AddressSanitizer and UBSan (build/asan) ..."
if build_preset asan; then
    heading "Running the tests ..."
    run_ctest "$pattern"
else
    fail build "preset asan does not build, so none of its tests ran; see build/log/asan-*.log"
fi
if [[ -z $pattern ]]; then
    heading "Checking the source ..."
    run_source_check
    heading "Compiling with clang (build/clang) ..."
    run_clang
    heading "Fuzzing, $fuzz_seconds s for each target (build/fuzz) ..."
    run_fuzz
fi
finish
