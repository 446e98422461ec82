#!/usr/bin/env python3
"""Asks the person at the terminal before each Delete, or before the methods of the arguments."""

import json
import sys

from rpcurl import interceptor


@interceptor.request_message(reads=True)
def approve(call, message):
    reply = call.ask(f"{call.method} {json.dumps(message)}: continue? [y/N] ")
    if (reply or "").strip().lower() not in ("y", "yes"):
        call.fail("cancelled", "not approved")


interceptor.run(methods=sys.argv[1:] or ["*/Delete"], waits=True)
