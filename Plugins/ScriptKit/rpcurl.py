"""Interceptors of rpcurl in Python 3.9 or newer, without packages: see rpcurl-script(7).

    from rpcurl import interceptor

    @interceptor.request_start
    def sign(call):
        call.headers["x-signature"] = signature(call.method)

    interceptor.run()

`rpcurl --script ./sign.py ...` runs it. A handler has the name of its stage; `async def` handlers run concurrently.
What a script prints is logged, since its standard output is the connection to rpcurl.
"""

import binascii
import collections
import collections.abc
import json
import os
import select
import sys
import time

# Other modules are imported where they are needed: asyncio takes longer to import than Python to start.

STAGES = (
    "request_start", "request_message", "request_end", "response_start", "response_message", "response_end",
    "attempt_end", "metrics", "finish",
)  # fmt: skip
# Where the verdicts are possible, and `inject`.
_REQUEST, _RESPONSE = STAGES[:3], STAGES[3:6]
_MESSAGES = ("request_message", "response_message")
_POSSIBLE = {"fail": STAGES[:6], "respond": _REQUEST, "drop": _MESSAGES, "retry": _RESPONSE,
             "inject": (*_MESSAGES, "request_end", "response_end")}  # fmt: skip
# The members of the first line of a call that are not of its stage.
_FACTS = {"method", "kind", "protocol", "codec", "target", "attempt", "request_type", "response_type", "subrequest", "attributes"}
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_parse = json.JSONDecoder().scan_once
_Handler = collections.namedtuple("_Handler", "function is_async direction reads form")


class CallError(Exception):
    """An own call failed; `status` says why."""

    def __init__(self, method, status):
        super().__init__(f"{method}: {status.code}: {status.message}")
        self.status = status


class CallEnded(Exception):  # noqa: N818
    """The call has ended while a handler waited. Nothing that the handler does has an effect any more."""


class Status:
    """How a call has ended: code ("ok", "not_found"), code_number, message, details and, of own calls, trailers."""

    def __init__(self, value):
        self.code, self.code_number = value["code"], value.get("code_number")
        self.message, self.details = value.get("message", ""), [*map(_detail, value.get("details") or ())]
        self.trailers = Headers(value.get("trailers", ()))


def _detail(value):
    """A detail as `fail` has it; one whose type is not in the schema stays as it is."""
    return {"@type": f"type.googleapis.com/{value['type']}", **value["debug"]} if "debug" in value else value


class Response:
    """The response to an own call: message (bytes if the request was bytes), headers and status."""

    def __init__(self, value):
        self.status, self.headers = Status(value["status"]), Headers(value.get("headers", ()))
        self.message = binascii.a2b_base64(value["bytes"]) if "bytes" in value else value.get("message")


class Headers(collections.abc.MutableMapping):
    """Headers or trailers by name, in any case. A name with several values has them joined by commas.

    Values are text, numbers, lists of these and, for names that end in -bin, bytes.
    """

    def __init__(self, pairs=()):
        self._values, self._changes = {}, {}
        for name, value in pairs:
            self._values.setdefault(name.lower(), []).append(value)

    def __getitem__(self, name):
        return ", ".join(self._values[name.lower()])

    def __setitem__(self, name, value):
        name = name.lower()
        self._values[name] = values = _texts(name, value)
        self._changes[name] = ("set", values)

    def __delitem__(self, name):
        name = name.lower()
        del self._values[name]
        self._changes[name] = ("remove", None)

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __contains__(self, name):
        return isinstance(name, str) and name.lower() in self._values

    def get_all(self, name):
        """The values of a name."""
        return list(self._values.get(name.lower(), ()))

    def add(self, name, value):
        """Adds a value, after those that the name has."""
        name = name.lower()
        values, (verb, changed) = _texts(name, value), self._changes.get(name, ("add", []))
        self._values[name] = self._values.get(name, []) + values
        self._changes[name] = ("set" if verb == "remove" else verb, (changed or []) + values)

    def _reply(self):
        """The changes, as a reply has them."""
        reply = {}
        for name, (verb, values) in self._changes.items():
            if verb == "remove":
                reply.setdefault(verb, []).append(name)
            else:
                reply.setdefault(verb, {})[name] = values if len(values) > 1 else values[0]
        return reply


def _texts(name, value):
    values = value if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise ValueError(f"header {name}: an empty list has no value; use del")
    return [_text(name, value) for value in values]


def _text(name, value):
    if isinstance(value, (bytes, bytearray)) and name.lower().endswith("-bin"):
        return _base64(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise TypeError(f"header {name}: {type(value).__name__} is not text")
    return str(value)


def _pairs(headers):
    """Headers of a mapping or of pairs, as the protocol has them."""
    pairs = headers.items() if hasattr(headers, "items") else headers
    return [[name, text] for name, value in pairs for text in _texts(name, value)]


def _form(message):
    if isinstance(message, (bytes, bytearray)):
        return {"bytes": _base64(message)}
    return {"message": message}


def _base64(data):
    return binascii.b2a_base64(data, newline=False).decode()


def _duration(value):
    return value if isinstance(value, str) else f"{round(value * 1000)}ms"


def failure(code, message="", details=(), trailers=()):
    """A status, as `fail` of call.respond has it."""
    result = {"code": code.lower(), "message": str(message)}
    details = [detail for detail in details if "@type" in detail]
    if details:
        result["details"] = details
    if trailers:
        result["trailers"] = _pairs(trailers)
    return result


class _Attributes(collections.abc.MutableMapping):
    """The attributes of a call. A change is sent at once."""

    def __init__(self, values, send):
        self._values, self._send = values, send

    def __getitem__(self, key):
        return self._values[key]

    def __setitem__(self, key, value):
        self._values[key] = str(value)
        self._send({"attributes": {key: str(value)}})

    def __delitem__(self, key):
        del self._values[key]
        self._send({"attributes": {key: None}})

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)


class _Shared:
    """What all values of a call have in common."""

    def __init__(self, connection, first):
        self.number, self.first, self.state = first["call"], first, {}
        self.pending, self.tasks, self.is_over = set(), set(), False
        # The handlers of attempt_end that still run, and the reply at metrics that waits for them.
        self.attempts, self.last = set(), None
        # With retries, the start of the response is held until a later value shows that there is no retry.
        self.held, self.is_started = None, False
        # The numbers of the values of the response that are handled, after its held start.
        self.responses = set()
        self.connection = connection
        self.attributes = _Attributes(dict(first.get("attributes") or {}), self.send)

    def send(self, members):
        """Sends a line that is no reply; after the end of the call, only what concerns no call."""
        if not self.is_over:
            self.connection.send({"call": self.number, **members})
        elif "log" in members:
            self.connection.send(members)


def _fact(name):
    return property(lambda call: call._shared.first.get(name), doc=f"The {name} of the call, as of the first line.")


class Call:
    """One value of a call, as a handler receives it. The handler returns, and the value goes on with its changes."""

    __slots__ = ("_connection", "_handler", "_headers", "_is_done", "_reply", "_shared", "_status", "_value")

    method, kind, protocol, codec, target = map(_fact, ("method", "kind", "protocol", "codec", "target"))
    attempt, request_type, response_type = map(_fact, ("attempt", "request_type", "response_type"))
    is_subrequest = property(lambda call: call._shared.first.get("subrequest", False), doc="Another interceptor's own call.")
    stage = property(lambda call: call._value["stage"])
    state = property(lambda call: call._shared.state, doc="A dict for the script, kept until the end of the call.")
    attributes = property(lambda call: call._shared.attributes, doc="Attributes, which other interceptors see too.")
    http_status = property(lambda call: call._value.get("http_status"), doc="At response_start.")
    http_version = property(lambda call: call._value.get("http_version"), doc="At response_start.")

    def __init__(self, connection, shared, value, handler):
        self._connection, self._shared, self._value, self._handler = connection, shared, value, handler
        self._headers = self._reply = self._status = None
        self._is_done = False

    @property
    def headers(self):
        """The headers of the request or of the response, at its start. Changes are sent."""
        return self._changeable("headers", ("request_start", "response_start"))

    @property
    def trailers(self):
        """The trailers, at response_end. Changes are sent."""
        return self._changeable("trailers", ("response_end",))

    def _changeable(self, member, stages):
        if self.stage not in stages:
            raise AttributeError(f"call.{member} exists at {' and '.join(stages)}; keep what you need in call.state")
        if self._headers is None:
            self._headers = Headers(self._value.get(member, ()))
        return self._headers

    @property
    def status(self):
        """The status, at response_end, attempt_end and finish."""
        if self._status is None:
            if "code" not in self._value:
                raise AttributeError("call.status exists at response_end, attempt_end and finish")
            self._status = Status(self._value)
        return self._status

    @property
    def timeout(self):
        """The seconds until the deadline, at request_start; None without a deadline."""
        milliseconds = self._value.get("timeout_ms")
        return None if milliseconds is None else milliseconds / 1000

    def log(self, text, level="info"):
        """Writes a line to the log: debug, info, warning or error."""
        self._shared.send({"log": {"level": level, "text": str(text)}})

    def finding(self, text, kind="failure"):
        """Reports a finding about the call; a failure gives the run the exit code 8, a note does not."""
        if self._shared.is_over:
            raise CallEnded("the call has ended: metrics is the last stage with findings")
        self._shared.send({"finding": {"kind": kind, "text": str(text)}})

    def fail(self, code, message="", details=(), trailers=()):
        """Fails the call. Details are dicts with @type."""
        status = failure(code, message, details, trailers)
        is_late = self.stage in ("metrics", "finish")
        if not is_late and (self._is_done or "value" not in self._value):
            self._shared.send({"fail": status})
        else:
            self._decide(fail=status)

    def respond(self, message=None, messages=None, headers=(), trailers=(), fail=None):
        """Responds in place of the server, at a stage of the request."""
        response = {} if message is None else _form(message)
        if messages is not None:
            response["messages"] = [*map(_form, messages)]
        if fail is not None:
            response["fail"] = fail
        response |= {name: _pairs(pairs) for name, pairs in (("headers", headers), ("trailers", trailers)) if pairs}
        self._decide(respond=response)

    def drop(self):
        """Drops the message."""
        self._decide(drop=True)

    def retry(self, after=None, headers=None):
        """Makes another attempt, after seconds or "100ms", with further headers. Needs run(retries=True)."""
        if "replay_limit" not in self._connection.owner.options:
            raise RuntimeError("retry needs interceptor.run(retries=True)")
        how = {} if after is None else {"after": _duration(after)}
        if headers:
            again = Headers()
            for name, text in _pairs(headers):
                again.add(name, text)
            how["headers"] = again._reply()["add"]
        self._decide(retry=how or True)

    def inject(self, *messages, request=(), response=()):
        """Injects messages before this value, or after all messages of a direction that the script has received."""
        if messages:
            self._require("inject")
            self._reply = self._reply or {}
            self._reply.setdefault("inject", []).extend(map(_form, messages))
        directions = {"request": request, "response": response}
        if request or response:
            self._shared.send({"inject": {name: [*map(_form, list_)] for name, list_ in directions.items() if list_}})

    def call(self, method, message, headers=(), timeout=None):
        """Makes a unary call, which passes the other interceptors. Raises CallError if it fails.

        Returns a Response; in an `async def` handler, await it.
        """
        number = self._connection.next_number()
        own = {"of": self._shared.number, "id": number, "method": method, **_form(message)}
        if headers:
            own["headers"] = _pairs(headers)
        if timeout is not None:
            own["timeout"] = _duration(timeout)

        def result(value):
            response = Response(value)
            if response.status.code != "ok":
                raise CallError(method, response.status)
            return response

        return self._wait({"call": own}, ("called", number), result)

    def ask(self, text):
        """Asks the person at the terminal. Returns the reply; None without a terminal. In an `async def` handler, await it."""
        number = self._connection.next_number()
        question = {"call": self._shared.number, "ask": {"id": number, "text": text}}
        return self._wait(question, ("asked", number), lambda value: value.get("reply"))

    def _wait(self, line, key, result):
        if self._shared.is_over:
            raise CallEnded("the call has ended")
        self._connection.send(line)
        if not self._handler.is_async:
            return result(self._connection.wait(key, self._shared))

        async def wait():
            return result(await self._connection.future(key))

        return self._connection.loop.create_task(wait())

    def _require(self, verb):
        stages = _POSSIBLE[verb]
        if self.stage not in stages:
            raise RuntimeError(f"{verb} is not possible at {self.stage}, but at {', '.join(stages[:-1])} and {stages[-1]}")
        if self._is_done:
            raise RuntimeError(f"{verb} comes too late: the value at {self.stage} has gone on")

    def _decide(self, **verdict):
        self._require(*verdict)
        kinds = {"fail", "respond", "drop", "retry"} & set(self._reply or ())
        if kinds:
            raise RuntimeError(f"the value has a verdict already: {kinds.pop()}")
        self._reply = {**(self._reply or {}), **verdict}
        self._headers = None

    def _members(self, result, line):
        """The members of the reply; None if the value goes on unchanged."""
        handler, reply = self._handler, self._reply
        self._is_done = True
        if handler.direction and not handler.reads and (not reply or reply.keys() == {"inject"}):
            # What was received is parsed again: it shows whether the handler has changed the dict in place. As JSON, since
            # Python has 1 == True.
            before = handler.content(_parse(line, 0)[0])
            if result != before or (handler.form == "json" and _encode(result) != _encode(before)):
                return {**(reply or {}), **_form(result)}
        elif self._headers is not None and self._headers._changes:
            return {**(reply or {}), "headers": self._headers._reply()}
        return reply


class _MessageHandler(_Handler):
    """The handler of a stage, with how it receives messages."""

    def content(self, value):
        """The second argument of the handler at this value."""
        if self.form == "bytes":
            return binascii.a2b_base64(value.get("bytes", ""))
        return value.get("message")

    def hello(self):
        """The form of messages, as the hello has it."""
        return "none" if self.form == "none" else ("read-" if self.reads else "") + self.form


class _Connection:
    """Lines from and to one rpcurl."""

    def __init__(self, owner, source, sink, loop=None):
        self.owner, self.source, self.sink, self.loop = owner, source, sink, loop
        self.calls, self.unchanged, self.waiting, self.last = {}, {}, {}, 0
        self.parts, self.queue, self.out, self.backlog = [], collections.deque(), [], bytearray()
        self.is_ended = self.has_greeted = self.is_flush_planned = False
        self.ends = set()

    # Reading

    def receive(self):
        """Reads what has come, and queues its lines."""
        try:
            data = os.read(self.source, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        end = data.rfind(b"\n") + 1
        self.is_ended |= not data
        if not end:
            return self.parts.append(data)
        lines = b"".join([*self.parts, data[:end]])
        self.parts = [data[end:]]
        try:
            text = lines.decode()
            self.queue.extend([(_parse(line, 0)[0], line) for line in text.split("\n")[:-1]])
        except (StopIteration, ValueError, RecursionError) as error:
            self.reject(f"the peer is not rpcurl: a line is no JSON: {str(error) or type(error).__name__}")

    def reject(self, reason):
        """Ends this connection, and with it a script that has no other."""
        if not self.serves:
            sys.exit(reason)
        print(reason, file=sys.stderr)
        self.is_ended = True
        self.queue.clear()

    @property
    def serves(self):
        """Whether other runs may have connections too."""
        return self.sink == self.source

    def drain(self):
        """Handles the queued lines. Replies are written together, but do not wait for slow handlers."""
        if self.queue and not self.has_greeted:
            self.greet(self.queue.popleft()[0])
        began = time.monotonic()
        while self.queue:
            self.handle(*self.queue.popleft())
            if time.monotonic() - began > 0.005:
                self.flush()
                began = time.monotonic()
        self.flush()

    def greet(self, value):
        version = value.get("rpcurl") if isinstance(value, dict) else None
        if version != 1:
            other = "the peer is not rpcurl" if version is None else f"rpcurl.py supports version 1 of the protocol, and not {version}"
            return self.reject(other)
        self.has_greeted = True
        self.out.append(_encode(self.owner.hello()) + "\n")

    def handle(self, value, line):
        try:
            stage, number = value["stage"], value["call"]
        except (KeyError, TypeError):
            return self.reject("the peer is not rpcurl: a line has no stage")
        if stage in ("called", "asked"):
            return self.resolve((stage, value.get("id")), value)
        shared = self.calls.get(number)
        if shared is None:
            shared = self.calls[number] = _Shared(self, value)
        if stage == "finish":
            self.end(shared)
        if stage == "response_start":
            shared.is_started, shared.responses = False, set()
        elif "replay_limit" in self.owner.options and stage.startswith("response_"):
            shared.responses.add(value["value"])
        handler = self.owner.handlers.get(stage)
        if handler is None:
            return self.put(shared, value, None) if "value" in value else None
        call = Call(self, shared, value, handler)
        if handler.is_async:
            return self.start(call, value, line)
        try:
            self.complete(call, handler.function(call, *self.arguments(call)), line)
        except Exception as error:  # noqa: BLE001
            self.failed(call, error)

    @staticmethod
    def arguments(call):
        """What the handler receives after the call."""
        handler, value = call._handler, call._value
        if handler.direction:
            return (handler.content(value),)
        if call.stage in ("attempt_end", "metrics"):
            others = {"stage", "call", "value"} | (_FACTS if value is call._shared.first else set())
            return ({name: member for name, member in value.items() if name not in others},)
        return ()

    def start(self, call, value, line):
        """Runs an `async def` handler."""

        async def run():
            try:
                result = await call._handler.function(call, *self.arguments(call))
                self.complete(call, result, line)
            except Exception as error:  # noqa: BLE001
                self.failed(call, error)

        tasks, pending, number = call._shared.tasks, call._shared.pending, value.get("value")
        if value["stage"] == "finish":
            tasks = self.ends
        if number is not None:
            pending.add(number)
        task = self.loop.create_task(run())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        if value["stage"] == "attempt_end":
            call._shared.attempts.add(task)
            task.add_done_callback(lambda task: self.attempt_handled(call._shared, task))

    def attempt_handled(self, shared, task):
        shared.attempts.discard(task)
        if shared.last and not shared.attempts:
            self.settle(shared, *shared.last)

    def end(self, shared):
        """The call is over: what waits for it ends."""
        del self.calls[shared.number]
        shared.is_over = True
        for task in shared.tasks:
            task.cancel()

    # Replying

    def complete(self, call, result, line):
        shared, number = call._shared, call._value.get("value")
        if number is None or shared.is_over:
            return
        if call._handler.direction and result is None:
            # A dict that was changed in place, or the bytes that came.
            result = call._handler.content(call._value)
        elif result is not None and (call._handler.reads or not call._handler.direction):
            raise TypeError(f"the handler of {call.stage} returns {type(result).__name__}, but changes no messages")
        reply = call._members(result, line)
        self.put(shared, call._value, reply)

    def put(self, shared, value, reply):
        """Replies to a value, or holds the start of a response that may be retried, and the end of the call."""
        stage, held = value["stage"], shared.held
        if stage == "metrics" and shared.attempts:
            shared.last = value["value"], reply
            return
        if "replay_limit" in self.owner.options and stage.startswith("response_"):
            number, decides = value["value"], reply and ("retry" in reply or "fail" in reply)
            shared.responses.discard(number)
            if stage == "response_start" and not shared.is_started and not decides:
                shared.pending.add(number)
                shared.held = number, reply
                return
            is_later = not decides and any(other < number for other in shared.responses)
            if held and (is_later or number < held[0]):
                # A value before this one may be retried, or this is one of a response that was.
                return self.settle(shared, number, reply)
            shared.held, shared.is_started = None, True
            if held and reply and "retry" in reply:
                shared.pending.discard(held[0])
            elif held:
                self.settle(shared, *held)
        self.settle(shared, value["value"], reply)

    def settle(self, shared, number, reply):
        """Writes a reply. A value that goes on unchanged does so with all before it, if none of these waits."""
        line = reply and _encode({"call": shared.number, "value": number, **reply}) + "\n"
        shared.pending.discard(number)
        if line:
            self.write(line)
        elif shared.pending and min(shared.pending) < number:
            self.write('{"call":%d,"value":%d}\n' % (shared.number, number))
        else:
            self.unchanged[shared.number] = number
            self.plan_flush()

    def failed(self, call, error):
        """The handler threw: its call fails."""
        shared, number = call._shared, call._value.get("value")
        if shared.is_over and isinstance(error, CallEnded):
            return
        import traceback

        traceback.print_exception(type(error), error, error.__traceback__)
        if isinstance(error, CallError):
            status = failure(error.status.code, error, error.status.details)
        else:
            status = failure("internal", f"{type(error).__name__}: {error}")
        if number is None or call.stage == "metrics" or shared.is_over:
            # It is too late to fail the call.
            shared.send({"finding": {"kind": "failure", "text": f"{call.stage}: {status['message']}"}})
        if number is None or shared.is_over:
            return
        self.put(shared, call._value, None if call.stage == "metrics" else {"fail": status})

    def send(self, members):
        self.write(_encode(members) + "\n")

    def write(self, line):
        self.out.append(line)
        self.plan_flush()

    def plan_flush(self):
        if self.loop and not self.is_flush_planned:
            self.is_flush_planned = True
            self.loop.call_soon(self.flush)

    def flush(self):
        """Writes all lines, with one "upto" for the values of a call that go on unchanged, after the other replies."""
        self.is_flush_planned = False
        self.out.extend('{"call":%d,"upto":%d}\n' % item for item in self.unchanged.items())
        self.unchanged.clear()
        if self.out:
            self.backlog += "".join(self.out).encode()
            self.out.clear()
            self.push()

    def push(self):
        try:
            while self.backlog:
                del self.backlog[: os.write(self.sink, self.backlog)]
        except BlockingIOError:
            return self.loop.add_writer(self.sink, self.push)
        except OSError:
            self.is_ended = True
            self.backlog.clear()
        if self.loop and self.serves:
            self.loop.remove_writer(self.sink)

    # Own calls and questions

    def next_number(self):
        self.last += 1
        return self.last

    def resolve(self, key, value):
        future = self.waiting.pop(key, None)
        if future and not future.done():
            future.set_result(value)

    def future(self, key):
        self.waiting[key] = future = self.loop.create_future()
        return future

    def wait(self, key, shared):
        """Reads until a line has come. The lines of others are queued."""
        self.flush()
        seen = 0
        while True:
            for index in range(seen, len(self.queue)):
                value = self.queue[index][0]
                if (value["stage"], value.get("id")) == key:
                    del self.queue[index]
                    return value
                if value["stage"] == "finish" and value["call"] == shared.number:
                    shared.is_over = True
                    raise CallEnded("the call has ended")
            seen = len(self.queue)
            if self.is_ended:
                if not self.serves:
                    sys.exit(0)
                shared.is_over = True
                raise CallEnded("the run has ended")
            self.read_more()

    def read_more(self):
        select.select([self.source], [self.sink] if self.backlog else [], [])
        if self.backlog:
            self.push()
        if self.source != self.sink or select.select([self.source], [], [], 0)[0]:
            self.receive()

    # Running

    def run(self):
        while not self.is_ended:
            self.receive()
            self.drain()

    async def run_async(self):
        ended = self.loop.create_future()

        def readable():
            self.receive()
            self.drain()
            if self.is_ended and not ended.done():
                ended.set_result(None)

        self.loop.add_reader(self.source, readable)
        await ended
        self.loop.remove_reader(self.source)
        for shared in list(self.calls.values()):
            self.end(shared)
        if self.ends:
            import asyncio

            await asyncio.wait(self.ends)


class Interceptor:
    """The handlers of a script. Each stage is a decorator, with or without arguments.

    @interceptor.request_start                        def f(call)
    @interceptor.response_message(reads=True)         def f(call, message): the message is read and not changed
    @interceptor.request_message(form="bytes")        def f(call, message): bytes, which it may return in place of these
    @interceptor.metrics                              def f(call, metrics), as of --format events; so has attempt_end
    """

    def __init__(self):
        self.handlers, self.options, self.runs = {}, {}, True

    def _add(self, stage, function, reads, form):
        if stage in self.handlers:
            raise ValueError(f"{stage} has a handler already: {self.handlers[stage].function.__name__}")
        if form not in ("json", "bytes", "none"):
            raise ValueError(f"form={form!r}: the forms are json, bytes and none")
        direction = stage.split("_")[0] if stage.endswith("_message") else None
        reads = bool(direction) and (reads or form == "none")
        is_async = bool(getattr(getattr(function, "__code__", None), "co_flags", 0) & 0x80)  # inspect.CO_COROUTINE
        self.handlers[stage] = _MessageHandler(function, is_async, direction, reads, form)
        return function

    def hello(self):
        """The first line of the script."""
        # The end of attempts has no reply: what their handlers send arrives before the reply at metrics.
        own = {"finish", "metrics"} if "attempt_end" in self.handlers else {"finish"}
        forms = {handler.direction: handler.hello() for handler in self.handlers.values() if handler.direction}
        if "replay_limit" in self.options:
            own |= {"response_start", "response_message"}
            forms.setdefault("response", "none")
        stages = [stage for stage in STAGES if stage in self.handlers or stage in own]
        return {"rpcurl": 1, "stages": stages, **forms, **self.options}

    def _configure(self, methods=None, serial=False, collects=False, window=None, retries=False, waits=False, summary=None,
                   version=None, effects=None):  # fmt: skip
        if not self.handlers:
            raise RuntimeError("the script has no handler; write one with @interceptor.request_start, for example")
        limit = 1 << 20 if retries is True else retries or None
        given = {"methods": [methods] if isinstance(methods, str) else methods, "serial": serial, "collects": collects,
                 "window": window, "replay_limit": limit, "waits": waits, "summary": summary, "version": version,
                 "effects": effects}  # fmt: skip
        self.options = {name: value for name, value in given.items() if value not in (None, False)}

    def run(self, **options):
        """Handles the calls of one run of rpcurl, and returns at its end.

        methods: patterns such as "pkg.Service/*"; serial: one value of a direction at a time; collects and window (bytes):
        replies wait for later values; retries: True or the bytes of the request to keep; waits: values may be held for long,
        since a person decides; summary, version, effects: texts for `rpcurl plugins check` and --explain.
        """
        self._configure(**options)
        if not self.runs:
            return
        if os.isatty(0):
            _explain_and_exit()
        source, sink = _connect()
        if not any(handler.is_async for handler in self.handlers.values()):
            return _Connection(self, source, sink).run()
        _run_loop(lambda loop: _Connection(self, source, sink, loop).run_async())

    def serve(self, path, **options):
        """Handles the calls of several runs, which connect to a Unix socket with connect=unix:PATH, until SIGTERM or SIGINT."""
        self._configure(**options)
        _disconnect()
        if self.runs:
            _run_loop(lambda loop: self._listen(loop, str(path)))

    async def _listen(self, loop, path):
        import signal
        import socket

        with socket.socket(socket.AF_UNIX) as other:
            if other.connect_ex(path) == 0:
                sys.exit(f"{path}: another process listens on this socket")
        if os.path.lexists(path):
            if os.lstat(path).st_mode & 0o170000 != 0o140000:
                sys.exit(f"{path}: this is not a socket; remove it, or use another path")
            os.unlink(path)
        listener = socket.socket(socket.AF_UNIX)
        mask = os.umask(0o077)
        listener.bind(path)
        os.umask(mask)
        listener.listen()
        listener.setblocking(False)
        ended = loop.create_future()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, lambda: ended.done() or ended.set_result(None))
        accepting = loop.create_task(self._accept(loop, listener))
        await ended
        accepting.cancel()
        os.unlink(path)

    async def _accept(self, loop, listener):
        tasks = set()

        async def talk(peer):
            with peer:
                await _Connection(self, peer.fileno(), peer.fileno(), loop).run_async()

        while True:
            peer, _ = await loop.sock_accept(listener)
            peer.setblocking(False)
            task = loop.create_task(talk(peer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


def _decorator(stage):
    if stage.endswith("_message"):

        def add(self, function=None, *, reads=False, form="json"):
            return self._add(stage, function, reads, form) if function else lambda function: self._add(stage, function, reads, form)
    else:

        def add(self, function=None):
            return self._add(stage, function, False, "json") if function else lambda function: self._add(stage, function, False, "json")

    add.__name__, add.__doc__ = stage, f"The handler of {stage}."
    return add


for _stage in STAGES:
    setattr(Interceptor, _stage, _decorator(_stage))

#: The handlers of this script.
interceptor = Interceptor()


_descriptors = []


def _connect():
    """The connection to rpcurl, which is kept from what the script prints and reads, and from processes that it starts."""
    if not _descriptors:
        _descriptors.extend((os.dup(0), os.dup(1)))
        os.dup2(2, 1)
        with open(os.devnull) as empty:
            os.dup2(empty.fileno(), 0)
    return _descriptors


def _disconnect():
    for number, descriptor in enumerate(_descriptors):
        os.dup2(descriptor, number)
    _descriptors.clear()


# From the start, since a script may print before run(): if rpcurl has started it, which gives it pipes.
if all(os.fstat(number).st_mode & 0o170000 in (0o010000, 0o140000) for number in (0, 1)):
    _connect()


def _run_loop(make):
    import asyncio
    import selectors

    # Unlike epoll, poll supports regular files, for `./script < lines`.
    loop = asyncio.SelectorEventLoop(selectors.PollSelector())
    try:
        loop.run_until_complete(make(loop))
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def _explain_and_exit():
    script = os.path.basename(sys.argv[0])
    print(
        f"{script} is a script for rpcurl, which starts it. Use it in a call:\n  rpcurl --script ./{script} TARGET METHOD\n"
        f"or check it:\n  rpcurl plugins check ./{script}",
        file=sys.stderr,
    )
    sys.exit(2)


class Harness(_Connection):
    """Runs the handlers of a script without rpcurl, for tests.

        script = rpcurl.Harness("sign.py")
        call = script.call("shop.v1.Orders/Get")
        assert call.request_start(headers={"a": "b"})["headers"]["set"]["x-signature"] == ...

    Each stage of a call returns the reply of the script, {} for a value that goes on unchanged. `replies` has the responses to
    own calls by method (a message, or a dict with "code" of a failure), and `asked` the replies to questions. `lines` has all
    that the script has sent: logs, findings and others.
    """

    def __init__(self, script, replies=None, asked=()):
        global interceptor
        import asyncio
        import runpy
        import weakref

        _disconnect()
        if not isinstance(script, Interceptor):
            path, script, others = script, Interceptor(), interceptor
            script.runs, interceptor = False, script
            sys.modules.setdefault("rpcurl", sys.modules[__name__])
            try:
                self.globals = runpy.run_path(str(path), run_name="__main__")
            finally:
                interceptor = others
        super().__init__(script, -1, -1, asyncio.new_event_loop())
        weakref.finalize(self, self.loop.close)
        self.replies, self.asked, self.lines, self.numbers = dict(replies or {}), collections.deque(asked), [], 0

    def call(self, method="pkg.Service/Method", kind="unary", attributes=None, **facts):
        """Another call."""
        self.numbers += 1
        defaults = {"protocol": "grpc", "codec": "proto", "target": "http://localhost", "attempt": 1}
        return HarnessCall(self, {"call": self.numbers, "method": method, "kind": kind, "attributes": attributes or {}, **defaults, **facts})

    def push(self):
        for line in self.backlog.decode().splitlines():
            value = json.loads(line)
            self.lines.append(value)
            if isinstance(value.get("call"), dict):
                self.called(value["call"])
            elif "ask" in value:
                reply = self.asked.popleft() if self.asked else None
                self.add({"stage": "asked", "call": value["call"], "id": value["ask"]["id"], "reply": reply})
        self.backlog.clear()

    def called(self, own):
        reply = self.replies.get(own["method"], {"code": "unimplemented", "message": f"no reply to {own['method']}"})
        reply = reply(own) if callable(reply) else reply
        status = reply if "code" in reply else {"code": "ok", "code_number": 0}
        message = {} if status is reply else {"message": reply}
        self.add({"stage": "called", "call": own["of"], "id": own["id"], "headers": [], **message, "status": status})

    def add(self, value):
        self.queue.append((value, _encode(value)))
        self.loop.call_soon(self.drain)

    def read_more(self):
        sys.exit("rpcurl.Harness: nothing resolves what the script waits for")

    def drain(self):
        self.has_greeted = True
        super().drain()

    def feed(self, value):
        """Handles one value, and returns the reply to it."""
        seen = len(self.lines)
        self.add(value)
        self.loop.run_until_complete(self.finished(value["call"]))
        for line in self.lines[seen:]:
            if "value" in line and line["call"] == value["call"] and line["value"] == value.get("value"):
                return {name: member for name, member in line.items() if name not in ("call", "value")}
        return {}

    async def finished(self, number):
        import asyncio

        self.drain()
        shared = self.calls.get(number)
        while self.ends or (shared and shared.tasks):
            await asyncio.wait([*self.ends, *(shared.tasks if shared else ())])
        await asyncio.sleep(0)
        self.flush()


class HarnessCall:
    """A call of a Harness. Each method feeds one value to the script."""

    def __init__(self, harness, facts):
        self.harness, self.facts, self.values = harness, facts, 0

    def feed(self, stage, **members):
        """Feeds a value, or attempt_end or finish."""
        value = {"stage": stage, "call": self.facts["call"], **members}
        if stage not in ("attempt_end", "finish"):
            value["value"] = self.values
            self.values += 1
        facts, self.facts = self.facts, {"call": self.facts["call"]}
        return self.harness.feed({**facts, **value})

    def request_start(self, headers=(), **members):
        return self.feed("request_start", headers=_pairs(headers), **members)

    def request_message(self, message):
        return self.feed("request_message", **_form(message))

    def request_end(self):
        return self.feed("request_end")

    def response_start(self, headers=(), http_status=200, http_version="2"):
        return self.feed("response_start", headers=_pairs(headers), http_status=http_status, http_version=http_version)

    def response_message(self, message):
        return self.feed("response_message", **_form(message))

    def response_end(self, code="ok", message="", details=(), trailers=()):
        return self.feed("response_end", code=code, message=message, details=list(details), trailers=_pairs(trailers))

    def attempt_end(self, **members):
        return self.feed("attempt_end", **members)

    def metrics(self, **members):
        return self.feed("metrics", **members)

    def finish(self, code="ok", message=""):
        return self.feed("finish", code=code, message=message)
