#!/usr/bin/env node
/* Fails every third call, with a detail that asks for a wait of a second. */
const { interceptor } = require("rpcurl");

let calls = 0;

interceptor.requestStart((call) => {
  calls += 1;
  if (calls % 3) return;
  const wait = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1s" };
  call.fail("unavailable", `fault of call ${calls}`, { details: [wait] });
});

interceptor.run({ effects: ["injects failures"] });
