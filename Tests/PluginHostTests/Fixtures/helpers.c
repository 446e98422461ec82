/* Logs the results of the functions of the header that need no call. */
#include <rpcurl/plugin.h>

static void parse(const rpcurl_host *host, const char *text) {
  int64_t number = 7;
  int32_t result = rpcurl_parse_int64(rpcurl_text_of(text), &number);
  rpcurl_log(host, RPCURL_LOG_INFO, "%s: %d %lld", text, (int)result, (long long)number);
}

static int32_t load(const rpcurl_host *host, void **plugin) {
  static const char *const numbers[] = {
      "0", "-0", "12", "-34", "007", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
      "-9223372036854775809", "92233720368547758070", "", "-", "+1", " 1", "1 ", "1-", "0x1", "--1"};
  char *text = NULL;
  (void)plugin;
  for (size_t index = 0; index < sizeof(numbers) / sizeof(*numbers); index++) parse(host, numbers[index]);
  if (rpcurl_replace(host, &text, RPCURL_TEXT("first")) != RPCURL_OK) return RPCURL_EFAILED;
  if (rpcurl_replace(host, &text, RPCURL_TEXT("second")) != RPCURL_OK) return RPCURL_EFAILED;
  rpcurl_log(host, RPCURL_LOG_INFO, "copy: %s", text);
  host->free(host, text);
  text = rpcurl_copy(host, rpcurl_text_of(NULL));
  rpcurl_log(host, RPCURL_LOG_INFO, "empty: %zu", strlen(text));
  host->free(host, text);
  return RPCURL_OK;
}

RPCURL_DEFINE_PLUGIN(.name = "helpers", .load = load)
