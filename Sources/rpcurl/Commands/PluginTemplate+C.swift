extension PluginTemplate {
  /// A plugin in C: a source file and a Makefile.
  static let c = [("@NAME@.c", cSource), ("Makefile", makefile("c", "CC", "CFLAGS", "-std=gnu11"))]

  /// A plugin in C++: a source file and a Makefile.
  static let cpp = [
    ("@NAME@.cpp", cppSource), ("Makefile", makefile("cpp", "CXX", "CXXFLAGS", "-std=c++17")),
  ]

  private static func makefile(
    _ ending: String, _ compiler: String, _ flags: String, _ standard: String
  ) -> String {
    makefile.replacing("@ENDING@", with: ending).replacing("@COMPILER@", with: compiler)
      .replacing("@FLAGS@", with: flags).replacing("@STANDARD@", with: standard)
  }

  private static let makefile = """
    # make         builds @NAME@.so
    # make test    runs rpcurl plugins check, with the configuration CONFIG
    CONFIG ?= name=x-test
    @FLAGS@ ?= -O2 -g
    RPCURL ?= rpcurl
    \(findsRpcurl("HEADERS", "includedir"))

    # Built under another name and renamed, so that no process loads an incomplete file.
    @NAME@.so: @NAME@.@ENDING@ $(HEADERS)/rpcurl/plugin.h
    \t$(@COMPILER@) @STANDARD@ -Wall -Wextra -fvisibility=hidden -fPIC -I$(HEADERS) $(CPPFLAGS) $(@FLAGS@) \\
    \t  -shared $(LDFLAGS) -o $@.new $< $(LDLIBS)
    \tmv -f $@.new $@

    test check: @NAME@.so
    \(checksPlugin)

    clean:
    \trm -f @NAME@.so

    .PHONY: test check clean

    """

  private static let cSource = """
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

    """

  private static let cppSource = """
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

    """
}
