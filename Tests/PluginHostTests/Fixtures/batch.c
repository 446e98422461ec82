/* Keeps all messages of a direction until its end: on=request or on=response, of=typed or of=bytes. */
#include <rpcurl/plugin.h>
#include <stdlib.h>

struct batch {
  int is_response, is_bytes;
};

struct state {
  struct batch *batch;
  rpcurl_token held[1000];
  int count;
};

static int32_t load(const rpcurl_host *host, void **plugin) {
  (void)host;
  *plugin = calloc(1, sizeof(struct batch));
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  struct batch *batch = plugin;
  (void)host;
  if (rpcurl_text_equal(key, RPCURL_TEXT("on"))) batch->is_response = rpcurl_text_equal(value, RPCURL_TEXT("response"));
  if (rpcurl_text_equal(key, RPCURL_TEXT("of"))) batch->is_bytes = rpcurl_text_equal(value, RPCURL_TEXT("bytes"));
  return RPCURL_OK;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  struct state *state = calloc(1, sizeof(*state));
  (void)host, (void)call;
  state->batch = plugin;
  *result = state;
  return RPCURL_OK;
}

static uint64_t stages(const rpcurl_host *host, void *state) {
  (void)host;
  return ((struct state *)state)->batch->is_response ? RPCURL_STAGE_RESPONSE_MESSAGE | RPCURL_STAGE_RESPONSE_END
                                                     : RPCURL_STAGE_REQUEST_MESSAGE | RPCURL_STAGE_REQUEST_END;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  (void)host;
  needs->collects = 1;
  if (((struct state *)state)->batch->is_bytes) {
    needs->request_messages = needs->response_messages = RPCURL_MESSAGES_READ_BYTES;
  }
  return RPCURL_OK;
}

static int32_t message(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)host, (void)call;
  state->held[state->count++] = token;
  return RPCURL_LATER;
}

static int32_t end(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)call, (void)token;
  rpcurl_log(host, RPCURL_LOG_INFO, "%d held", state->count);
  for (int index = 0; index < state->count; index++) host->proceed(host, state->held[index]);
  return RPCURL_OK;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)host, (void)call, (void)outcome;
  free(state);
}

RPCURL_DEFINE_PLUGIN(.name = "batch", .config_help = "on=DIRECTION\nof=FORM",
                     .request_messages = RPCURL_MESSAGES_READ_TYPED, .response_messages = RPCURL_MESSAGES_READ_TYPED,
                     .load = load, .configure = configure, .open = open_call, .stages = stages, .needs = needs,
                     .request_message = message, .request_end = end, .response_message = message, .response_end = end,
                     .close = close_call)
