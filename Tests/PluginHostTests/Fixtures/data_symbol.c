/* The entry symbol is not a function. */
#include <rpcurl/plugin.h>
RPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR, RPCURL_MIN_MINOR)
__asm__(".globl rpcurl_plugin_entry\n.data\n.type rpcurl_plugin_entry, @object\n.size rpcurl_plugin_entry, 8\n"
        "rpcurl_plugin_entry: .quad 0\n.text\n");
