#!/usr/bin/env node
/* Responds to methods of a dictionary in place of the server. Other calls go on. */
const { failure, interceptor } = require("rpcurl");

const RESPONSES = {
  "demo.v1.Demo/Hello": ({ name }) => ({ message: { message: `Hello from the mock, ${name}!`, name } }),
  "demo.v1.Demo/Find": () => ({ fail: failure("not_found", "the mock has no items") }),
  "demo.v1.Demo/Count": () => ({ messages: [{ number: 1 }, { number: 2 }] }),
};

interceptor.requestMessage({ reads: true }, (call, message) => {
  call.respond(RESPONSES[call.method](message));
});

interceptor.run({ methods: Object.keys(RESPONSES), effects: ["responds itself"] });
