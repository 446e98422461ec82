#!/usr/bin/env node
/* A script that does at each stage what the variable DO says; everything.py does the same. */
"use strict";

const { failure, interceptor } = require("rpcurl");

const DO = JSON.parse(process.env.DO);
const {
  handler = {},
  inject = [{ name: "First" }, { name: "Second" }],
  later = { request: [{ name: "Late" }], response: [{ name: "Later" }] },
  own = ["demo.v1.Demo/Hello", { name: "Own" }],
  ...options
} = JSON.parse(process.env.OPTIONS ?? "{}");
const DETAIL = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "TESTED" };

const VERBS = {
  nothing() {},
  change(call, message) {
    if (message instanceof Uint8Array) return Buffer.concat([message, message]);
    message.name = "Changed";
  },
  return: () => ({ name: "Returned" }),
  "return text": () => "text",
  headers(call) {
    const headers = call.stage === "response_end" ? call.trailers : call.headers;
    headers.set("X-Set", ["1", "2"]);
    headers.add("x-add", 3);
    headers.set("x-data-bin", Buffer.from([0, 1]));
    headers.delete("X-Remove");
  },
  facts(call) {
    const { method, kind, protocol, codec, target, attempt, requestType, responseType, isSubrequest, timeout } = call;
    const names = { request_type: requestType ?? null, response_type: responseType ?? null, is_subrequest: isSubrequest };
    call.log(JSON.stringify({ method, kind, protocol, codec, target, attempt, ...names, timeout: timeout ?? null }));
  },
  content(call, message) {
    (call.state.seen ??= []).push(call.stage);
    if (call.stage === "response_start") message = [call.httpStatus, call.httpVersion];
    if (["response_end", "finish"].includes(call.stage)) {
      const { code, codeNumber, message: text, details } = call.status;
      message = [code, codeNumber, text, details];
    }
    call.log(JSON.stringify([call.state.seen, message ?? null]));
  },
  fail: (call) => call.fail("PERMISSION_DENIED", "no", { details: [DETAIL], trailers: { "x-why": "test" } }),
  respond: (call) => call.respond({ message: { name: "Own" }, headers: { "x-a": "1" }, trailers: [["x-b", "2"]] }),
  "respond many": (call) => call.respond({ messages: [{ number: 1 }, { number: 2 }] }),
  "respond fail": (call) => call.respond({ fail: failure("not_found", "nothing") }),
  drop: (call) => call.drop(),
  retry(call) {
    if (call.status.code !== "unauthenticated" || call.state.again) return;
    call.state.again = true;
    call.retry({ after: 0.01, headers: { "x-again": "1", authorization: "Bearer new" } });
  },
  "late retry": (call) => call.retry(),
  inject: (call) => call.inject(...inject),
  "inject later": (call) => call.injectLater(later),
  finding: (call) => call.finding("found"),
  note: (call) => call.finding("noted", "note"),
  log: (call) => call.log("logged", "warning"),
  attributes(call) {
    call.attributes.set("tier", "gold");
    call.attributes.delete("gone");
  },
  throw() {
    throw new TypeError("thrown");
  },
  "fail twice"(call) {
    call.fail("aborted");
    call.drop();
  },
  print: () => console.log("printed"),
  async own(call) {
    const response = await call.call(...own, { headers: { "x-own": "1" }, timeout: 5 });
    call.log(`${response.status.code} ${JSON.stringify(response.message)}`);
  },
  ask: async (call) => call.log(`reply: ${await call.ask("Sure? ")}`),
  "log later": (call) => new Promise((resolve) => setTimeout(resolve, 10)).then(() => call.log("logged")),
  sleep: (call, message) => new Promise((resolve) => setTimeout(resolve, 1000 * (message?.text ?? 0.01))),
};

for (const stage of Object.keys(DO)) {
  const name = stage.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  interceptor[name](stage.endsWith("_message") ? handler : {}, (call, message) => VERBS[DO[stage]](call, message));
}
const prints = Object.values(DO).includes("print");
if (prints) console.log("before the run");
interceptor.run(options).then(() => prints && console.log("the end"));
