/* Shared by the smallest plugins of these tests. */
#include <rpcurl/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rpcurl_host *host;

static int32_t keep_host(const rpcurl_host *given, void **plugin) {
  host = given;
  *plugin = NULL;
  return RPCURL_OK;
}

static inline rpcurl_text text(const char *string) {
  rpcurl_text result = {string, strlen(string)};
  return result;
}

static inline void log_result(const char *what, long result) {
  char line[200];
  snprintf(line, sizeof(line), "%s: %ld", what, result);
  host->log(host, RPCURL_LOG_INFO, text(line));
}
