/* With misuse=CALLBACK violates the ABI there, from the second call on; with metrics=fail fails at metrics; with token=yes
   fails each call that gets no response to an HTTP request. */
#include "minimal.h"

static char misuse[20];
static int opened, fails_at_metrics, needs_token;
static rpcurl_token held;

static int32_t load(const rpcurl_host *given, void **plugin) {
  misuse[0] = 0;
  opened = fails_at_metrics = needs_token = 0;
  return keep_host(given, plugin);
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)host, (void)plugin;
  if (rpcurl_text_equal(key, RPCURL_TEXT("misuse"))) {
    snprintf(misuse, sizeof(misuse), "%.*s", (int)value.size, value.data);
  }
  if (rpcurl_text_equal(key, RPCURL_TEXT("metrics"))) fails_at_metrics = 1;
  if (rpcurl_text_equal(key, RPCURL_TEXT("token"))) needs_token = 1;
  return RPCURL_OK;
}

static int reach(const char *callback) {
  if (opened < 2 || strcmp(misuse, callback) != 0) return 0;
  host->proceed(host, (rpcurl_token){12345});
  return 1;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)plugin, (void)call;
  *state = NULL;
  opened++;
  reach("open");
  return reach("decline") ? RPCURL_DECLINE : RPCURL_OK;
}

static uint64_t stages(const rpcurl_host *host, void *state) {
  (void)host, (void)state;
  reach("stages");
  return RPCURL_STAGES_ALL;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  (void)host, (void)state, (void)needs;
  reach("needs");
  return RPCURL_OK;
}

static void fetched(const rpcurl_host *host, void *argument, const rpcurl_fetch_response *response) {
  (void)argument;
  if (response->status->code != RPCURL_STATUS_OK) {
    host->fail(host, held, RPCURL_STATUS_UNAUTHENTICATED, response->status->message);
    return;
  }
  host->proceed(host, held);
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const rpcurl_fetch fetch = {.struct_size = sizeof(fetch), .url = RPCURL_TEXT("http://localhost/token")};
  (void)state;
  if (!needs_token) return RPCURL_OK;
  held = token;
  int32_t result = host->fetch(host, call, &fetch, fetched, NULL);
  return result < 0 ? result : RPCURL_LATER;
}

static int32_t metrics(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call, (void)token;
  if (!fails_at_metrics) return RPCURL_OK;
  host->set_error(host, RPCURL_TEXT("the disk is full"));
  return RPCURL_EFAILED;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)host, (void)state, (void)call, (void)outcome;
  log_result("closed", opened);
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "careless", .load = load, .configure = configure, .open = open_call, .stages = stages,
    .needs = needs, .request_start = request_start, .metrics = metrics, .close = close_call};
RPCURL_PLUGIN(plugin)
