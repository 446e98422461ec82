/* A plugin that passes everything on: at the stages of headers, of headers and of messages as bytes, or at all. */
#include <rpcurl/plugin.h>
#include <stdint.h>
#include <stdlib.h>

static int32_t load(const rpcurl_host *host, void **plugin) {
  (void)host;
  uint64_t *wanted = malloc(sizeof *wanted);
  if (!wanted) return RPCURL_EFAILED;
  *wanted = RPCURL_STAGES_ALL;
  *plugin = wanted;
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  uint64_t *wanted = plugin;
  (void)host, (void)key;
  const uint64_t headers =
      RPCURL_STAGE_REQUEST_START | RPCURL_STAGE_RESPONSE_START | RPCURL_STAGE_RESPONSE_END;
  if (rpcurl_text_equal(value, RPCURL_TEXT("headers"))) *wanted = headers;
  else if (rpcurl_text_equal(value, RPCURL_TEXT("bytes")))
    *wanted = headers | RPCURL_STAGE_REQUEST_MESSAGE | RPCURL_STAGE_RESPONSE_MESSAGE;
  return RPCURL_OK;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)call;
  *state = plugin;
  return RPCURL_OK;
}

static uint64_t stages(const rpcurl_host *host, void *state) {
  (void)host;
  return *(uint64_t *)state;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  const int is_bytes = *(uint64_t *)state != RPCURL_STAGES_ALL;
  (void)host;
  needs->request_messages = is_bytes ? RPCURL_MESSAGES_READ_BYTES : RPCURL_MESSAGES_READ_TYPED;
  needs->response_messages = needs->request_messages;
  return RPCURL_OK;
}

static void unload(const rpcurl_host *host, void *plugin) {
  (void)host;
  free(plugin);
}

static int32_t pass(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)state, (void)call, (void)token;
  return RPCURL_OK;
}

static const rpcurl_plugin passing = {
    RPCURL_PLUGIN_HEAD,
    .name = "passing",
    .version = "1.0",
    .summary = "passes everything on",
    .config_help = "stages=headers|bytes|all  where",
    .load = load,
    .configure = configure,
    .unload = unload,
    .open = open_call,
    .stages = stages,
    .needs = needs,
    .request_start = pass,
    .request_message = pass,
    .request_end = pass,
    .response_start = pass,
    .response_message = pass,
    .response_end = pass,
};
RPCURL_PLUGIN(passing)
