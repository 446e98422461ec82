/*
 * Interceptors of rpcurl in JavaScript, for Node.js 18 or newer, without packages: see rpcurl-script(7).
 *
 *     const { interceptor } = require("rpcurl");
 *
 *     interceptor.requestStart((call) => {
 *       call.headers.set("x-signature", signature(call.method));
 *     });
 *
 *     interceptor.run();
 *
 * `rpcurl --script ./sign.js ...` runs it. Handlers may be async, and run concurrently. What a script prints is logged, since
 * its standard output is the connection to rpcurl.
 */
"use strict";

const fs = require("fs");
const net = require("net");
const path = require("path");
const tty = require("tty");
const { inspect } = require("util");

const STAGES = [
  "request_start", "request_message", "request_end", "response_start", "response_message", "response_end",
  "attempt_end", "metrics", "finish",
]; // prettier-ignore
const VERDICTS = ["fail", "respond", "drop", "retry"];
const [REQUEST, RESPONSE, MESSAGES] = [STAGES.slice(0, 3), STAGES.slice(3, 6), ["request_message", "response_message"]];
/** Where the verdicts are possible, and `inject`. */
const POSSIBLE = {
  fail: [...REQUEST, ...RESPONSE], respond: REQUEST, drop: MESSAGES, retry: RESPONSE,
  inject: [...MESSAGES, "request_end", "response_end"],
}; // prettier-ignore
/** The members of the first line of a call that are not of its stage. */
const FACTS = [
  "method", "kind", "protocol", "codec", "target", "attempt", "request_type", "response_type", "subrequest", "attributes",
]; // prettier-ignore

/** An own call failed; `status` says why. */
class CallError extends Error {
  constructor(method, status) {
    super(`${method}: ${status.code}: ${status.message}`);
    this.status = status;
  }
}

/** The call has ended while a handler waited. Nothing that the handler does has an effect any more. */
class CallEnded extends Error {}

const standardOutput = process.stdout.write;

/** Logs what the script prints, since its standard output is the connection to rpcurl. */
function redirectOutput() {
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

// From the start, since a script may print before run(): if rpcurl has started it, which gives it pipes.
if ([0, 1].map((descriptor) => fs.fstatSync(descriptor)).every((file) => file.isFIFO() || file.isSocket())) redirectOutput();

/** Headers or trailers by name, in any case. Values are text, numbers, arrays of these and, for names in -bin, buffers. */
class Headers {
  #values = new Map();
  #changes = new Map();

  constructor(pairs = []) {
    for (const [name, value] of pairs) this.#append(name.toLowerCase(), [value]);
  }

  #append(name, values) {
    this.#values.set(name, [...(this.#values.get(name) ?? []), ...values]);
  }

  /** The values of a name, joined by commas; undefined without one. */
  get(name) {
    return this.#values.get(name.toLowerCase())?.join(", ");
  }

  getAll(name) {
    return [...(this.#values.get(name.toLowerCase()) ?? [])];
  }

  has(name) {
    return this.#values.has(name.toLowerCase());
  }

  /** Replaces the values of a name. */
  set(name, value) {
    const values = texts(name, value);
    this.#values.set(name.toLowerCase(), values);
    this.#changes.set(name.toLowerCase(), ["set", values]);
  }

  /** Adds a value, after those that the name has. */
  add(name, value) {
    const [key, values] = [name.toLowerCase(), texts(name, value)];
    const [verb, changed] = this.#changes.get(key) ?? ["add", []];
    this.#append(key, values);
    this.#changes.set(key, [verb === "remove" ? "set" : verb, [...changed, ...values]]);
  }

  /** Removes all values of a name. Returns whether there was one. */
  delete(name) {
    const existed = this.#values.delete(name.toLowerCase());
    if (existed) this.#changes.set(name.toLowerCase(), ["remove", []]);
    return existed;
  }

  *entries() {
    for (const name of this.#values.keys()) yield [name, this.get(name)];
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  /** The changes, as a reply has them; undefined without one. */
  get changes() {
    const reply = {};
    for (const [name, [verb, values]] of this.#changes) {
      if (verb === "remove") (reply.remove ??= []).push(name);
      else (reply[verb] ??= {})[name] = values.length > 1 ? values : values[0];
    }
    return this.#changes.size ? reply : undefined;
  }
}

/** The second argument of handlers of attempt_end and metrics. */
function members({ stage, call, value, ...others }, isFirst) {
  if (isFirst) for (const name of FACTS) delete others[name];
  return others;
}

function texts(name, value) {
  const values = Array.isArray(value) ? value : [value];
  if (!values.length) throw new TypeError(`header ${name}: an empty array has no value; use delete`);
  return values.map((one) => {
    if (one instanceof Uint8Array && name.toLowerCase().endsWith("-bin")) return Buffer.from(one).toString("base64");
    if (typeof one !== "string" && typeof one !== "number") throw new TypeError(`header ${name}: ${inspect(one)} is not text`);
    return String(one);
  });
}

/** Headers of an object, a Map, Headers or pairs, as the protocol has them. */
function pairs(headers) {
  const entries = headers?.[Symbol.iterator] ? [...headers] : Object.entries(headers ?? {});
  return entries.flatMap(([name, value]) => texts(name, value).map((text) => [name, text]));
}

const isObject = (value) => typeof value === "object" && value !== null;
/** Whether a value may replace a message: the JSON of most types is an object, but not of google.protobuf.StringValue and others. */
const isJSON = (value, received) => isObject(value) || !isObject(received);
const form = (message) => (message instanceof Uint8Array ? { bytes: Buffer.from(message).toString("base64") } : { message });
const duration = (value) => (typeof value === "number" ? `${Math.round(value * 1000)}ms` : value);

/** A status, as `fail` of call.respond has it. */
function failure(code, message = "", { details, trailers } = {}) {
  const result = { code: code.toLowerCase(), message: String(message) };
  const known = details?.filter((detail) => detail["@type"]);
  if (known?.length) result.details = known;
  if (trailers) result.trailers = pairs(trailers);
  return result;
}

function status(value) {
  const { code, code_number: codeNumber, message = "", details = [], trailers = [] } = value;
  // A detail as `fail` has it; one whose type is not in the schema stays as it is.
  const detail = (one) => (one.debug ? { "@type": `type.googleapis.com/${one.type}`, ...one.debug } : one);
  return { code, codeNumber, message, details: details.map(detail), trailers: new Headers(trailers) };
}

/** The attributes of a call. A change is sent at once. */
class Attributes {
  #values;
  #send;

  constructor(values, send) {
    this.#values = new Map(Object.entries(values ?? {}));
    this.#send = send;
  }

  get(key) {
    return this.#values.get(key);
  }

  has(key) {
    return this.#values.has(key);
  }

  set(key, value) {
    this.#values.set(key, String(value));
    this.#send({ attributes: { [key]: String(value) } });
  }

  delete(key) {
    if (this.#values.delete(key)) this.#send({ attributes: { [key]: null } });
  }

  [Symbol.iterator]() {
    return this.#values.entries();
  }
}

/** What all values of a call have in common. */
class Shared {
  constructor(connection, first) {
    this.connection = connection;
    this.number = first.call;
    this.first = first;
    this.state = {};
    this.pending = new Set();
    this.isOver = false;
    // The handlers of attempt_end that still run, and the reply at metrics that waits for them.
    this.attempts = new Set();
    this.last = undefined;
    // With retries, the start of the response is held until a later value shows that there is no retry.
    this.held = undefined;
    this.isStarted = false;
    // The numbers of the values of the response that are handled, after its held start.
    this.responses = new Set();
    this.attributes = new Attributes(first.attributes, (members) => this.send(members));
  }

  /** Sends a line that is no reply; after the end of the call, only what concerns no call. */
  send(members) {
    if (!this.isOver) this.connection.send({ call: this.number, ...members });
    else if (members.log) this.connection.send(members);
  }
}

/** One value of a call, as a handler receives it. The handler returns, or its promise resolves, and the value goes on. */
class Call {
  #connection;
  #shared;
  #value;
  #headers;
  #reply;
  #isDone = false;

  constructor(connection, shared, value) {
    this.#connection = connection;
    this.#shared = shared;
    this.#value = value;
  }

  get stage() { return this.#value.stage; }
  get method() { return this.#shared.first.method; }
  get kind() { return this.#shared.first.kind; }
  get protocol() { return this.#shared.first.protocol; }
  get codec() { return this.#shared.first.codec; }
  get target() { return this.#shared.first.target; }
  get attempt() { return this.#shared.first.attempt; }
  get requestType() { return this.#shared.first.request_type; }
  get responseType() { return this.#shared.first.response_type; }
  get isSubrequest() { return this.#shared.first.subrequest ?? false; }
  /** An object for the script, kept until the end of the call. */
  get state() { return this.#shared.state; }
  /** Attributes, which other interceptors see too: get, set, has, delete. */
  get attributes() { return this.#shared.attributes; }
  get httpStatus() { return this.#value.http_status; }
  get httpVersion() { return this.#value.http_version; }

  /** The seconds until the deadline, at request_start; undefined without a deadline. */
  get timeout() {
    return this.#value.timeout_ms === undefined ? undefined : this.#value.timeout_ms / 1000;
  }

  /** The headers of the request or of the response, at its start. Changes are sent. */
  get headers() {
    return this.#changeable("headers", ["request_start", "response_start"]);
  }

  /** The trailers, at response_end. Changes are sent. */
  get trailers() {
    return this.#changeable("trailers", ["response_end"]);
  }

  #changeable(member, stages) {
    if (!stages.includes(this.stage))
      throw new Error(`call.${member} exists at ${stages.join(" and ")}; keep what you need in call.state`);
    return (this.#headers ??= new Headers(this.#value[member]));
  }

  /** The status, at response_end, attempt_end and finish: code ("not_found"), codeNumber, message, details. */
  get status() {
    if (this.#value.code === undefined) throw new Error("call.status exists at response_end, attempt_end and finish");
    return status(this.#value);
  }

  /** Writes a line to the log: debug, info, warning or error. */
  log(text, level = "info") {
    this.#shared.send({ log: { level, text: String(text) } });
  }

  /** Reports a finding about the call; a failure gives the run the exit code 8, a note does not. */
  finding(text, kind = "failure") {
    if (this.#shared.isOver) throw new CallEnded("the call has ended: metrics is the last stage with findings");
    this.#shared.send({ finding: { kind, text: String(text) } });
  }

  /** Fails the call, with details (objects with @type) and trailers. */
  fail(code, message, options) {
    const fail = failure(code, message, options);
    const isLate = ["metrics", "finish"].includes(this.stage);
    if (!isLate && (this.#isDone || this.#value.value === undefined)) this.#shared.send({ fail });
    else this.#decide({ fail });
  }

  /** Responds in place of the server, at a stage of the request: message or messages, headers, trailers, fail. */
  respond({ message, messages, headers, trailers, fail } = {}) {
    const respond = { ...(message === undefined ? {} : form(message)), messages: messages?.map(form), fail };
    if (headers) respond.headers = pairs(headers);
    if (trailers) respond.trailers = pairs(trailers);
    this.#decide({ respond });
  }

  /** Drops the message. */
  drop() {
    this.#decide({ drop: true });
  }

  /** Makes another attempt, after seconds or "100ms", with further headers. Needs run({ retries: true }). */
  retry({ after, headers } = {}) {
    if (!this.#connection.owner.options.replay_limit) throw new Error("retry needs interceptor.run({ retries: true })");
    const how = {};
    if (after !== undefined) how.after = duration(after);
    const again = new Headers();
    for (const [name, text] of pairs(headers)) again.add(name, text);
    if (again.changes) how.headers = again.changes.add;
    this.#decide({ retry: Object.keys(how).length ? how : true });
  }

  /** Injects messages before this value. */
  inject(...messages) {
    this.#require("inject");
    ((this.#reply ??= {}).inject ??= []).push(...messages.map(form));
  }

  /** Injects messages after all messages of a direction that the script has received: { request: [], response: [] }. */
  injectLater({ request, response }) {
    this.#shared.send({ inject: { request: request?.map(form), response: response?.map(form) } });
  }

  /** Makes a unary call, which passes the other interceptors. Throws CallError if it fails. */
  async call(method, message, { headers, timeout } = {}) {
    const own = { of: this.#shared.number, id: this.#connection.nextNumber(), method, ...form(message) };
    if (headers) own.headers = pairs(headers);
    if (timeout !== undefined) own.timeout = duration(timeout);
    const value = await this.#wait({ call: own }, `called ${own.id}`);
    const response = { headers: new Headers(value.headers), message: value.message, status: status(value.status) };
    if (value.bytes !== undefined) response.message = Buffer.from(value.bytes, "base64");
    if (response.status.code !== "ok") throw new CallError(method, response.status);
    return response;
  }

  /** Asks the person at the terminal. Returns the reply; null without a terminal. */
  async ask(text) {
    const id = this.#connection.nextNumber();
    return (await this.#wait({ call: this.#shared.number, ask: { id, text } }, `asked ${id}`)).reply ?? null;
  }

  #wait(line, key) {
    if (this.#shared.isOver) throw new CallEnded("the call has ended");
    this.#connection.send(line);
    return new Promise((resolve, reject) => this.#connection.waiting.set(key, { resolve, reject, shared: this.#shared }));
  }

  #require(verb) {
    const stages = POSSIBLE[verb];
    if (!stages.includes(this.stage))
      throw new Error(`${verb} is not possible at ${this.stage}, but at ${stages.slice(0, -1).join(", ")} and ${stages.at(-1)}`);
    if (this.#isDone) throw new Error(`${verb} comes too late: the value at ${this.stage} has gone on`);
  }

  #decide(verdict) {
    this.#require(Object.keys(verdict)[0]);
    const earlier = VERDICTS.find((name) => this.#reply?.[name]);
    if (earlier) throw new Error(`the value has a verdict already: ${earlier}`);
    this.#reply = { ...this.#reply, ...verdict };
    this.#headers = undefined;
  }

  /** The members of the reply; undefined if the value goes on unchanged. `changed` is a message in place of this one. */
  members(changed) {
    this.#isDone = true;
    if (VERDICTS.some((name) => this.#reply?.[name])) return this.#reply;
    const headers = this.#headers?.changes;
    return changed || headers ? { ...this.#reply, ...changed, ...(headers && { headers }) } : this.#reply;
  }
}

/** The other side does not speak this protocol. */
class PeerError extends Error {}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new PeerError(`the peer is not rpcurl: ${error.message}`);
  }
}

/** Lines from and to one rpcurl. */
class Connection {
  constructor(owner, write) {
    this.owner = owner;
    this.writeText = write;
    this.calls = new Map();
    this.unchanged = new Map();
    this.waiting = new Map();
    this.ends = new Set();
    this.parts = [];
    this.out = "";
    this.last = 0;
  }

  /** Handles the complete lines of what was read. Their replies are written together. */
  receive(data) {
    const end = data.lastIndexOf(10) + 1;
    if (!end) return void this.parts.push(data);
    const text = Buffer.concat([...this.parts, data.subarray(0, end)]).toString();
    this.parts = [data.subarray(end)];
    for (const line of text.split("\n")) if (line) this.handle(parse(line));
    this.flush();
  }

  handle(value) {
    if (typeof value !== "object" || !(value?.rpcurl ?? value?.stage)) throw new PeerError("the peer is not rpcurl: a line has no stage");
    if (value.rpcurl !== undefined) return this.greet(value);
    const { stage, call: number } = value;
    if (stage === "called" || stage === "asked") return this.resolve(`${stage} ${value.id}`, value);
    let shared = this.calls.get(number);
    if (!shared) this.calls.set(number, (shared = new Shared(this, value)));
    if (stage === "finish") this.end(shared);
    if (stage === "response_start") {
      shared.isStarted = false;
      shared.responses.clear();
    } else if (this.owner.options.replay_limit && stage.startsWith("response_")) shared.responses.add(value.value);
    const handler = this.owner.handlers[stage];
    if (!handler) return value.value === undefined ? undefined : this.put(shared, value);
    this.invoke(handler, new Call(this, shared, value), shared, value);
  }

  greet({ rpcurl }) {
    if (rpcurl !== 1) throw new PeerError(`rpcurl.js supports version 1 of the protocol, and not ${rpcurl}`);
    this.out += JSON.stringify(this.owner.hello()) + "\n";
  }

  invoke(handler, call, shared, value) {
    const content = handler.content?.(value, shared.first === value);
    // A message that may be changed in place is compared with its text.
    const before = handler.changes && handler.form === "json" ? JSON.stringify(content) : content;
    const finished = (result) => {
      try {
        this.complete(call, shared, value, this.changed(handler, call, content, before, result));
      } catch (error) {
        this.failed(call, shared, value, error);
      }
    };
    let result;
    try {
      result = handler.function(call, content);
    } catch (error) {
      return this.failed(call, shared, value, error);
    }
    if (typeof result?.then !== "function") return finished(result);
    if (value.value !== undefined) shared.pending.add(value.value);
    const promise = result.then(finished, (error) => this.failed(call, shared, value, error));
    const running = { finish: this.ends, attempt_end: shared.attempts }[value.stage];
    if (!running) return;
    running.add(promise);
    promise.finally(() => {
      running.delete(promise);
      if (shared.last && !shared.attempts.size) this.settle(shared, ...shared.last);
    });
  }

  /** The message that the handler has changed or returned, as the reply has it; undefined if it is unchanged. */
  changed(handler, call, content, before, result) {
    // What an arrow function without braces returns has no meaning, except for a handler that changes messages.
    if (!handler.changes) return undefined;
    const message = result === undefined ? content : result;
    const isMessage = message instanceof Uint8Array || (handler.form === "json" && isJSON(message, content));
    if (!isMessage)
      throw new TypeError(`the handler of ${call.stage} returns ${inspect(result)}, which is no message: write its body in braces`);
    if (handler.form === "bytes") return message === content || before.equals(message) ? undefined : form(message);
    return message instanceof Uint8Array || JSON.stringify(message) !== before ? form(message) : undefined;
  }

  complete(call, shared, value, changed) {
    if (value.value === undefined || shared.isOver) return;
    this.put(shared, value, call.members(changed));
  }

  /** Replies to a value, or holds the start of a response that may be retried, and the end of the call. */
  put(shared, { stage, value: number }, reply) {
    if (stage === "metrics" && shared.attempts.size) return void (shared.last = [number, reply]);
    if (this.owner.options.replay_limit && stage.startsWith("response_")) {
      const { held } = shared;
      const decides = reply?.retry || reply?.fail;
      shared.responses.delete(number);
      if (stage === "response_start" && !shared.isStarted && !decides) {
        shared.pending.add(number);
        shared.held = [number, reply];
        return this.onHold?.({ call: shared.number, value: number });
      }
      // A value before this one may be retried, or this is one of a response that was.
      const isLater = !decides && [...shared.responses].some((other) => other < number);
      if (held && (isLater || number < held[0])) return this.settle(shared, number, reply);
      shared.held = undefined;
      shared.isStarted = true;
      if (held && reply?.retry) shared.pending.delete(held[0]);
      else if (held) this.settle(shared, ...held);
    }
    this.settle(shared, number, reply);
  }

  /** Writes a reply. A value that goes on unchanged does so with all before it, if none of these waits. */
  settle(shared, number, reply) {
    const line = reply && JSON.stringify({ call: shared.number, value: number, ...reply }) + "\n";
    shared.pending.delete(number);
    if (line) return this.write(line);
    for (const other of shared.pending) {
      if (other < number) return this.write(`{"call":${shared.number},"value":${number}}\n`);
    }
    this.unchanged.set(shared.number, number);
    this.planFlush();
  }

  /** The handler threw: its call fails. */
  failed(call, shared, value, error) {
    if (shared.isOver && error instanceof CallEnded) return;
    process.stderr.write(`${error?.stack ?? inspect(error)}\n`);
    const status =
      error instanceof CallError
        ? failure(error.status.code, error.message, { details: error.status.details })
        : failure("internal", error instanceof Error ? `${error.name}: ${error.message}` : inspect(error));
    const isLate = value.value === undefined || value.stage === "metrics";
    if (isLate) shared.send({ finding: { kind: "failure", text: `${value.stage}: ${status.message}` } });
    if (value.value === undefined || shared.isOver) return;
    this.put(shared, value, isLate ? undefined : { fail: status });
  }

  /** The call is over: what waits for it ends. */
  end(shared) {
    this.calls.delete(shared.number);
    shared.isOver = true;
    for (const [key, waiter] of this.waiting) {
      if (waiter.shared !== shared) continue;
      this.waiting.delete(key);
      waiter.reject(new CallEnded("the call has ended"));
    }
  }

  nextNumber() {
    return ++this.last;
  }

  resolve(key, value) {
    this.waiting.get(key)?.resolve(value);
    this.waiting.delete(key);
  }

  send(members) {
    this.write(JSON.stringify(members) + "\n");
  }

  write(line) {
    this.out += line;
    this.planFlush();
  }

  planFlush() {
    if (this.isFlushPlanned) return;
    this.isFlushPlanned = true;
    setImmediate(() => this.flush());
  }

  /** Writes all lines, with one "upto" for the values of a call that go on unchanged, after the other replies. */
  flush() {
    this.isFlushPlanned = false;
    for (const [call, upto] of this.unchanged) this.out += `{"call":${call},"upto":${upto}}\n`;
    this.unchanged.clear();
    if (this.out) this.writeText(this.out);
    this.out = "";
  }

  async close() {
    for (const shared of [...this.calls.values()]) this.end(shared);
    await Promise.allSettled(this.ends);
  }
}

/**
 * The handlers of a script: a function for each stage, which takes options before the handler or only the handler.
 *
 *     interceptor.requestStart((call) => {});
 *     interceptor.responseMessage({ reads: true }, (call, message) => {});     the message is read and not changed
 *     interceptor.requestMessage({ form: "bytes" }, (call, bytes) => bytes);   a buffer, or one in place of it
 *     interceptor.metrics((call, metrics) => {});                              as of --format events; so has attemptEnd
 */
class Interceptor {
  handlers = {};
  options = {};
  runs = true;

  add(stage, options, handler) {
    if (typeof options === "function") [options, handler] = [{}, options];
    if (this.handlers[stage]) throw new Error(`${stage} has a handler already`);
    const { reads = false, form = "json" } = options;
    if (!["json", "bytes", "none"].includes(form)) throw new Error(`form ${inspect(form)}: the forms are json, bytes and none`);
    const isMessage = stage.endsWith("_message");
    let content;
    if (isMessage) content = form === "bytes" ? (value) => Buffer.from(value.bytes ?? "", "base64") : (value) => value.message;
    else if (stage === "attempt_end" || stage === "metrics") content = members;
    this.handlers[stage] = { function: handler, form, content, changes: isMessage && !reads && form !== "none" };
    return this;
  }

  /** The first line of the script. */
  hello() {
    // The end of attempts has no reply: what their handlers send arrives before the reply at metrics.
    const own = ["finish", ...(this.handlers.attempt_end ? ["metrics"] : [])];
    if (this.options.replay_limit) own.push("response_start", "response_message");
    const hello = { rpcurl: 1, stages: STAGES.filter((stage) => this.handlers[stage] || own.includes(stage)) };
    if (this.options.replay_limit) hello.response = "none";
    for (const direction of ["request", "response"]) {
      const handler = this.handlers[`${direction}_message`];
      if (handler) hello[direction] = handler.changes || handler.form === "none" ? handler.form : `read-${handler.form}`;
    }
    return { ...hello, ...this.options };
  }

  configure({ methods, serial, collects, window, retries, waits, summary, version, effects, ...others } = {}) {
    const [unknown] = Object.keys(others);
    if (unknown) throw new TypeError(`run has no option '${unknown}'`);
    if (!Object.keys(this.handlers).length) throw new Error("the script has no handler; write one with interceptor.requestStart, for example");
    const given = { methods: typeof methods === "string" ? [methods] : methods, serial, collects, window, waits, summary, version, effects };
    given.replay_limit = retries === true ? 1 << 20 : retries;
    this.options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== false));
  }

  /**
   * Handles the calls of one run of rpcurl. The promise resolves at its end.
   *
   * methods: patterns such as "pkg.Service/*"; serial: one value of a direction at a time; collects and window (bytes): replies
   * wait for later values; retries: true or the bytes of the request to keep; waits: values may be held for long, since a
   * person decides; summary, version, effects: texts for `rpcurl plugins check` and --explain.
   */
  run(options) {
    this.configure(options);
    if (!this.runs) return Promise.resolve();
    if (tty.isatty(0)) explainAndExit();
    redirectOutput();
    process.stdout.on("error", () => process.exit(0));
    const connection = new Connection(this, (text) => standardOutput.call(process.stdout, text));
    process.stdin.on("data", (data) => {
      try {
        connection.receive(data);
      } catch (error) {
        stop(1, error instanceof PeerError ? error.message : error.stack);
      }
    });
    return new Promise((resolve) => {
      process.stdin.on("end", async () => {
        await connection.close();
        resolve();
        setTimeout(() => process.exit(), 1000).unref();
      });
    });
  }

  /** Handles the calls of several runs, which connect to a Unix socket with connect=unix:PATH, until SIGTERM or SIGINT. */
  serve(socket, options) {
    this.configure(options);
    if (!this.runs) return;
    const server = net.createServer((peer) => {
      const connection = new Connection(this, (text) => peer.write(text));
      peer.on("data", (data) => {
        try {
          connection.receive(data);
        } catch (error) {
          process.stderr.write(`${error instanceof PeerError ? error.message : error.stack}\n`);
          peer.destroy();
        }
      });
      peer.on("error", () => {});
      peer.on("close", () => connection.close());
    });
    const other = net.connect(socket, () => stop(1, `${socket}: another process listens on this socket`));
    other.on("error", () => {
      const file = fs.lstatSync(socket, { throwIfNoEntry: false });
      if (file && !file.isSocket()) stop(1, `${socket}: this is not a socket; remove it, or use another path`);
      fs.rmSync(socket, { force: true });
      const mask = process.umask(0o077);
      server.listen(socket);
      process.umask(mask);
    });
    for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => server.close() && process.exit(0));
  }
}

const camel = (stage) => stage.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
for (const stage of STAGES) {
  Interceptor.prototype[camel(stage)] = function (options, handler) {
    return this.add(stage, options, handler);
  };
}

function stop(code, text) {
  fs.writeSync(2, `${text}\n`);
  process.exit(code);
}

function explainAndExit() {
  const script = path.basename(process.argv[1] ?? "script.js");
  stop(
    2,
    `${script} is a script for rpcurl, which starts it. Use it in a call:\n  rpcurl --script ./${script} TARGET METHOD\n` +
      `or check it:\n  rpcurl plugins check ./${script}`,
  );
}

/**
 * Runs the handlers of a script without rpcurl, for tests.
 *
 *     const script = new Harness("./sign.js");
 *     const call = script.call("shop.v1.Orders/Get");
 *     const reply = await call.requestStart({ headers: { a: "b" } });   // { headers: { set: { "x-signature": ... } } }
 *
 * Each stage of a call resolves to the reply of the script, {} for a value that goes on unchanged. `replies` has the responses
 * to own calls by method (a message, or an object with the code of a failure), `asked` the replies to questions, and `lines`
 * all that the script has sent: logs, findings and others.
 */
class Harness {
  constructor(script, { replies = {}, asked = [] } = {}) {
    process.stdout.write = standardOutput;
    const owner = script instanceof Interceptor ? script : load(script);
    Object.assign(this, { replies, asked: [...asked], lines: [], numbers: 0, waiters: [] });
    this.connection = new Connection(owner, (text) => text.trim().split("\n").forEach((line) => this.sent(JSON.parse(line))));
    this.connection.onHold = (line) => this.settle(line);
  }

  /** Another call. */
  call(method = "pkg.Service/Method", facts = {}) {
    this.numbers += 1;
    return new HarnessCall(this, {
      call: this.numbers, method, kind: "unary", protocol: "grpc", codec: "proto", target: "http://localhost", attempt: 1, ...facts,
    }); // prettier-ignore
  }

  sent(line) {
    this.lines.push(line);
    if (line.ask) {
      this.later({ stage: "asked", call: line.call, id: line.ask.id, reply: this.asked.shift() ?? null });
    } else if (typeof line.call === "object") {
      const own = line.call;
      let reply = this.replies[own.method] ?? { code: "unimplemented", message: `no reply to ${own.method}` };
      if (typeof reply === "function") reply = reply(own);
      const result = reply.code === undefined ? { message: reply, status: { code: "ok" } } : { status: reply };
      this.later({ stage: "called", call: own.of, id: own.id, headers: [], ...result });
    }
    this.settle(line);
  }

  settle(line) {
    this.waiters = this.waiters.filter((waiter) => !waiter(line));
  }

  later(value) {
    setImmediate(() => this.connection.handle(value));
  }

  /** Handles one value. Resolves to the reply to it. */
  async feed(value) {
    const isReply = (line) => line.call === value.call && (line.value === value.value || line.upto >= value.value);
    const replied = new Promise((resolve) => this.waiters.push((line) => isReply(line) && (resolve(line), true)));
    this.connection.handle(value);
    this.connection.flush();
    if (value.value === undefined) {
      await Promise.allSettled([...this.connection.ends, ...(this.connection.calls.get(value.call)?.attempts ?? [])]);
      this.connection.flush();
      return {};
    }
    const { call, value: number, upto, ...members } = await replied;
    return members;
  }
}

/** The interceptor of a script file, whose run() does not start. */
function load(file) {
  const others = exports.interceptor;
  const owner = (exports.interceptor = new Interceptor());
  owner.runs = false;
  const full = path.resolve(file);
  delete require.cache[full];
  try {
    require(full);
  } finally {
    exports.interceptor = others;
  }
  return owner;
}

/** A call of a Harness. Each function feeds one value to the script. */
class HarnessCall {
  #values = 0;

  constructor(harness, facts) {
    Object.assign(this, { harness, facts });
  }

  feed(stage, members = {}) {
    const number = stage === "attempt_end" || stage === "finish" ? {} : { value: this.#values++ };
    const value = { ...this.facts, stage, ...number, ...members };
    this.facts = { call: this.facts.call };
    return this.harness.feed(value);
  }

  requestStart = ({ headers, ...members } = {}) => this.feed("request_start", { headers: pairs(headers), ...members });
  requestMessage = (message) => this.feed("request_message", form(message));
  requestEnd = () => this.feed("request_end");
  responseStart = ({ headers, httpStatus = 200, httpVersion = "2" } = {}) =>
    this.feed("response_start", { headers: pairs(headers), http_status: httpStatus, http_version: httpVersion });
  responseMessage = (message) => this.feed("response_message", form(message));
  responseEnd = ({ code = "ok", message = "", details = [], trailers } = {}) =>
    this.feed("response_end", { code, message, details, trailers: pairs(trailers) });
  attemptEnd = (members) => this.feed("attempt_end", members);
  metrics = (members) => this.feed("metrics", members);
  finish = ({ code = "ok", message = "" } = {}) => this.feed("finish", { code, message });
}

Object.assign(exports, { interceptor: new Interceptor(), Interceptor, Harness, Headers, CallError, CallEnded, failure });
