/* Uses the token of response_end, also after the end of the call, and returns the result: of the host for a canceled
 * call, as RPCURL_EFAILED for another one. */
#include "minimal.h"

static int32_t response_end(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_status status = {.struct_size = sizeof(status)};
  int32_t result = host->get_status(host, token, &status);
  (void)state, (void)call;
  if (result < 0 || status.code == RPCURL_STATUS_OK) return result;
  if (status.code == RPCURL_STATUS_CANCELED) {
    result = host->proceed(host, token);
    log_result("proceed", result);
    return result;
  }
  result = host->fail(host, token, status.code, RPCURL_TEXT("failed"));
  log_result("fail", result);
  return result < 0 ? rpcurl_fail(host, "it failed") : RPCURL_OK;
}

RPCURL_DEFINE_PLUGIN(.name = "ended", .load = keep_host, .response_end = response_end)
