#!/usr/bin/env node
/* Rewrites the messages of a stream: drops odd numbers, sends the others times ten, and adds one at the end. */
const { interceptor } = require("rpcurl");

interceptor.responseMessage((call, message) => {
  if (message.number % 2) return call.drop();
  message.number *= 10;
});

interceptor.responseEnd((call) => {
  if (call.status.code === "ok") call.inject({ number: -1 });
});

interceptor.run({ methods: ["demo.v1.Demo/Count"] });
