/* Built against another major version. None of its code may run. */
#include "minimal.h"
__attribute__((constructor)) static void run(void) { setenv("RPCURL_TEST_CONSTRUCTOR_RAN", "1", 1); }
RPCURL_NOTE_(2, 0, 0)
static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "other", .load = keep_host};
RPCURL_EXPORT const rpcurl_plugin *rpcurl_plugin_entry(void) { return &plugin; }
