/* Keeps the request's start, and never uses its token. */
#include "minimal.h"

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)state, (void)call, (void)token;
  return RPCURL_LATER;
}

static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "hoarding", .load = keep_host,
                                     .request_start = request_start};
RPCURL_PLUGIN(plugin)
