#!/usr/bin/env python3
"""Replaces two fields of each response, at any depth: email and phone, or those of the arguments."""

import sys

from rpcurl import interceptor

FIELDS = sys.argv[1:] or ["email", "phone"]


def redact(value, is_hidden=False):
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, (dict, list)):
            redact(item, is_hidden or key in FIELDS)
        elif isinstance(item, str) and (is_hidden or key in FIELDS):
            value[key] = "[redacted]"


@interceptor.response_message
def message(call, message):
    redact(message)


interceptor.run(effects=["redacts"])
