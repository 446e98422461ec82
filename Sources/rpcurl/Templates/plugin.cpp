/*
 * @NAME@: adds a header to each request.
 *
 *     rpcurl --plugin ./@NAME@.so,name=x-test ...
 *
 * See rpcurl-plugin(3) and rpcurl/plugin.h for everything a plugin can do.
 */
#include <rpcurl/plugin.h>

#include <stdexcept>
#include <string>

namespace {

/* The configuration. The host makes one for each use of the plugin in the chain. */
class Plugin {
 public:
  void configure(const std::string &key, const std::string &value) {
    if (key != "name") throw std::invalid_argument("unknown key");
    name_ = value;
  }

  void ready() const {
    if (name_.empty()) throw std::invalid_argument("needs name=TEXT");
  }

  int32_t requestStart(const rpcurl_host *host, rpcurl_token token) const {
    return host->header_set(host, token, rpcurl::text(name_), RPCURL_TEXT("1"));
  }

 private:
  std::string name_;
};

Plugin &pluginOf(void *pointer) { return *static_cast<Plugin *>(pointer); }

/* The callbacks. An exception must not leave them: the guard makes it the reason of a failure. */

int32_t load(const rpcurl_host *host, void **plugin) noexcept {
  return rpcurl::guard(host, [&] {
    *plugin = new Plugin;
    return RPCURL_OK;
  });
}

int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) noexcept {
  return rpcurl::guard(host, [&] {
    pluginOf(plugin).configure(rpcurl::string(key), rpcurl::string(value));
    return RPCURL_OK;
  });
}

int32_t ready(const rpcurl_host *host, void *plugin) noexcept {
  return rpcurl::guard(host, [&] {
    pluginOf(plugin).ready();
    return RPCURL_OK;
  });
}

void unload(const rpcurl_host *, void *plugin) noexcept { delete &pluginOf(plugin); }

/* A call needs no state of its own, so its state is the configuration. */
int32_t open_call(const rpcurl_host *, void *plugin, rpcurl_call, void **state) noexcept {
  *state = plugin;
  return RPCURL_OK;
}

int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call, rpcurl_token token) noexcept {
  return rpcurl::guard(host, [&] { return pluginOf(state).requestStart(host, token); });
}

const rpcurl_plugin plugin = [] {
  rpcurl_plugin plugin = rpcurl::describe("@NAME@");
  plugin.version = "0.1";
  plugin.summary = "adds a header to each request";
  plugin.config_help = "name=TEXT    the name of the header to add";
  plugin.load = load;
  plugin.configure = configure;
  plugin.ready = ready;
  plugin.unload = unload;
  plugin.open = open_call;
  plugin.request_start = request_start;
  return plugin;
}();

}  // namespace

RPCURL_PLUGIN(plugin)
