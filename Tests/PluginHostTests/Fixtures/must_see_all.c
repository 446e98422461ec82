/* Was built when there were fewer stages, and must not be passed by. */
#include "minimal.h"
static const rpcurl_plugin plugin = {
    .abi_major = RPCURL_ABI_MAJOR, .struct_size = sizeof(rpcurl_plugin),
    .known_stages = RPCURL_STAGES_ALL & ~RPCURL_STAGE_METRICS, .flags = RPCURL_MUST_SEE_ALL,
    .name = "auditor", .load = keep_host};
RPCURL_PLUGIN(plugin)
