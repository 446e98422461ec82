/* Built against a header of a later minor version: its structures are longer, and it checks before it uses
 * functions. */
#include "minimal.h"

struct newer {
  rpcurl_plugin plugin;
  int32_t (*stage_of_version_1_1)(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token);
};

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  struct { rpcurl_start start; uint64_t behind; } start = {{.struct_size = sizeof(start)}, 7};
  struct { rpcurl_failure failure; uint64_t behind; } failure = {{.struct_size = sizeof(failure)}, 7};
  (void)state, (void)call;
  log_result("longer host", host->struct_size > sizeof(rpcurl_host));
  log_result("get_start", host->get_start(host, token, &start.start));
  log_result("behind", (long)start.behind);
  failure.failure.code = 3;
  failure.failure.message = RPCURL_TEXT("longer");
  return host->fail_with(host, token, &failure.failure);
}

static const struct newer plugin = {
    .plugin = {.abi_major = 1, .abi_minor = 1, .struct_size = sizeof(struct newer),
               .known_stages = RPCURL_STAGES_ALL | UINT64_C(1) << 9, .name = "newer", .load = keep_host,
               .request_start = request_start},
    .stage_of_version_1_1 = request_start};
RPCURL_NOTE_(1, 1, 0)
RPCURL_EXPORT const rpcurl_plugin *rpcurl_plugin_entry(void) { return &plugin.plugin; }
