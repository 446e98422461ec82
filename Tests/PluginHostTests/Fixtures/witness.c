/* Logs the beginnings and ends of its calls. Depending on its keys, it changes their timeout, retries them once
 * when they end with a certain code, or makes a call before each. */
#include "minimal.h"

struct plugin {
  int64_t timeout_ms;
  int retried_code;
  char own[100];
};

struct state {
  struct plugin *plugin;
  rpcurl_token start;
  char method[100];
  int attempts;
};

static int32_t load(const rpcurl_host *given, void **plugin) {
  host = given;
  *plugin = calloc(1, sizeof(struct plugin));
  ((struct plugin *)*plugin)->timeout_ms = -1;
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *given, rpcurl_text key, rpcurl_text value) {
  (void)host;
  struct plugin *plugin = given;
  char text[100];
  snprintf(text, sizeof(text), "%.*s", (int)value.size, value.data);
  if (rpcurl_text_equal(key, RPCURL_TEXT("timeout"))) plugin->timeout_ms = atoi(text);
  if (rpcurl_text_equal(key, RPCURL_TEXT("retry"))) plugin->retried_code = atoi(text);
  if (rpcurl_text_equal(key, RPCURL_TEXT("own"))) memcpy(plugin->own, text, sizeof(text));
  return RPCURL_OK;
}

static void tell(const char *what, const struct state *state, int code) {
  char line[200];
  snprintf(line, sizeof(line), "%s %s %d", what, state->method, code);
  host->log(host, RPCURL_LOG_INFO, text(line));
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  struct state *state = calloc(1, sizeof(*state));
  state->plugin = plugin;
  host->call_facts(host, call, &facts);
  snprintf(state->method, sizeof(state->method), "%.*s", (int)facts.method.size, facts.method.data);
  tell("open", state, 0);
  *result = state;
  return RPCURL_OK;
}

static int32_t needs(const rpcurl_host *host, void *given, rpcurl_needs *needs) {
  (void)host;
  struct state *state = given;
  if (state->plugin->retried_code != 0) needs->replay_limit_bytes = 4096;
  return RPCURL_OK;
}

static void done(const rpcurl_host *host, void *given, const rpcurl_own_response *response) {
  struct state *state = given;
  (void)response;
  host->proceed(host, state->start);
}

static int32_t request_start(const rpcurl_host *host, void *given, rpcurl_call call, rpcurl_token token) {
  struct state *state = given;
  const char *method = state->plugin->own;
  if (state->plugin->timeout_ms >= 0) host->set_timeout(host, token, state->plugin->timeout_ms * 1000000);
  if (*method == 0) return RPCURL_OK;
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = text(method)};
  state->start = token;
  int32_t result = host->call(host, call, &own, done, state);
  return result < 0 ? result : RPCURL_LATER;
}

static int32_t response_end(const rpcurl_host *host, void *given, rpcurl_call call, rpcurl_token token) {
  struct state *state = given;
  rpcurl_status status = {.struct_size = sizeof(status)};
  (void)call;
  host->get_status(host, token, &status);
  tell("end", state, status.code);
  if (status.code != 0 && status.code == state->plugin->retried_code && state->attempts++ == 0) {
    return host->retry(host, token, 0, NULL, 0);
  }
  return RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *given, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)host, (void)call;
  tell("close", given, outcome->status->code);
  free(given);
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "witness", .config_help = "timeout=MS\nretry=CODE\nown=METHOD", .load = load,
    .configure = configure, .open = open_call, .needs = needs, .request_start = request_start,
    .response_end = response_end, .close = close_call};
RPCURL_PLUGIN(plugin)
