#include "minimal.h"
RPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR, RPCURL_MIN_MINOR)
RPCURL_EXPORT const rpcurl_plugin *rpcurl_plugin_entry(void) { (void)keep_host; return NULL; }
