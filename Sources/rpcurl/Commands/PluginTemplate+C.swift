extension PluginTemplate {
  /// A plugin in C: a source file and a Makefile.
  static func c(_ name: String, headers: String) -> [(path: String, text: String)] {
    [
      ("\(name).c", source.replacing("@NAME@", with: name)),
      ("Makefile", makefile.replacing("@NAME@", with: name).replacing("@HEADERS@", with: headers)),
    ]
  }

  private static let makefile = """
    # make         builds @NAME@.so
    # make test    runs rpcurl plugins check
    CFLAGS ?= -O2 -g
    # The directory of rpcurl/plugin.h: of the installed rpcurl, else of the one that generated this file.
    HEADERS ?= $(or $(shell pkg-config --variable=includedir rpcurl 2>/dev/null),@HEADERS@)
    RPCURL ?= rpcurl

    # Built under another name and renamed, so that no process loads an incomplete file.
    @NAME@.so: @NAME@.c $(HEADERS)/rpcurl/plugin.h
    \t$(CC) $(CFLAGS) -std=c11 -Wall -Wextra -fvisibility=hidden -fPIC -I$(HEADERS) -shared -o $@.new @NAME@.c
    \tmv -f $@.new $@

    test: @NAME@.so
    \t$(RPCURL) plugins check ./@NAME@.so,header=x-test

    clean:
    \trm -f @NAME@.so

    .PHONY: test clean

    """

  private static let source = """
    /*
     * @NAME@: adds a header to each request.
     *
     *     rpcurl --plugin ./@NAME@.so,header=x-test ...
     *
     * See rpcurl-plugin(3) and rpcurl/plugin.h for everything a plugin can do.
     */
    #include <rpcurl/plugin.h>

    #include <stdlib.h>
    #include <string.h>

    /* The configuration. The host creates one for each use of the plugin in the chain. */
    struct plugin {
      char *header;
    };

    static int32_t load(const rpcurl_host *host, void **result) {
      *result = calloc(1, sizeof(struct plugin));
      return *result == NULL ? rpcurl_fail(host, "out of memory") : RPCURL_OK;
    }

    static int32_t configure(const rpcurl_host *host, void *state, rpcurl_text key, rpcurl_text value) {
      struct plugin *plugin = state;
      if (!rpcurl_text_equal(key, RPCURL_TEXT("header"))) return rpcurl_fail(host, "unknown key");
      free(plugin->header);
      plugin->header = malloc(value.size + 1);
      if (plugin->header == NULL) return rpcurl_fail(host, "out of memory");
      if (value.size > 0) memcpy(plugin->header, value.data, value.size);
      plugin->header[value.size] = 0;
      return RPCURL_OK;
    }

    static int32_t ready(const rpcurl_host *host, void *state) {
      const struct plugin *plugin = state;
      return plugin->header == NULL ? rpcurl_fail(host, "needs header=TEXT") : RPCURL_OK;
    }

    static void unload(const rpcurl_host *host, void *state) {
      struct plugin *plugin = state;
      (void)host;
      free(plugin->header);
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
      return host->header_set(host, token, rpcurl_text_of(plugin->header), RPCURL_TEXT("1"));
    }

    static const rpcurl_plugin plugin = {
        RPCURL_PLUGIN_HEAD,
        .name = "@NAME@",
        .version = "0.1",
        .summary = "adds a header to each request",
        .config_help = "header=TEXT    the header to add",
        .load = load,
        .configure = configure,
        .ready = ready,
        .unload = unload,
        .open = open_call,
        .request_start = request_start,
    };

    RPCURL_PLUGIN(plugin)

    """
}
