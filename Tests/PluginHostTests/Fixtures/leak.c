/* Keeps each message of the response until the next one has come, and fails at the third. */
#include <rpcurl/plugin.h>
#include <stdlib.h>

struct state {
  int count;
  rpcurl_token last;
};

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)plugin, (void)call;
  *state = calloc(1, sizeof(struct state));
  return RPCURL_OK;
}

static int32_t response_message(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  const rpcurl_token last = state->last;
  (void)call;
  state->last = token;
  if (last.id != 0) host->proceed(host, last);
  return ++state->count == 3 ? rpcurl_fail(host, "the quota is used up") : RPCURL_LATER;
}

static int32_t response_end(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)call, (void)token;
  if (state->last.id != 0) host->proceed(host, state->last);
  return RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)host, (void)call, (void)outcome;
  free(state);
}

RPCURL_DEFINE_PLUGIN(.name = "quota", .response_messages = RPCURL_MESSAGES_READ_BYTES, .open = open_call,
                     .response_message = response_message, .response_end = response_end, .close = close_call)
