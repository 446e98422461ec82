#!/usr/bin/env python3
"""Reports calls that take longer than BUDGET_MS milliseconds (default: 200) as failures, and the slowest call at the end."""

import os

from rpcurl import interceptor

BUDGET = float(os.environ.get("BUDGET_MS", "200"))
slowest = (0, "no call")


@interceptor.metrics
def measure(call, metrics):
    global slowest
    slowest = max(slowest, (metrics["total_ms"], call.method))
    if metrics["total_ms"] > BUDGET:
        call.finding(f"{call.method} took {metrics['total_ms']:.0f} ms of {BUDGET:.0f}")


interceptor.run(effects=["checks results"])
print(f"slowest: {slowest[1]}, {slowest[0]:.0f} ms")
