/* Replaces the text of each message in both directions, as an interceptor that redacts does. */
#include <rpcurl/plugin.h>

static int32_t message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call;
  return rpcurl_set_string(host, token, RPCURL_TEXT("string_value"), RPCURL_TEXT("***"));
}

RPCURL_DEFINE_PLUGIN(.name = "mask", .request_message = message, .response_message = message)
