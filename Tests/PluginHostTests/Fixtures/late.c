/* Keeps the first message of the response, and fails at the third, after it has forwarded the first: of=typed or
 * of=bytes. */
#include <rpcurl/plugin.h>
#include <stdlib.h>

struct state {
  const int *is_bytes;
  int count;
  rpcurl_token first;
};

static int32_t load(const rpcurl_host *host, void **plugin) {
  (void)host;
  *plugin = calloc(1, sizeof(int));
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)host, (void)key;
  *(int *)plugin = rpcurl_text_equal(value, RPCURL_TEXT("bytes"));
  return RPCURL_OK;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  struct state *state = calloc(1, sizeof(*state));
  (void)host, (void)call;
  state->is_bytes = plugin;
  *result = state;
  return RPCURL_OK;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  (void)host;
  if (*((struct state *)state)->is_bytes) needs->response_messages = RPCURL_MESSAGES_READ_BYTES;
  return RPCURL_OK;
}

static int32_t response_message(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)call;
  state->count++;
  if (state->count == 1) state->first = token;
  if (state->count == 3) {
    host->proceed(host, state->first);
    return rpcurl_fail(host, "failed at the third message");
  }
  return state->count == 1 ? RPCURL_LATER : RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)host, (void)call, (void)outcome;
  free(state);
}

RPCURL_DEFINE_PLUGIN(.name = "late", .config_help = "of=FORM", .response_messages = RPCURL_MESSAGES_READ_TYPED,
                     .load = load, .configure = configure, .open = open_call, .needs = needs,
                     .response_message = response_message, .close = close_call)
