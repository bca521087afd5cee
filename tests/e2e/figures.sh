#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/figures is what tools/figures.py makes of data/h200/live, and the table in docs/what-gpu-util-hides.md is what the data say:
# $2 = source tree.
set -u
root=$2 failed=0
command -v python3 >/dev/null || { echo "skipped: needs python3"; exit 77; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
export PYTHONDONTWRITEBYTECODE=1

fail() { echo "FAILED: $*"; failed=1; }

python3 "$root/tools/figures.py" "$root/data/h200/live" "$dir" || fail "exit code of tools/figures.py"
ours() { (cd "$1" && ls -- *.svg); } # the pictures of the live page are no work of tools/figures.py
[ "$(ours "$dir")" = "$(ours "$root/docs/figures")" ] || fail "docs/figures has $(ours "$root/docs/figures"); tools/figures.py makes $(ls -m "$dir")"
for figure in "$dir"/*.svg; do
    cmp "$figure" "$root/docs/figures/${figure##*/}" || fail "docs/figures/${figure##*/}: run tools/figures.py"
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$figure" || fail "${figure##*/} is no XML"
    grep -Ec '<script|href=|url\(|@import' "$figure" | grep -qx 0 || fail "${figure##*/} is not self-contained"
    grep -qF "figures/${figure##*/}" "$root/docs/what-gpu-util-hides.md" || fail "docs/what-gpu-util-hides.md does not show ${figure##*/}"
done

# The table, from the data by a way of its own: no code of tools/figures.py.
python3 - "$root/docs/what-gpu-util-hides.md" "$root/data/h200/live" <<'END' || failed=1
import calendar, csv, json, os, re, statistics, sys, time
page, data = sys.argv[1:]
columns = {"GR active": "gr_active", "SM active": "sm_active", "SM issue": "sm_issue", "Occupancy": "occupancy",
           "Tensor pipe": "tensor_active", "FMA pipe": "fma_active", "DRAM": "dram_throughput"}
wrong = []

def seconds(stamp):
    return calendar.timegm(time.strptime(stamp[:19], "%Y/%m/%d %H:%M:%S")) + float(stamp[19:])

def truth(load):
    """{heading of a column: percent, or word}"""
    with open(f"{data}/{load}.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["source"] == "pm"]
    begin, end = int(rows[0]["start_ns"]) * 1e-9, int(rows[-1]["end_ns"]) * 1e-9
    with open(f"{data}/{load}-nvidia-smi.csv") as file:
        readings = [line.split(", ") for line in list(file)[1:]]
    result = {name: 100 * statistics.fmean(float(row[key]) for row in rows) for name, key in columns.items()}
    result["GPU-Util"] = statistics.fmean(int(r[1].split()[0]) for r in readings if begin <= seconds(r[0]) <= end)
    with open(f"{data}/{load}-summary.json") as file:
        result["smeff's verdict"] = json.load(file)["gpus"][0]["verdict"]["kind"]
    return result

def agrees(cell, value):
    """To the printed digit. Without one it is to the first digit after the point, and 0 % says that it is nothing at all."""
    if isinstance(value, str):
        return cell == value
    if cell == "< 0.01 %":
        return 0 < value < 0.01
    match = re.fullmatch(r"(\d+(?:\.(\d+))?) %", cell)
    if not match:
        return False
    if float(match[1]) == 0:
        return value == 0
    return abs(float(match[1]) - value) <= 0.5 * 10 ** -len(match[2] or "1") + 1e-9

with open(page, encoding="utf-8") as file:
    table = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in file if line.startswith("| ")]
head, rows = table[0], table[2:]
loads = sorted(name[:-len("-summary.json")] for name in os.listdir(data) if name.endswith("-summary.json"))
if sorted(row[0] for row in rows) != loads:
    wrong.append(f"the table has {[row[0] for row in rows]}, the data {loads}")
if sorted(head[1:]) != sorted([*columns, "GPU-Util", "smeff's verdict"]):
    wrong.append(f"columns {head}")
for row in rows if not wrong else []:
    values = truth(row[0])
    wrong += [f"{row[0]}, {name}: '{cell}', the data say {values[name]}"
              for name, cell in zip(head[1:], row[1:], strict=True) if not agrees(cell, values[name])]
print(*(f"FAILED: docs/what-gpu-util-hides.md: {text}" for text in wrong), sep="\n", end="\n" if wrong else "")
sys.exit(bool(wrong))
END
exit $failed
