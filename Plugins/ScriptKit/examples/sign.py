#!/usr/bin/env python3
"""Signs each request: HMAC-SHA256 of the date and the method, with the key of the variable SIGN_KEY."""

import hashlib
import hmac
import os
import time

from rpcurl import interceptor

KEY = os.environ["SIGN_KEY"].encode()


@interceptor.request_start
def sign(call):
    date = str(int(time.time()))
    call.headers["x-date"] = date
    call.headers["x-signature"] = hmac.new(KEY, f"{date} {call.method}".encode(), hashlib.sha256).hexdigest()


interceptor.run(effects=["adds credentials"])
