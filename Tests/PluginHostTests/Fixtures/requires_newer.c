/* Requires a host of version 1.2. */
#include "minimal.h"
__attribute__((constructor)) static void construct(void) { setenv("RPCURL_TEST_NEWER_CONSTRUCTOR_RAN", "1", 1); }
static const rpcurl_plugin plugin = {
    .abi_major = 1, .abi_minor = 3, .struct_size = sizeof(rpcurl_plugin), .min_minor = 2, .name = "requires_newer",
    .load = keep_host};
RPCURL_NOTE_(1, 3, 2)
RPCURL_EXPORT const rpcurl_plugin *rpcurl_plugin_entry(void) { return &plugin; }
