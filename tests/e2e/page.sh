#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The live page in a real headless browser (tests/page/test_page.py). $1 = smeff, $2 = source tree, $3 = the fake libraries.
set -u
command -v python3 >/dev/null || { echo "skipped: needs python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
exec timeout -k 20 280 python3 "$2/tests/page/test_page.py" "$1" "$2" "$3"
