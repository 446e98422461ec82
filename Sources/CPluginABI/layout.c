// Checks at compile time that the ABI layout has not changed.
#include <rpcurl/plugin.h>

_Static_assert(sizeof(rpcurl_text) == 16, "rpcurl_text");
_Static_assert(sizeof(rpcurl_call) == 8 && sizeof(rpcurl_token) == 8, "handles");
_Static_assert(sizeof(rpcurl_value) == 24, "rpcurl_value");
_Static_assert(offsetof(rpcurl_plugin, struct_size) == 8, "rpcurl_plugin.struct_size");
_Static_assert(offsetof(rpcurl_plugin, known_stages) == 16, "rpcurl_plugin.known_stages");
_Static_assert(offsetof(rpcurl_plugin, close) == 184, "rpcurl_plugin of version 1.0 ends with close");
_Static_assert(offsetof(rpcurl_host, struct_size) == 8, "rpcurl_host.struct_size");
_Static_assert(offsetof(rpcurl_host, get_metrics) == 272, "rpcurl_host of version 1.0 ends with get_metrics");
_Static_assert(offsetof(rpcurl_response, details) == 80, "rpcurl_response of version 1.0 ends with trailers");
_Static_assert(offsetof(rpcurl_plugin, needs) == 192, "rpcurl_plugin of version 1.1");
_Static_assert(offsetof(rpcurl_host, retry) == 280, "rpcurl_host of version 1.1 continues with retry");
_Static_assert(offsetof(rpcurl_host, free) == 464, "rpcurl_host of version 1.1 ends with free");
// Members of rpcurl_outcome, so their size is fixed.
_Static_assert(sizeof(rpcurl_status) == 32 && sizeof(rpcurl_metrics) == 80, "members of rpcurl_outcome");
