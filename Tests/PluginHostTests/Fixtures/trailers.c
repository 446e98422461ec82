/* Fails a response with trailers. */
#include <rpcurl/plugin.h>

static int32_t response_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const rpcurl_field trailers[] = {{RPCURL_TEXT("x-reason"), RPCURL_TEXT("1")}, {RPCURL_TEXT("X-More"), RPCURL_TEXT("2")}};
  const rpcurl_failure failure = {
      .struct_size = sizeof(failure), .code = 10, .message = RPCURL_TEXT("checked"), .trailers = trailers, .trailer_count = 2};
  (void)state, (void)call;
  host->fail_with(host, token, &failure);
  return RPCURL_OK;
}

RPCURL_DEFINE_PLUGIN(.name = "trailers", .response_start = response_start)
