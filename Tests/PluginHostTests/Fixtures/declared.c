/* Declares request messages as use=NUMBER, and logs what each function for messages returns. From the callback of
 * request_end it injects messages. serial=yes and collects=yes set these needs. only=NUMBER are its possible stages. */
#include "minimal.h"

static uint32_t use, is_serial, collects;
static uint64_t only;

static int32_t load(const rpcurl_host *given, void **plugin) {
  use = is_serial = collects = 0;
  only = RPCURL_STAGES_ALL;
  return keep_host(given, plugin);
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)host, (void)plugin;
  if (rpcurl_text_equal(key, RPCURL_TEXT("use"))) use = (uint32_t)atoi(value.data);
  if (rpcurl_text_equal(key, RPCURL_TEXT("serial"))) is_serial = 1;
  if (rpcurl_text_equal(key, RPCURL_TEXT("only"))) only = (uint64_t)atoi(value.data);
  if (rpcurl_text_equal(key, RPCURL_TEXT("collects"))) collects = 1;
  return RPCURL_OK;
}

static uint64_t possible_stages(const rpcurl_host *host, void *plugin) {
  (void)host, (void)plugin;
  return only;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  (void)host, (void)state;
  log_result("declared", needs->request_messages * 10 + needs->response_messages);
  needs->request_messages = use;
  needs->is_serial = is_serial;
  needs->collects = collects;
  return RPCURL_OK;
}

static void log_reason(const char *what, int32_t result) {
  rpcurl_text reason = host->last_error(host);
  if (result == RPCURL_ESTAGE) rpcurl_log(host, RPCURL_LOG_INFO, "%s: %.*s", what, (int)reason.size, reason.data);
  else log_result(what, result);
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_text got;
  (void)state, (void)call;
  log_reason("get", rpcurl_get_string(host, token, RPCURL_TEXT("string_value"), &got));
  log_reason("get_payload", host->get_payload(host, token, &got));
  log_reason("set", rpcurl_set_string(host, token, RPCURL_TEXT("string_value"), RPCURL_TEXT("set")));
  log_reason("set_payload", host->set_payload(host, token, RPCURL_TEXT("\x1a\x05" "bytes")));
  return RPCURL_OK;
}

static int32_t request_end(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const rpcurl_local_message message = {sizeof(message), RPCURL_FORM_SERIALIZED, 0, RPCURL_TEXT("\x1a\x03" "end"), {0}};
  (void)state;
  log_result("inject before", host->inject_request(host, call, &message));
  log_result("proceed", host->proceed(host, token));
  log_result("inject after", host->inject_request(host, call, &message));
  return RPCURL_OK;
}

static int32_t response_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const rpcurl_local_message message = {sizeof(message), RPCURL_FORM_SERIALIZED, 0, RPCURL_TEXT("\x1a\x03" "end"), {0}};
  (void)state, (void)token;
  log_result("inject later", host->inject_request(host, call, &message));
  return RPCURL_OK;
}

static void attempt_end(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_attempt *attempt) {
  (void)state, (void)call;
  rpcurl_log(host, RPCURL_LOG_INFO, "attempt %u of %zu numbers: %d, wait %lld, peer %.*s", attempt->numbers[0],
             attempt->number_count, (int)attempt->status->code, (long long)attempt->wait_ns, (int)attempt->peer.size,
             attempt->peer.data);
}

RPCURL_DEFINE_PLUGIN(.name = "declared", .config_help = "use=NUMBER\nserial=yes\ncollects=yes\nonly=NUMBER",
                     .request_messages = RPCURL_MESSAGES_READ_BYTES, .response_messages = RPCURL_MESSAGES_NONE,
                     .load = load, .configure = configure, .possible_stages = possible_stages,
                     .needs = needs, .request_message = request_message,
                     .request_end = request_end, .response_start = response_start, .attempt_end = attempt_end)
