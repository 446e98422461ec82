/* Blocks the loop at request_message; may take long before a call. */
#include "minimal.h"
#include <unistd.h>

static int32_t slow_load(const rpcurl_host *given, void **plugin) {
  usleep(200 * 1000);
  return keep_host(given, plugin);
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)state, (void)call, (void)token;
  usleep(250 * 1000);
  return RPCURL_OK;
}

static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "blocking", .load = slow_load,
                                     .request_message = request_message};
RPCURL_PLUGIN(plugin)
