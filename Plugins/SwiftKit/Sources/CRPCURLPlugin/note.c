// The note by which a host knows, before any code runs, what this plugin was built against. Swift cannot write one.
#include <rpcurl/plugin.h>

RPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR)
