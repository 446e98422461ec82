/* The structure ends within a member. */
#include "minimal.h"
static const rpcurl_plugin plugin = {
    .abi_major = RPCURL_ABI_MAJOR, .struct_size = offsetof(rpcurl_plugin, close) + 4, .name = "cut", .load = keep_host};
RPCURL_PLUGIN(plugin)
