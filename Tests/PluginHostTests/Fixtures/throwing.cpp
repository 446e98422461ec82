// Throws where C would be above it.
#include <rpcurl/plugin.h>

#include <stdexcept>

static int32_t request_start(const rpcurl_host *host, void *, rpcurl_call, rpcurl_token) noexcept {
  return rpcurl::guard(host, []() -> int32_t { throw std::runtime_error("thrown on purpose"); });
}

static void close_call(const rpcurl_host *host, void *, rpcurl_call, const rpcurl_outcome *) noexcept {
  rpcurl::guard_void(host, [] { throw 1; });
}

static const rpcurl_plugin plugin = [] {
  rpcurl_plugin plugin = rpcurl::describe("throwing");
  plugin.request_start = request_start;
  plugin.close = close_call;
  return plugin;
}();
RPCURL_PLUGIN(plugin)
