#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks what a compiler does not: which room uses which, banned functions, licence lines, lengths,
# blanks, layout. Prints "file:line: text" for each finding; exit code 1 if there was one.
# usage: scripts/check-source.sh [TREE]
set -euo pipefail

root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
cd "${1:-$root}"
[[ -d src ]] || {
    echo "check-source.sh: no src/ in $PWD" >&2
    exit 2
}

max_function_lines=100
max_file_lines=700

mapfile -t sources < <(find src -name '*.[ch]' | LC_ALL=C sort)
[[ ${#sources[@]} -gt 0 ]] || {
    echo "check-source.sh: no .c or .h file in src/" >&2
    exit 2
}
code_folders=(src)
for folder in tests tools bench; do
    [[ ! -d $folder ]] || code_folders+=("$folder")
done
# What people write and no test compares byte by byte.
mapfile -t texts < <(find "${code_folders[@]}" scripts .ci quickstart.sh test.sh CMakeLists.txt \
    \( -path tests/golden -o -path tests/fuzz/corpus \) -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' -o -name '*.cu' -o -name '*.def' -o -name '*.sh' \
    -o -name '*.cmake' -o -name '*.in' -o -name CMakeLists.txt -o -path .ci/run \) \
    -print 2>/dev/null | LC_ALL=C sort)

# Which room may include what. A room is a folder of src/; each folder of src/source/ is one too.
# "room" allows all headers of it, "room/file.h" that one alone. cmd may use everything. Files right
# in src/source/ are what all sources share.
includes() {
    awk '
    BEGIN {
        uses["base"]    = ""
        uses["metric"]  = "base"
        uses["event"]   = "metric base"
        uses["vendor"]  = "base"
        uses["load"]    = "metric vendor base"
        uses["source"]  = "event metric vendor base"
        uses["collect"] = "event metric base"
        uses["daemon"]  = "collect event metric base"
        uses["llm"]     = "metric base"
        uses["judge"]   = "collect/snapshot.h metric base"
        uses["show"]    = "judge collect/snapshot.h collect/column.h collect/timeline.h collect/totals.h event metric base"
        uses["http"]    = "show judge collect metric base"
        uses["fleet"]   = "metric base"
        uses["panel"]   = "show judge collect fleet metric base"
    }
    # The room of a path below src/: "source/nsys" of "source/nsys/read.c", "base" of "base/str.h".
    function room_of(path,   part, n) {
        n = split(path, part, "/")
        if (n < 2) return ""
        if (part[1] == "source" && n > 2) return part[1] "/" part[2]
        return part[1]
    }
    FNR == 1 {
        own = room_of(substr(FILENAME, 5))
        kind = own
        sub(/\/.*/, "", kind)
        if (own == "") print FILENAME ":1: a file of src/ belongs into a room (a folder)"
        else if (kind != "cmd" && !(kind in uses))
            print FILENAME ":1: room \"" own "\" has no rule in scripts/check-source.sh"
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        header = $0
        sub(/^[^"]*"/, "", header)
        sub(/".*/, "", header)
        if (header ~ /(^|\/)\.\.?\//) {
            print FILENAME ":" FNR ": include \"" header "\" by its room, not by a relative path"
            next
        }
        if (own == "" || kind == "cmd" || index(header, "/") == 0) next
        room = room_of(header)
        if (room == own || (kind == "source" && room == "source")) next
        n = split(uses[kind], allowed, " ")
        for (i = 1; i <= n; i++) if (allowed[i] == room || allowed[i] == header) next
        print FILENAME ":" FNR ": room \"" own "\" may not use \"" header "\""
    }' "${sources[@]}"
}

# Banned functions, outside comments, strings and character constants.
banned() {
    awk '
    BEGIN { names = "^(strcpy|strcat|sprintf|vsprintf|gets|atoi|system|strtok)$" }
    FNR == 1 { in_comment = 0 }
    {
        code = ""
        n = length($0)
        quote = ""
        for (i = 1; i <= n; i++) {
            c = substr($0, i, 1)
            two = substr($0, i, 2)
            if (in_comment) {
                if (two == "*/") { in_comment = 0; i++ }
            } else if (quote != "") {
                if (c == "\\") i++
                else if (c == quote) quote = ""
            } else if (two == "/*") { in_comment = 1; i++; code = code " " }
            else if (two == "//") break
            else if (c == "\"" || c == "\047") { quote = c; code = code " " }
            else code = code c
        }
        while (match(code, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
            word = substr(code, RSTART, RLENGTH - 1)
            sub(/[ \t]+$/, "", word)
            if (word ~ names) print FILENAME ":" FNR ": " word "() is banned"
            code = substr(code, RSTART + RLENGTH)
        }
    }' "${sources[@]}"
}

licence() {
    local file
    for file in "${sources[@]}"; do
        head -n 3 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
            echo "$file:1: no line \"/* SPDX-License-Identifier: MIT */\" at the top"
    done
}

# A function's body begins with "{" in the first column (or at the end of an unindented line with a
# ")") and ends with "}" in the first column, as .clang-format lays it out.
lengths() {
    awk -v max_function="$max_function_lines" -v max_file="$max_file_lines" '
    function end_file() {
        if (file != "" && lines > max_file)
            print file ":" lines ": " lines " lines; at most " max_file
    }
    FNR == 1 { end_file(); file = FILENAME; begin = 0; name = "" }
    { lines = FNR }
    !begin && /^[A-Za-z_].*\(/ {
        name = $0
        sub(/[ \t]*\(.*/, "", name)
        sub(/.*[^A-Za-z_0-9]/, "", name)
    }
    !begin && (/^\{/ || /^[A-Za-z_].*\).*\{$/) { begin = FNR }
    begin && /^\}/ {
        count = FNR - begin + 1
        if (count > max_function)
            print FILENAME ":" begin ": " name "() has " count " lines; at most " max_function
        begin = 0
    }
    END { end_file() }' "${sources[@]}"
}

blanks() {
    awk '/\t/ { print FILENAME ":" FNR ": a tab" }
         /[ \t\r]$/ { print FILENAME ":" FNR ": a blank at the end of the line" }' "${texts[@]}"
}

# Layout by clang-format 14; other versions format a little differently.
layout() {
    local tool='' candidate output found rc=0
    for candidate in clang-format-14 clang-format; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" --version | grep -q 'version 14\.'; then
            tool=$candidate
            break
        fi
    done
    if [[ -z $tool ]]; then
        echo "clang-format 14 is not installed: the layout was not compared" >&2
        return 0
    fi
    # clang-format exits with 1 when it found something, and also when it could not work.
    output=$(find "${code_folders[@]}" -name '*.[ch]' -print0 |
        xargs -0 -r "$tool" -n --Werror 2>&1) || rc=$?
    found=$(printf '%s\n' "$output" |
        sed -nE 's/^([^:]*:[0-9]*):[0-9]*: (error|warning): code should .*/\1: layout/p' |
        sed 's/layout$/not laid out as clang-format does/' |
        LC_ALL=C sort -u -t: -k1,1 -k2,2n)
    if [[ -n $found ]]; then
        printf '%s\n' "$found"
    elif [[ $rc != 0 ]]; then
        printf '%s\n' ".clang-format:1: clang-format failed: $output"
    fi
}

# In variables first: a check that cannot run ends the script here, as a failure.
findings=''
for check in includes banned licence lengths blanks layout; do
    lines=$("$check")
    findings+=${lines:+$lines$'\n'}
done
if [[ -n $findings ]]; then
    printf '%s' "$findings"
    echo "$(printf '%s' "$findings" | wc -l) findings in $PWD"
    exit 1
fi
echo "no findings in ${#sources[@]} source files"
