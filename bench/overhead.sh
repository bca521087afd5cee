#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What does sampling cost the workload? An A/B test: a steady load, and a sampler that is on and off in turn.
# See bench/overhead.py --help.
set -euo pipefail
exec python3 "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/overhead.py" "$@"
