/* Holds the start of a request for ms=N milliseconds, and counts the bytes of the request. */
#include <rpcurl/plugin.h>
#include <stdlib.h>

struct state {
  int64_t *milliseconds;
  size_t bytes;
  rpcurl_token start;
};

static int32_t load(const rpcurl_host *host, void **plugin) {
  (void)host;
  *plugin = calloc(1, sizeof(int64_t));
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)key;
  return rpcurl_parse_int64(value, plugin) < 0 ? rpcurl_fail(host, "is not a number") : RPCURL_OK;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  struct state *state = calloc(1, sizeof(*state));
  (void)host, (void)call;
  state->milliseconds = plugin;
  *result = state;
  return RPCURL_OK;
}

static void release(const rpcurl_host *host, void *state) { host->proceed(host, ((struct state *)state)->start); }

static int32_t request_start(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  if (*state->milliseconds == 0) return RPCURL_OK;
  state->start = token;
  int32_t result = host->after(host, call, *state->milliseconds * 1000000, release, state, NULL);
  return result < 0 ? result : RPCURL_LATER;
}

static int32_t request_message(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  rpcurl_text bytes;
  int32_t result = host->get_payload(host, token, &bytes);
  (void)call;
  if (result < 0) return result;
  state->bytes += bytes.size;
  return RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *plugin_state, rpcurl_call call, const rpcurl_outcome *outcome) {
  struct state *state = plugin_state;
  (void)call, (void)outcome;
  rpcurl_log(host, RPCURL_LOG_INFO, "%zu bytes", state->bytes);
  free(state);
}

RPCURL_DEFINE_PLUGIN(.name = "gate", .config_help = "ms=N", .request_messages = RPCURL_MESSAGES_READ_BYTES,
                     .load = load, .configure = configure, .open = open_call, .request_start = request_start,
                     .request_message = request_message, .close = close_call)
