/* Built with fewer stages, and must see all of them. */
#include "minimal.h"
static const rpcurl_plugin plugin = {
    .abi_major = RPCURL_ABI_MAJOR, .struct_size = sizeof(rpcurl_plugin),
    .known_stages = RPCURL_STAGES_ALL & ~RPCURL_STAGE_METRICS, .flags = RPCURL_MUST_SEE_ALL,
    .name = "auditor", .load = keep_host};
RPCURL_PLUGIN(plugin)
