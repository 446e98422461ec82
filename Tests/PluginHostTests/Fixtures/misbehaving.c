/* Uses tokens twice, after the end, and invented ones. The host must return error codes, and continue. */
#include "minimal.h"
static rpcurl_token first;
static rpcurl_call last_call;

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state;
  rpcurl_token invented = {token.id + 1000}, none = {0};
  rpcurl_text value;
  first = token;
  last_call = call;
  log_result("respond without a response", host->respond(host, token, NULL));
  log_result("drop of a start", host->drop(host, token));
  log_result("fail with ok", host->fail(host, token, 0, RPCURL_TEXT("")));
  log_result("fail with 99", host->fail(host, token, 99, RPCURL_TEXT("")));
  log_result("message at a start", host->clear(host, token, RPCURL_TEXT("")));
  log_result("bad name", host->header_set(host, token, RPCURL_TEXT("a b"), RPCURL_TEXT("")));
  log_result("bad value", host->header_set(host, token, RPCURL_TEXT("a"), RPCURL_TEXT("x\r\ny: z")));
  log_result("not UTF-8", host->header_set(host, token, RPCURL_TEXT("a"), RPCURL_TEXT("\xff")));
  log_result("too large", host->header_set(host, token, RPCURL_TEXT("a"), (rpcurl_text){"x", SIZE_MAX}));
  const rpcurl_local_message cut = {sizeof(cut), RPCURL_FORM_JSON, 0, RPCURL_TEXT("{"), {0}};
  const rpcurl_response response = {.struct_size = sizeof(response), .messages = &cut, .message_count = 1};
  log_result("respond with cut JSON", host->respond(host, token, &response));
  log_result("null result", host->header_first(host, token, RPCURL_TEXT("a"), NULL));
  log_result("invented", host->proceed(host, invented));
  log_result("none", host->proceed(host, none));
  log_result("proceed", host->proceed(host, token));
  log_result("proceed again", host->proceed(host, token));
  log_result("fail again", host->fail(host, token, 13, RPCURL_TEXT("late")));
  log_result("read again", host->header_first(host, token, RPCURL_TEXT("a"), &value));
  return RPCURL_OK;
}

static int32_t request_end(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call;
  host->proceed(host, token);
  return RPCURL_EFAILED; /* too late to fail */
}

static int32_t response_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)state, (void)call;
  first = token;
  return RPCURL_LATER; /* and never used */
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)state, (void)call, (void)outcome;
  log_result("proceed in close", host->proceed(host, first));
}

static int32_t ready(const rpcurl_host *host, void *plugin) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  (void)plugin;
  if (first.id != 0) {
    log_result("proceed after the end", host->proceed(host, first));
    log_result("facts after the end", host->call_facts(host, last_call, &facts));
  }
  return RPCURL_OK;
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "misbehaving", .load = keep_host, .ready = ready,
    .request_start = request_start, .request_end = request_end, .response_message = response_message,
    .close = close_call};
RPCURL_PLUGIN(plugin)
