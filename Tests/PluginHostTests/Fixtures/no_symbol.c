/* Has the note, but not the symbol. */
#include "minimal.h"
RPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR, RPCURL_MIN_MINOR)
const void *unused(void);
const void *unused(void) { return (const void *)keep_host; }
