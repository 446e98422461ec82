#include "minimal.h"
static const rpcurl_plugin plugin = {
    .abi_major = RPCURL_ABI_MAJOR, .struct_size = SIZE_MAX, .name = "huge", .load = keep_host};
RPCURL_PLUGIN(plugin)
