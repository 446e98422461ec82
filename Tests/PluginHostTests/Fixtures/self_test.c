/* Has a test of its own, for "rpcurl plugins check", which fails if the plugin is configured so. */
#include <rpcurl/plugin.h>

static int must_fail;

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)host, (void)plugin, (void)key;
  must_fail = rpcurl_text_equal(value, RPCURL_TEXT("no"));
  return RPCURL_OK;
}

static int32_t run(const rpcurl_host *host, void *plugin) {
  (void)plugin;
  return must_fail ? rpcurl_fail(host, "2 + 2 is %d", 5) : RPCURL_OK;
}

static const void *get_extension(const rpcurl_host *host, void *plugin, rpcurl_text name) {
  static const rpcurl_check check = {.struct_size = sizeof(check), .run = run};
  (void)host, (void)plugin;
  return rpcurl_text_equal(name, RPCURL_TEXT(RPCURL_EXTENSION_CHECK)) ? &check : NULL;
}

RPCURL_DEFINE_PLUGIN(.name = "self-test", .configure = configure, .get_extension = get_extension)
