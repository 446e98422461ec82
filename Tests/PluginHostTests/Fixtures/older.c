/* Built with a header of an earlier minor version: its structures end before their last members. What follows them in
 * memory must not be used. */
#include "minimal.h"

static int32_t beyond(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call, (void)token;
  host->log(host, RPCURL_LOG_ERROR, RPCURL_TEXT("a callback beyond the structure was called"));
  return RPCURL_EFAILED;
}

static void close_beyond(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)state, (void)call, (void)outcome;
  host->log(host, RPCURL_LOG_ERROR, RPCURL_TEXT("close beyond the structure was called"));
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  static const rpcurl_detail detail = {sizeof(rpcurl_detail), RPCURL_TEXT_INIT("x.Y"), RPCURL_TEXT_INIT("")};
  static const rpcurl_field trailer = {RPCURL_TEXT_INIT("x-trailer"), RPCURL_TEXT_INIT("1")};
  rpcurl_response response = {
      .struct_size = offsetof(rpcurl_response, details), .code = 5, .message = RPCURL_TEXT("shorter"),
      .details = &detail, .detail_count = 1, .trailers = &trailer, .trailer_count = 1};
  (void)state, (void)call;
  log_result("respond", host->respond(host, token, &response));
  return RPCURL_LATER;
}

static const rpcurl_plugin plugin = {
    .abi_major = RPCURL_ABI_MAJOR, .struct_size = offsetof(rpcurl_plugin, request_message),
    .known_stages = RPCURL_STAGE_REQUEST_START, .name = "older", .load = keep_host,
    .request_start = request_start, .request_message = beyond, .request_end = beyond,
    .response_start = beyond, .response_message = beyond, .response_end = beyond,
    .metrics = beyond, .close = close_beyond};
RPCURL_PLUGIN(plugin)
