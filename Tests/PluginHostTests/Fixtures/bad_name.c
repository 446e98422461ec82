/* Its name would clear a terminal. */
#include "minimal.h"
static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "bad\033[2J", .load = keep_host};
RPCURL_PLUGIN(plugin)
