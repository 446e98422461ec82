#!/usr/bin/env python3
"""Sends a token, and gets another one from the URL of TOKEN_URL when the server refuses it."""

import json, os, urllib.request
from rpcurl import interceptor

token = {"authorization": "Bearer " + os.environ.get("TOKEN", "")}


@interceptor.request_start
def authorize(call):
    call.headers.update(token)


@interceptor.response_end
def refresh(call):
    if call.status.code == "unauthenticated" and "refreshed" not in call.state:
        call.state["refreshed"] = True
        with urllib.request.urlopen(os.environ["TOKEN_URL"], timeout=10) as response:
            token["authorization"] = "Bearer " + json.load(response)["access_token"]
        call.retry(headers=token)


interceptor.run(retries=True, effects=["adds credentials", "repeats attempts"])
