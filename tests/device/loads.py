#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Known kinds of load on a GPU, through PyTorch: decode, matmul, copy, h2d, peer, idle. Prints what it did.
usage: loads.py KIND SECONDS [DEVICE]"""
import sys
import time

import torch

kind, seconds = sys.argv[1], float(sys.argv[2])
device = f"cuda:{sys.argv[3] if len(sys.argv) > 3 else 0}"
torch.cuda.set_device(device)


def repeat(step):
    """Runs step, which synchronises, until the time is over; returns (how often, seconds)."""
    step()
    begin, n = time.time(), 0
    while time.time() - begin < seconds:
        step()
        n += 1
    return n, time.time() - begin


def decode():
    """Batch-1 linear layers over 2 GiB of bf16 weights in a CUDA graph: what LLM decoding does."""
    weights = [torch.randn(8192, 8192, device=device, dtype=torch.bfloat16) for _ in range(16)]
    x = torch.randn(1, 8192, device=device, dtype=torch.bfloat16)
    passes = 8

    def layers():
        y = x
        for _ in range(passes):
            for w in weights:
                y = torch.nn.functional.linear(y, w)

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        layers()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        layers()

    def step():
        for _ in range(8):
            graph.replay()
        torch.cuda.synchronize()

    n, t = repeat(step)
    print(f"decode: {n * 8 * passes * 16 * 8192 * 8192 * 2 / t:.6g} bytes of weights a second")


def matmul():
    a = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device=device, dtype=torch.bfloat16)
    c = torch.empty_like(a)

    def step():
        for _ in range(40):
            torch.matmul(a, b, out=c)
        torch.cuda.synchronize()

    n, t = repeat(step)
    print(f"matmul: {n * 40 * 2 * 8192**3 / t:.6g} operations a second")


def copy():
    a = torch.empty(4 << 30, dtype=torch.uint8, device=device)
    b = torch.empty_like(a)

    def step():
        for _ in range(20):
            b.copy_(a)
        torch.cuda.synchronize()

    n, t = repeat(step)
    print(f"copy: {n * 20 * 2 * (4 << 30) / t:.6g} bytes read and written a second")


def h2d():
    host = torch.empty(1 << 30, dtype=torch.uint8).pin_memory()
    dev = torch.empty(1 << 30, dtype=torch.uint8, device=device)

    def step():
        for _ in range(8):
            dev.copy_(host, non_blocking=True)
        torch.cuda.synchronize()

    n, t = repeat(step)
    print(f"h2d: {n * 8 * (1 << 30) / t:.6g} bytes a second")


def peer():
    """From GPU 0 to DEVICE, over NVLink where there is one."""
    here = torch.ones(1 << 29, dtype=torch.uint8, device="cuda:0")
    there = torch.empty_like(here, device=device)

    def step():
        for _ in range(16):
            there.copy_(here, non_blocking=True)
        torch.cuda.synchronize("cuda:0")
        torch.cuda.synchronize(device)

    n, t = repeat(step)
    print(f"peer: {n * 16 * (1 << 29) / t:.6g} bytes a second")


def idle():
    time.sleep(seconds)
    print("idle: nothing")


{"decode": decode, "matmul": matmul, "copy": copy, "h2d": h2d, "peer": peer, "idle": idle}[kind]()
