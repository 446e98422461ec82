/* Rejects its configuration, or fails in ready; logs each load and unload. */
#include "minimal.h"
static int wants_failure;
static int32_t load(const rpcurl_host *given, void **plugin) {
  keep_host(given, plugin);
  host->log(host, RPCURL_LOG_DEBUG, RPCURL_TEXT("load"));
  return RPCURL_OK;
}
static void unload(const rpcurl_host *host, void *plugin) {
  (void)plugin;
  host->log(host, RPCURL_LOG_DEBUG, RPCURL_TEXT("unload"));
}
static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)plugin;
  if (rpcurl_text_equal(key, RPCURL_TEXT("fail"))) {
    wants_failure = rpcurl_text_equal(value, RPCURL_TEXT("yes"));
    return RPCURL_OK;
  }
  host->set_error(host, RPCURL_TEXT("the only key is fail"));
  return RPCURL_EINVAL;
}
static int32_t ready(const rpcurl_host *host, void *plugin) {
  (void)host, (void)plugin;
  return wants_failure ? RPCURL_EFAILED : RPCURL_OK;
}
static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "fussy", .load = load,
                                     .configure = configure, .ready = ready, .unload = unload};
RPCURL_PLUGIN(plugin)
