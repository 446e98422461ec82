/* Declines every call, or with responds=yes responds to each, or with calls=yes makes requests. */
#include <rpcurl/plugin.h>

static int responds, makes_calls, is_calling;

static int32_t load(const rpcurl_host *host, void **plugin) {
  (void)host, (void)plugin;
  responds = makes_calls = 0;
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)host, (void)plugin, (void)value;
  if (rpcurl_text_equal(key, RPCURL_TEXT("calls"))) makes_calls = 1;
  if (rpcurl_text_equal(key, RPCURL_TEXT("responds"))) responds = 1;
  return RPCURL_OK;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)plugin, (void)call, (void)state;
  return responds || makes_calls ? RPCURL_OK : RPCURL_DECLINE;
}

static uint64_t stages(const rpcurl_host *host, void *state) {
  (void)host, (void)state;
  return RPCURL_STAGES_ALL & ~RPCURL_STAGE_REQUEST_MESSAGE;
}

static void done(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  (void)argument;
  rpcurl_log(host, RPCURL_LOG_INFO, "done: %d%s", (int)response->status->code, is_calling ? "" : ", after its call");
}

static void fetched(const rpcurl_host *host, void *argument, const rpcurl_fetch_response *response) {
  (void)host, (void)argument, (void)response;
}

static int32_t pass(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)state, (void)call, (void)token;
  return RPCURL_OK;
}

static void ended(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  (void)host, (void)argument, (void)response;
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const rpcurl_local_message message = {.struct_size = sizeof(message), .form = RPCURL_FORM_JSON,
                                        .content = RPCURL_TEXT("\"text\"")};
  const rpcurl_response response = {.struct_size = sizeof(response), .messages = &message, .message_count = 1};
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = RPCURL_TEXT("a.B/C")};
  const rpcurl_stream_events events = {.struct_size = sizeof(events), .ended = ended};
  const rpcurl_fetch fetch = {.struct_size = sizeof(fetch), .url = RPCURL_TEXT("http://localhost")};
  rpcurl_stream stream;
  (void)state;
  if (responds) return host->respond(host, token, &response);
  is_calling = 1;
  if (host->call(host, call, &own, done, NULL) < 0) return RPCURL_EFAILED;
  is_calling = 0;
  own.method = RPCURL_TEXT("a.B/D");
  if (host->open_stream(host, call, RPCURL_KIND_BIDI_STREAMING, &own, &events, NULL, &stream) < 0) return RPCURL_EFAILED;
  return host->fetch(host, call, &fetch, fetched, NULL);
}

RPCURL_DEFINE_PLUGIN(.name = "declining", .summary = "for tests", .load = load, .configure = configure,
                     .config_help = "responds=yes\ncalls=yes", .open = open_call, .stages = stages,
                     .request_start = request_start, .request_end = pass, .response_start = pass,
                     .response_message = pass, .response_end = pass, .metrics = pass)
