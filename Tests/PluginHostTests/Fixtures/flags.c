/* Requires a flag that no host has, and has one that a host may ignore. */
#include "minimal.h"
static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .flags = UINT64_C(1) << 31 | UINT64_C(1) << 40,
                                     .name = "flags", .load = keep_host};
RPCURL_PLUGIN(plugin)
