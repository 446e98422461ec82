/* Fails each call with a message. */
#include "minimal.h"
static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_text name;
  (void)state, (void)call;
  return rpcurl_get_string(host, token, RPCURL_TEXT("f_string"), &name);
}
static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "failing", .load = keep_host,
                                     .request_message = request_message};
RPCURL_PLUGIN(plugin)
