/*
 * @NAME@: adds a header to each request.
 *
 *     rpcurl --plugin ./@NAME@.so,name=x-test ...
 *
 * See rpcurl-plugin(3) and rpcurl/plugin.h for everything a plugin can do.
 */
#include <rpcurl/plugin.h>

#include <stdlib.h>

/* The configuration. The host makes one for each use of the plugin in the chain. */
struct plugin {
  char *name;
};

static int32_t load(const rpcurl_host *host, void **result) {
  *result = calloc(1, sizeof(struct plugin));
  return *result == NULL ? rpcurl_fail(host, "out of memory") : RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *state, rpcurl_text key, rpcurl_text value) {
  struct plugin *plugin = state;
  if (!rpcurl_text_equal(key, RPCURL_TEXT("name"))) return rpcurl_fail(host, "unknown key");
  return rpcurl_replace(host, &plugin->name, value);
}

static int32_t ready(const rpcurl_host *host, void *state) {
  const struct plugin *plugin = state;
  return plugin->name == NULL ? rpcurl_fail(host, "needs name=TEXT") : RPCURL_OK;
}

static void unload(const rpcurl_host *host, void *state) {
  struct plugin *plugin = state;
  host->free(host, plugin->name);
  free(plugin);
}

/* A call needs no state of its own, so its state is the configuration. */
static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)call;
  *state = plugin;
  return RPCURL_OK;
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const struct plugin *plugin = state;
  (void)call;
  return host->header_set(host, token, rpcurl_text_of(plugin->name), RPCURL_TEXT("1"));
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD,
    .name = "@NAME@",
    .version = "0.1",
    .summary = "adds a header to each request",
    .config_help = "name=TEXT    the name of the header to add",
    .load = load,
    .configure = configure,
    .ready = ready,
    .unload = unload,
    .open = open_call,
    .request_start = request_start,
};

RPCURL_PLUGIN(plugin)
