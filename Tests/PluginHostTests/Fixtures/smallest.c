/* The smallest plugin, with the convenience functions. */
#include <rpcurl/plugin.h>

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call;
  if (host->header_first(host, token, RPCURL_TEXT("refuse"), &(rpcurl_text){0}) == RPCURL_OK) {
    return rpcurl_fail(host, "refused: %d of %s", 7, "nine");
  }
  rpcurl_log(host, RPCURL_LOG_INFO, "%s %u", "hello", 1u);
  return host->header_set(host, token, rpcurl_text_of("x-hello"), rpcurl_text_of(NULL));
}

RPCURL_DEFINE_PLUGIN(.name = "smallest", .request_start = request_start)
