/* Requests a greeting from the server before each call, and sets it as a header; retries a failed call. */
#include "minimal.h"

struct state {
  rpcurl_token start;
  /* The response's start is kept: after it is forwarded, a retry is impossible. */
  rpcurl_token response;
  int attempts;
};

static void done(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  struct state *state = argument;
  if (response->status->code != 0) {
    host->fail(host, state->start, response->status->code, response->status->message);
    return;
  }
  host->header_set(host, state->start, RPCURL_TEXT("x-greeting"), response->message);
  host->proceed(host, state->start);
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)plugin, (void)call;
  *state = calloc(1, sizeof(struct state));
  return *state == NULL ? RPCURL_EFAILED : RPCURL_OK;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  (void)host, (void)state;
  needs->replay_limit_bytes = 4096;
  return RPCURL_OK;
}

static int32_t request_start(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  const char *name = getenv("GREETING_NAME");
  char json[100];
  snprintf(json, sizeof(json), "{\"name\": \"%s\"}", name == NULL ? "Ada" : name);
  const rpcurl_local_message message = {sizeof(message), RPCURL_FORM_JSON, 0, text(json), {0}};
  const rpcurl_own_call own = {
      .struct_size = sizeof(own), .method = RPCURL_TEXT("demo.v1.Demo/Hello"),
      .message = &message, .response_form = RPCURL_FORM_JSON,
      .timeout_ns = INT64_C(5000000000)};
  state->start = token;
  int32_t result = host->call(host, call, &own, done, state);
  if (result < 0) {
    host->set_error(host, host->last_error(host));
    return result;
  }
  return RPCURL_LATER;
}

static int32_t release(struct state *state) {
  if (state->response.id != 0) host->proceed(host, state->response);
  state->response.id = 0;
  return RPCURL_OK;
}

static int32_t response_end(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  rpcurl_status status = {.struct_size = sizeof(status)};
  const rpcurl_field header = {RPCURL_TEXT("demo-code"), RPCURL_TEXT("0")};
  (void)call;
  host->get_status(host, token, &status);
  if (status.code == 14 && state->attempts++ == 0) return host->retry(host, token, 1000000, &header, 1);
  return release(state);
}

static int32_t response_start(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)host, (void)call;
  state->response = token;
  return RPCURL_LATER;
}

static int32_t response_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)call, (void)token;
  return release(state);
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  char line[40];
  (void)call;
  snprintf(line, sizeof(line), "%d attempts", (int)outcome->metrics->attempts);
  host->log(host, RPCURL_LOG_INFO, text(line));
  free(state);
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "greeting", .response_messages = RPCURL_MESSAGES_NONE, .load = keep_host, .open = open_call, .needs = needs,
    .request_start = request_start, .response_start = response_start, .response_message = response_message, .response_end = response_end,
    .close = close_call};
RPCURL_PLUGIN(plugin)
