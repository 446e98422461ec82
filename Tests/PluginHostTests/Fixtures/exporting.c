/* Fetches outside of calls, at the start and at the end. */
#include <rpcurl/plugin.h>

static void fetched(const rpcurl_host *host, void *argument, const rpcurl_fetch_response *response) {
  (void)argument;
  rpcurl_log(host, RPCURL_LOG_INFO, "fetched: %d", (int)response->status->code);
}

static void run(const rpcurl_host *host, void *argument) {
  rpcurl_log(host, RPCURL_LOG_INFO, "%s", (const char *)argument);
}

static void fetch(const rpcurl_host *host) {
  const rpcurl_fetch request = {.struct_size = sizeof(request), .url = RPCURL_TEXT("https://collector/")};
  host->fetch(host, RPCURL_NO_CALL, &request, fetched, NULL);
}

static int32_t ready(const rpcurl_host *host, void *plugin) {
  (void)plugin;
  fetch(host);
  return host->after(host, RPCURL_NO_CALL, 0, run, "timer", NULL);
}

static void conclude(const rpcurl_host *host, void *plugin) {
  (void)plugin;
  fetch(host);
}

RPCURL_DEFINE_PLUGIN(.name = "exporting", .summary = "exports what it collects", .ready = ready, .conclude = conclude)
