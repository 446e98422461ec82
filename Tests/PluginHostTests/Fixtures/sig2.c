/* A signer that reads typed messages: keeps the start of the request until request_end. */
#include <rpcurl/plugin.h>
#include <stdlib.h>

struct state {
  rpcurl_token start;
  int count;
};

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)plugin, (void)call;
  *state = calloc(1, sizeof(struct state));
  return RPCURL_OK;
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)call;
  ((struct state *)state)->start = token;
  return RPCURL_LATER;
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)call, (void)token;
  ((struct state *)state)->count++;
  return RPCURL_OK;
}

static int32_t request_end(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  char count[20];
  (void)call, (void)token;
  snprintf(count, sizeof(count), "%d", state->count);
  int32_t result = host->header_set(host, state->start, RPCURL_TEXT("x-sig"), rpcurl_text_of(count));
  return result < 0 ? result : host->proceed(host, state->start);
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)host, (void)call, (void)outcome;
  free(state);
}

RPCURL_DEFINE_PLUGIN(.name = "sig2", .flags = RPCURL_READS_MESSAGES | RPCURL_CHANGES_HEADERS,
                     .request_messages = RPCURL_MESSAGES_READ_TYPED, .open = open_call,
                     .request_start = request_start, .request_message = request_message, .request_end = request_end,
                     .close = close_call)
