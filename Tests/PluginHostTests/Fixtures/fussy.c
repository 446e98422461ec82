/* Rejects its configuration, or fails in ready. */
#include "minimal.h"
static int wants_failure;
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
static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "fussy", .load = keep_host,
                                     .configure = configure, .ready = ready};
RPCURL_PLUGIN(plugin)
