/* Fails in several ways, and violates the ABI, depending on the method's name. */
#include "minimal.h"

#define T RPCURL_TEXT

static const rpcurl_text static_name = RPCURL_TEXT_INIT("x-static");

static int is(rpcurl_call call, const char *method) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  host->call_facts(host, call, &facts);
  return facts.method.size == 10 + strlen(method) && memcmp(facts.method.data + 10, method, strlen(method)) == 0;
}

static int32_t ready(const rpcurl_host *host, void *plugin) {
  (void)host, (void)plugin;
  return getenv("REASONS_READY") != NULL ? 77 : RPCURL_OK;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)plugin, (void)call;
  *state = NULL;
  return RPCURL_OK;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  (void)host, (void)state, (void)needs;
  return getenv("REASONS_NEEDS") != NULL ? 44 : RPCURL_OK;
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state;
  if (is(call, "Stale")) host->set_error(host, T("said too early"));
  if (is(call, "Headers")) {
    const char *const names[] = {"connection", "Content-Length", "te", "host", "content-type", "grpc-timeout",
                                 "grpc-status"};
    for (size_t index = 0; index < sizeof(names) / sizeof(names[0]); index++) {
      log_result(names[index], host->header_set(host, token, text(names[index]), T("1")));
    }
    log_result("x-bin", host->header_add(host, token, T("x-bin"), T("***")));
    log_result("y-bin", host->header_add(host, token, T("y-bin"), T("AQI=")));
    log_result("x-static", host->header_add(host, token, static_name, T("1")));
  }
  if (is(call, "Many")) {
    for (int index = 0; index < 20000; index++) host->header_add(host, token, T("x-many"), T("1"));
    log_result("fields", (long)host->header_count(host, token));
  }
  if (is(call, "Flood")) {
    rpcurl_local_message message = {sizeof(message), RPCURL_FORM_SERIALIZED, 0, T(""), {0}};
    int32_t result = 0;
    long count = 0;
    while (count < 1000000 && (result = host->inject_request(host, call, &message)) == RPCURL_OK) count++;
    log_result("injected", count);
    log_result("then", result);
  }
  if (is(call, "Misuse")) {
    for (int index = 0; index < 1000; index++) host->proceed(host, (rpcurl_token){12345});
  }
  return RPCURL_OK;
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_value value = {RPCURL_TYPE_STRING, 0, {0}};
  (void)state;
  if (is(call, "Stale")) return RPCURL_EFAILED;
  if (is(call, "Other")) {
    host->clear(host, token, T("nope"));
    return RPCURL_EFAILED;
  }
  if (is(call, "Clear")) {
    host->set_json(host, token, T("list_value"), T("[1, 2]"));
    log_result("clear [2]", host->clear(host, token, T("list_value.values[2]")));
    log_result("clear [-1]", host->clear(host, token, T("list_value.values[-1]")));
    log_result("clear [1]", host->clear(host, token, T("list_value.values[1]")));
    log_result("length", (long)host->length(host, token, T("list_value.values")));
    host->set_json(host, token, T("struct_value"), T("{\"a\": 1}"));
    log_result("clear a key", host->clear(host, token, T("struct_value.fields[\"b\"]")));
    return RPCURL_OK;
  }
  if (is(call, "Idiom")) return host->set(host, token, T("string_valu"), &value);
  return RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)state, (void)outcome;
  log_result("cancel in close", host->cancel(host, call, T("late")));
  log_result("after in close", host->after(host, call, 0, NULL, NULL, NULL));
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "reasons", .load = keep_host, .ready = ready, .open = open_call, .needs = needs,
    .request_start = request_start, .request_message = request_message, .close = close_call};
RPCURL_PLUGIN(plugin)
