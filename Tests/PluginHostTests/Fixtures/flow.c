/* Retries, injects, waits and makes calls, depending on the method's name. */
#include "minimal.h"
#include <pthread.h>

#define T RPCURL_TEXT

struct state {
  rpcurl_call call;
  rpcurl_token held;
  char method[32];
};

static int is(const struct state *state, const char *method) { return strcmp(state->method, method) == 0; }

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  struct state *state = calloc(1, sizeof(*state));
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  (void)plugin;
  host->call_facts(host, call, &facts);
  state->call = call;
  /* test.Echo/ */
  memcpy(state->method, facts.method.data + 10, facts.method.size - 10);
  *result = state;
  return RPCURL_OK;
}

static int32_t needs(const rpcurl_host *host, void *plugin_state, rpcurl_needs *needs) {
  struct state *state = plugin_state;
  log_result("needs", needs->struct_size == sizeof(*needs) && needs->window_bytes == 0);
  if (is(state, "Greedy")) {
    host->set_error(host, T("wants too much"));
    return RPCURL_EFAILED;
  }
  if (is(state, "Retry")) needs->replay_limit_bytes = 1000;
  if (is(state, "Serial")) needs->is_serial = 1;
  return RPCURL_OK;
}

/* ---- Timers and posts */

static void tick(const rpcurl_host *host, void *argument) {
  struct state *state = argument;
  log_result("tick, proceed", host->proceed(host, state->held));
}

static void never(const rpcurl_host *host, void *argument) {
  (void)argument;
  host->log(host, RPCURL_LOG_ERROR, T("never"));
}

static void *on_thread(void *argument) {
  struct state *state = argument;
  log_result("after on a thread", host->after(host, state->call, 0, never, NULL, NULL));
  log_result("post", host->post(host, state->call, tick, state));
  return NULL;
}

/* ---- Calls of the plugin */

static void done(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  struct state *state = argument;
  char line[200];
  snprintf(line, sizeof(line), "done: %d %.*s [%.*s] %zu+%zu fields, %zu details", response->status->code,
           (int)response->status->message.size, response->status->message.data, (int)response->message.size,
           response->message.data, response->header_count, response->trailer_count, response->status->detail_count);
  host->log(host, RPCURL_LOG_INFO, text(line));
  host->proceed(host, state->held);
}

static void make_call(struct state *state) {
  const rpcurl_field header = {T("x-own"), T("1")};
  const rpcurl_local_message message = {sizeof(message), RPCURL_FORM_SERIALIZED, 0, T("\x1a\x01k"), {0}};
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = T("test.Tokens/Get"), .target = T("https://tokens/"),
                         .headers = &header, .header_count = 1, .timeout_ns = 5000000000,
                         .message = &message};
  rpcurl_own_call json = own, bad = own;
  json.response_form = RPCURL_FORM_JSON;
  bad.method = T("Get");
  log_result("call with JSON and no schema", host->call(host, state->call, &json, done, state));
  log_result("call of no method", host->call(host, state->call, &bad, done, state));
  log_result("call without done", host->call(host, state->call, &own, NULL, state));
  log_result("call", host->call(host, state->call, &own, done, state));
}

/* ---- Stages */

static int32_t request_start(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  rpcurl_local_message message = {sizeof(message), RPCURL_FORM_JSON, 0, T("\"early\""), {0}};
  rpcurl_timer timer = {0};
  pthread_t thread;
  state->held = token;
  if (is(state, "Inject")) {
    log_result("inject at a start", host->inject(host, token, &message));
    log_result("inject_response", host->inject_response(host, call, &message));
  }
  if (is(state, "Misuse")) {
    host->proceed(host, token);
    host->proceed(host, token);
    return RPCURL_OK;
  }
  if (is(state, "Thread")) {
    pthread_create(&thread, NULL, on_thread, state);
    pthread_join(thread, NULL);
    return RPCURL_LATER;
  }
  if (is(state, "Wait")) {
    log_result("after", host->after(host, call, 1000000000, tick, state, &timer));
    log_result("after", host->after(host, call, 500000000, never, state, &timer));
    log_result("cancel_timer", host->cancel_timer(host, call, timer));
    log_result("cancel_timer again", host->cancel_timer(host, call, timer));
    log_result("negative", host->after(host, call, -1, never, state, NULL));
    log_result("null", host->after(host, call, 1, NULL, state, NULL));
    log_result("after", host->after(host, call, INT64_C(900000000000), never, state, NULL));
    return RPCURL_LATER;
  }
  if (is(state, "Call")) {
    make_call(state);
    return RPCURL_LATER;
  }
  return RPCURL_OK;
}

static int32_t request_message(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  rpcurl_local_message message = {sizeof(message), RPCURL_FORM_JSON, 0, T("\"before\""), {0}};
  rpcurl_local_message bad = {sizeof(bad), 9, 0, T(""), {0}};
  if (is(state, "Inject")) {
    log_result("inject", host->inject(host, token, &message));
    log_result("inject null", host->inject(host, token, NULL));
    log_result("inject of no form", host->inject(host, token, &bad));
    message.content = T("\"behind\"");
    log_result("inject_request", host->inject_request(host, call, &message));
  }
  if (is(state, "Serial")) {
    state->held = token;
    log_result("message", 0);
    return RPCURL_LATER;
  }
  if (is(state, "Late")) {
    state->held = token;
    return RPCURL_LATER;
  }
  return RPCURL_OK;
}

static int32_t request_end(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  rpcurl_local_message message = {sizeof(message), RPCURL_FORM_SERIALIZED, 0, T("\x1a\x03" "end"), {0}};
  (void)call;
  if (is(state, "Inject")) log_result("inject at the end", host->inject(host, token, &message));
  return RPCURL_OK;
}

static int32_t response_end(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  const rpcurl_field header = {T("x-attempt"), T("again")};
  (void)call;
  if (!is(state, "Retry")) return RPCURL_OK;
  rpcurl_status status = {.struct_size = sizeof(status)};
  host->get_status(host, token, &status);
  if (status.code == 0) return RPCURL_OK;
  log_result("negative retry", host->retry(host, token, -1, NULL, 0));
  const rpcurl_field of_http = {RPCURL_TEXT("te"), RPCURL_TEXT("gzip")};
  log_result("retry with te", host->retry(host, token, 0, &of_http, 1));
  log_result("retry", host->retry(host, token, 2000000000, &header, 1));
  log_result("retry again", host->retry(host, token, 0, NULL, 0));
  return RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *plugin_state, rpcurl_call call, const rpcurl_outcome *outcome) {
  rpcurl_local_message message = {sizeof(message), RPCURL_FORM_SERIALIZED, 0, T(""), {0}};
  (void)outcome;
  log_result("close; post", host->post(host, call, never, NULL));
  log_result("inject", host->inject_request(host, call, &message));
  free(plugin_state);
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "flow", .load = keep_host, .open = open_call, .needs = needs,
    .request_start = request_start, .request_message = request_message, .request_end = request_end,
    .response_end = response_end, .close = close_call};
RPCURL_PLUGIN(plugin)
