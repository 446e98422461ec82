/* Sends messages in other forms than the call's. Give: responds with the last response of Keep. Own: makes a call. */
#include <rpcurl/plugin.h>

#define S(text) (int)(text).size, (text).data

static char kept[100];
static size_t kept_bytes;
static rpcurl_token held;

static int32_t response_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_text json;
  int32_t result = host->get_json(host, token, RPCURL_TEXT(""), &json);
  (void)state, (void)call;
  if (result < 0 || json.size > sizeof(kept)) return RPCURL_EFAILED;
  memcpy(kept, json.data, json.size);
  kept_bytes = json.size;
  return RPCURL_OK;
}

static void done(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  (void)argument;
  rpcurl_log(host, RPCURL_LOG_INFO, "own: %d %.*s", (int)response->status->code, S(response->message));
  rpcurl_text text = {"", 0};
  int32_t result = rpcurl_get_string(host, response->fields, RPCURL_TEXT("text"), &text);
  rpcurl_log(host, RPCURL_LOG_INFO, "field: %d %.*s", (int)result, S(text));
  rpcurl_log(host, RPCURL_LOG_INFO, "proceed: %d", (int)host->proceed(host, response->fields));
  host->proceed(host, held);
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const rpcurl_local_message message = {
      .struct_size = sizeof(message), .form = RPCURL_FORM_JSON, .content = {kept, kept_bytes}};
  const rpcurl_local_message binary = {
      .struct_size = sizeof(binary), .form = RPCURL_FORM_BINARY, .content = RPCURL_TEXT("\x1a\x03" "Ada")};
  const rpcurl_response response = {.struct_size = sizeof(response), .messages = &message, .message_count = 1};
  const rpcurl_own_call own = {.struct_size = sizeof(own), .method = RPCURL_TEXT("forms.Forms/Get"),
                               .message = &binary, .response_form = RPCURL_FORM_BINARY};
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  (void)state;
  host->call_facts(host, call, &facts);
  if (rpcurl_text_equal(facts.method, RPCURL_TEXT("test.Echo/Give"))) return host->respond(host, token, &response);
  if (rpcurl_text_equal(facts.method, RPCURL_TEXT("test.Echo/Own"))) {
    held = token;
    rpcurl_log(host, RPCURL_LOG_INFO, "call: %d", (int)host->call(host, call, &own, done, NULL));
    return RPCURL_LATER;
  }
  return RPCURL_OK;
}

RPCURL_DEFINE_PLUGIN(.name = "forms", .response_messages = RPCURL_MESSAGES_READ_TYPED, .request_start = request_start, .response_message = response_message)
