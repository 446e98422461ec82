/* Requires a function that does not exist. */
#include "minimal.h"
int32_t nobody_has_this(const rpcurl_host *host, void *plugin);
static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "undefined", .load = keep_host,
                                     .ready = nobody_has_this};
RPCURL_PLUGIN(plugin)
