/* Blocks the loop at request_message until the file exists that its setting names, and at most ten seconds; may take long
   before a call. */
#include "minimal.h"
#include <stdio.h>
#include <unistd.h>

static char seen[200];

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)host, (void)plugin, (void)key;
  snprintf(seen, sizeof(seen), "%.*s", (int)value.size, value.data);
  return RPCURL_OK;
}

static int32_t slow_load(const rpcurl_host *given, void **plugin) {
  usleep(200 * 1000);
  return keep_host(given, plugin);
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)state, (void)call, (void)token;
  for (int count = 0; count < 1000 && access(seen, F_OK) != 0; count++) usleep(10 * 1000);
  return RPCURL_OK;
}

static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "blocking", .load = slow_load,
                                     .configure = configure,
                                     .request_message = request_message};
RPCURL_PLUGIN(plugin)
