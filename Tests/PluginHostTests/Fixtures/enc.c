/* Changes the bytes of messages in both directions: appends an unknown field. */
#include <rpcurl/plugin.h>

static int32_t message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  char changed[200];
  rpcurl_text bytes;
  int32_t result = host->get_payload(host, token, &bytes);
  (void)state, (void)call;
  if (result < 0) return result;
  if (bytes.size > sizeof(changed) - 3) return rpcurl_fail(host, "the message is too long");
  if (bytes.size > 0) memcpy(changed, bytes.data, bytes.size);
  memcpy(changed + bytes.size, "\xf8\x06\x01", 3);
  const rpcurl_text text = {changed, bytes.size + 3};
  return host->set_payload(host, token, text);
}

RPCURL_DEFINE_PLUGIN(.name = "enc", .request_messages = RPCURL_MESSAGES_CHANGE_BYTES,
                     .response_messages = RPCURL_MESSAGES_CHANGE_BYTES, .request_message = message,
                     .response_message = message)
