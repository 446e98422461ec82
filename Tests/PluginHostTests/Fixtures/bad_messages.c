/* Declares a use of messages that does not exist. */
#include <rpcurl/plugin.h>

RPCURL_DEFINE_PLUGIN(.name = "bad_messages", .response_messages = 7)
