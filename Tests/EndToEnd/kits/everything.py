#!/usr/bin/env python3
"""A script that does at each stage what the variable DO says; everything.js does the same."""

import asyncio
import json
import os

from rpcurl import failure, interceptor

DO = json.loads(os.environ["DO"])
OPTIONS = json.loads(os.environ.get("OPTIONS", "{}"))
DETAIL = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TESTED"}
HANDLER = OPTIONS.pop("handler", {})
INJECTED = OPTIONS.pop("inject", [{"name": "First"}, {"name": "Second"}])
LATER = OPTIONS.pop("later", {"request": [{"name": "Late"}], "response": [{"name": "Later"}]})
OWN = OPTIONS.pop("own", ["demo.v1.Demo/Hello", {"name": "Own"}])


def change(call, message):
    if isinstance(message, bytes):
        return message + message
    message["name"] = "Changed"


def returns(call, message):
    return {"name": "Returned"}


def headers(call, message):
    headers = call.trailers if call.stage == "response_end" else call.headers
    headers["X-Set"] = ["1", "2"]
    headers.add("x-add", 3)
    headers["x-data-bin"] = b"\0\1"
    if "x-remove" in headers:
        del headers["X-Remove"]


def facts(call, message):
    names = ("method", "kind", "protocol", "codec", "target", "attempt", "request_type", "response_type", "is_subrequest")
    call.log(json.dumps({name: getattr(call, name) for name in names} | {"timeout": call.timeout}))


def content(call, message):
    call.state.setdefault("seen", []).append(call.stage)
    if call.stage == "response_start":
        message = [call.http_status, call.http_version]
    elif call.stage in ("response_end", "finish"):
        message = [call.status.code, call.status.code_number, call.status.message, call.status.details]
    call.log(json.dumps([call.state["seen"], message]))


def retry(call, message):
    if call.status.code == "unauthenticated" and not call.state.get("again"):
        call.state["again"] = True
        call.retry(after=0.01, headers={"x-again": "1", "authorization": "Bearer new"})


def attributes(call, message):
    call.attributes["tier"] = "gold"
    call.attributes.pop("gone", None)


VERBS = {
    "nothing": lambda call, message: None,
    "change": change,
    "return": returns,
    "headers": headers,
    "facts": facts,
    "content": content,
    "fail": lambda call, message: call.fail("PERMISSION_DENIED", "no", details=[DETAIL], trailers={"x-why": "test"}),
    "respond": lambda call, message: call.respond({"name": "Own"}, headers={"x-a": "1"}, trailers=[("x-b", "2")]),
    "respond many": lambda call, message: call.respond(messages=[{"number": 1}, {"number": 2}]),
    "respond fail": lambda call, message: call.respond(fail=failure("not_found", "nothing")),
    "drop": lambda call, message: call.drop(),
    "retry": retry,
    "late retry": lambda call, message: call.retry(),
    "inject": lambda call, message: call.inject(*INJECTED),
    "inject later": lambda call, message: call.inject(**LATER),
    "finding": lambda call, message: call.finding("found"),
    "note": lambda call, message: call.finding("noted", kind="note"),
    "log": lambda call, message: call.log("logged", "warning"),
    "attributes": attributes,
    "throw": lambda call, message: [][0],
    "fail twice": lambda call, message: call.fail("aborted") or call.drop(),
    "print": lambda call, message: print("printed"),
}


def act(call, message=None):
    verb = DO[call.stage]
    if verb == "own":
        response = call.call(*OWN, headers={"x-own": "1"}, timeout=5)
        return call.log(f"{response.status.code} {response.message}")
    if verb == "ask":
        return call.log(f"reply: {call.ask('Sure? ')}")
    return VERBS[verb](call, message)


async def act_later(call, message=None):
    verb = DO[call.stage]
    if verb == "own":
        response = await call.call(*OWN, headers={"x-own": "1"}, timeout=5)
        return call.log(f"{response.status.code} {response.message}")
    if verb == "ask":
        return call.log(f"reply: {await call.ask('Sure? ')}")
    if verb == "log later":
        await asyncio.sleep(0.01)
        return call.log("logged")
    if verb == "sleep":
        return await asyncio.sleep(float(message["text"]) if message else 0.01)
    return VERBS[verb](call, message)


for stage in DO:
    arguments = HANDLER if stage.endswith("_message") else {}
    getattr(interceptor, stage)(**arguments)(act_later if "ASYNC" in os.environ else act)
if "print" in DO.values():
    print("before the run")
interceptor.run(**OPTIONS)
if "print" in DO.values():
    print("the end")
