#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A body as vLLM's /metrics prints it, of at least so many bytes: as many engines as that takes, for bench/llm.sh.

llm_body.py BYTES"""
import random
import sys

GAUGES = ["num_requests_running", "num_requests_waiting", "kv_cache_usage_perc"]
COUNTERS = ["prompt_tokens", "generation_tokens", "num_preemptions", "prefix_cache_queries", "prefix_cache_hits",
            "external_prefix_cache_queries", "external_prefix_cache_hits", "mm_cache_queries", "mm_cache_hits"]
SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0]
COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]
HISTOGRAMS = {"time_to_first_token_seconds": SECONDS, "inter_token_latency_seconds": SECONDS, "e2e_request_latency_seconds": SECONDS,
              "request_queue_time_seconds": SECONDS, "request_inference_time_seconds": SECONDS, "request_prefill_time_seconds": SECONDS,
              "request_decode_time_seconds": SECONDS, "request_time_per_output_token_seconds": SECONDS, "iteration_tokens_total": COUNTS,
              "request_prompt_tokens": COUNTS, "request_generation_tokens": COUNTS, "request_max_num_generation_tokens": COUNTS,
              "request_params_n": COUNTS, "request_params_max_tokens": COUNTS, "request_prefill_kv_computed_tokens": COUNTS}


def body(engines):
    rng = random.Random(1)
    labels = ['engine="%d",model_name="meta-llama/Llama-3.1-70B-Instruct"' % e for e in range(engines)]
    out = []

    def head(name, kind):
        out.append(f"# HELP vllm:{name} {name.replace('_', ' ').capitalize()}, as counted by the engine.")
        out.append(f"# TYPE vllm:{name} {kind}")

    for name in GAUGES:
        head(name, "gauge")
        out += [f"vllm:{name}{{{l}}} {rng.randrange(256) / 256}" for l in labels]
    for name in COUNTERS:
        head(name + "_total", "counter")
        out += [f"vllm:{name}_total{{{l}}} {float(rng.randrange(10**8))!r}" for l in labels]
        head(name + "_created", "gauge")
        out += [f"vllm:{name}_created{{{l}}} 1.7643000001234567e+09" for l in labels]
    for name, bounds in HISTOGRAMS.items():
        head(name, "histogram")
        for l in labels:
            count = 0
            for bound in bounds + ["+Inf"]:
                count += rng.randrange(100000)
                out.append(f'vllm:{name}_bucket{{{l},le="{bound if bound == "+Inf" else float(bound)}"}} {float(count)}')
            out.append(f"vllm:{name}_count{{{l}}} {float(count)}")
            out.append(f"vllm:{name}_sum{{{l}}} {count * rng.random()!r}")
    return "\n".join(out) + "\n"


engines = 1
while len(body(engines)) < int(sys.argv[1]):
    engines += 1
sys.stdout.write(body(engines))
