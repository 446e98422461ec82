// Checks at compile time that the ABI layout has not changed.
#include <rpcurl/plugin.h>

_Static_assert(sizeof(rpcurl_text) == 16, "rpcurl_text");
_Static_assert(sizeof(rpcurl_call) == 8 && sizeof(rpcurl_token) == 8 && sizeof(rpcurl_timer) == 8, "handles");
_Static_assert(sizeof(rpcurl_value) == 24, "rpcurl_value");
_Static_assert(offsetof(rpcurl_plugin, struct_size) == 8, "rpcurl_plugin.struct_size");
_Static_assert(offsetof(rpcurl_plugin, known_stages) == 16, "rpcurl_plugin.known_stages");
_Static_assert(offsetof(rpcurl_plugin, close) == 224, "rpcurl_plugin of version 1.0 ends with close");
_Static_assert(offsetof(rpcurl_host, struct_size) == 8, "rpcurl_host.struct_size");
_Static_assert(offsetof(rpcurl_host, set_metrics) == 632, "rpcurl_host of version 1.0 ends with set_metrics");
_Static_assert(offsetof(rpcurl_response, trailer_count) == 88, "rpcurl_response of version 1.0 ends with trailers");
_Static_assert(sizeof(rpcurl_field) == 32, "rpcurl_field");
