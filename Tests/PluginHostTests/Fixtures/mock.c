/* Answers calls itself; declines those of another method; fails in open for those of a third. */
#include "minimal.h"

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  (void)plugin, (void)state;
  if (host->call_facts(host, call, &facts) < 0) return RPCURL_EFAILED;
  if (rpcurl_text_equal(facts.method, RPCURL_TEXT("test.Echo/Decline"))) return RPCURL_DECLINE;
  if (rpcurl_text_equal(facts.method, RPCURL_TEXT("test.Echo/Refuse"))) {
    host->set_error(host, RPCURL_TEXT("not on a Friday"));
    return RPCURL_EFAILED;
  }
  if (facts.kind != RPCURL_KIND_SERVER_STREAMING || !rpcurl_text_equal(facts.protocol, RPCURL_TEXT("grpc")) ||
      !rpcurl_text_equal(facts.request_type, RPCURL_TEXT("google.protobuf.Value"))) {
    return RPCURL_EFAILED;
  }
  return RPCURL_OK;
}

static const rpcurl_detail detail = {
    .struct_size = sizeof(rpcurl_detail), .type_name = {"a.B", 3}, .value = {"\x01", 1}};

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  const rpcurl_detail other = {.struct_size = sizeof(other), .type_name = RPCURL_TEXT("a.B"), .value = RPCURL_TEXT("\x02")};
  const rpcurl_failure failure = {.struct_size = sizeof(failure), .code = 9, .message = RPCURL_TEXT("not yet"),
                                  .details = &other, .detail_count = 1};
  (void)state;
  host->call_facts(host, call, &facts);
  if (rpcurl_text_equal(facts.method, RPCURL_TEXT("test.Echo/Fail"))) host->fail_with(host, token, &failure);
  return RPCURL_OK;
}

static int32_t request_end(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const rpcurl_field headers[] = {{RPCURL_TEXT("x-mock"), RPCURL_TEXT("1")}};
  const rpcurl_local_message messages[] = {
      {.struct_size = sizeof(*messages), .form = RPCURL_FORM_JSON, .content = RPCURL_TEXT("\"one\"")},
      {.struct_size = sizeof(*messages), .form = RPCURL_FORM_SERIALIZED, .content = RPCURL_TEXT("\x1a\x03two")},
  };
  const rpcurl_field trailers[] = {{RPCURL_TEXT("x-end"), RPCURL_TEXT("2")}};
  const rpcurl_response response = {
      .struct_size = sizeof(response), .headers = headers, .header_count = 1, .messages = messages,
      .message_count = 2, .code = 5, .message = RPCURL_TEXT("no more"), .trailers = trailers,
      .trailer_count = 1, .details = &detail, .detail_count = 1};
  (void)state, (void)call;
  int32_t result = host->respond(host, token, &response);
  if (result < 0) host->set_error(host, host->last_error(host));
  return result;
}

static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "mock", .load = keep_host,
                                     .open = open_call, .request_start = request_start, .request_end = request_end};
RPCURL_PLUGIN(plugin)
