// The note with the version of the ABI, which the host reads before it runs any code. Swift cannot declare
// one.
#include <rpcurl/plugin.h>

// The kit uses every function of this header.
RPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR, RPCURL_ABI_MINOR)
