// Lets an exception out of a callback, which it must not.
#include <rpcurl/plugin.h>

#include <stdexcept>

static int32_t request_start(const rpcurl_host *, void *, rpcurl_call, rpcurl_token) {
  throw std::runtime_error("out");
}

static const rpcurl_plugin plugin = [] {
  rpcurl_plugin plugin = rpcurl::describe("escaping");
  plugin.request_start = request_start;
  return plugin;
}();
RPCURL_PLUGIN(plugin)
