#!/usr/bin/env python3
"""Follows nextPageToken by own calls, and gives the caller one response with the items of all pages."""

from rpcurl import interceptor


@interceptor.request_message(reads=True)
async def request(call, message):
    call.state["request"] = message


@interceptor.response_message
async def pages(call, page):
    while token := page.get("nextPageToken"):
        following = await call.call(call.method, {**call.state["request"], "pageToken": token})
        for name, value in following.message.items():
            page[name] = page.get(name, []) + value if isinstance(value, list) else value
        if "nextPageToken" not in following.message:
            del page["nextPageToken"]


interceptor.run(methods=["*/List"])
