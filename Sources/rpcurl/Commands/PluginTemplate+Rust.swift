extension PluginTemplate {
  /// A plugin in Rust: a crate without dependencies, and a Makefile.
  static let rust = [
    ("Cargo.toml", cargo), ("build.rs", build), ("Makefile", makefile), ("src/lib.rs", library),
  ]

  private static let cargo = """
    [package]
    name = "@NAME@"
    version = "1.0.0"
    edition = "2021"

    [lib]
    crate-type = ["cdylib"]

    [profile.release]
    lto = true
    strip = true

    """

  private static let build = #"""
    //! Finds the declarations of the plugin ABI, which rpcurl installs.
    use std::process::Command;

    fn main() {
        let found = Command::new("pkg-config").args(["--variable=rustkit", "rpcurl"]).output();
        let folder = match found {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_string(),
            _ => panic!("pkg-config does not find rpcurl: set PKG_CONFIG_PATH=PREFIX/lib/pkgconfig"),
        };
        println!("cargo:rustc-env=RPCURL_RUST={folder}/rpcurl.rs");
        println!("cargo:rerun-if-changed={folder}/rpcurl.rs");
        println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    }

    """#

  private static let makefile = """
    # make         builds @NAME@.so
    # make test    runs its tests and rpcurl plugins check
    CARGO ?= cargo
    RPCURL ?= rpcurl

    # Built under another name and renamed, so that no process loads an incomplete file.
    @NAME@.so: Cargo.toml build.rs $(shell find src -type f)
    \t$(CARGO) build --offline --release
    \tcp target/release/lib@CRATE@.so $@.new
    \tmv -f $@.new $@

    test: @NAME@.so
    \t$(CARGO) test --offline
    \t$(RPCURL) plugins check ./@NAME@.so,header=x-test

    clean:
    \trm -rf @NAME@.so target

    .PHONY: test clean

    """

  private static let library = #"""
    //! @NAME@: adds a header to each request.
    //!
    //!     make && rpcurl --plugin ./@NAME@.so,header=x-test ...
    //!
    //! rpcurl-plugin(3) and rpcurl/plugin.h describe everything that a plugin can do.

    #[allow(dead_code, non_camel_case_types)]
    #[macro_use]
    mod rpcurl {
        include!(env!("RPCURL_RUST"));
    }

    use rpcurl::*;
    use std::ffi::c_void;

    /// The configuration. The host makes one for each use of the plugin on the chain.
    #[derive(Default)]
    struct Plugin {
        header: String,
    }

    impl Plugin {
        /// Sets a key.
        fn configure(&mut self, key: &str, value: &str) -> Result<(), String> {
            match (key, value) {
                ("header", "") => Err("is empty".to_string()),
                ("header", name) => {
                    self.header = name.to_lowercase();
                    Ok(())
                }
                _ => Err("unknown key".to_string()),
            }
        }
    }

    unsafe extern "C" fn load(_host: *const rpcurl_host, plugin: *mut *mut c_void) -> i32 {
        *plugin = Box::into_raw(Box::new(Plugin::default())) as *mut c_void;
        RPCURL_OK
    }

    unsafe extern "C" fn configure(
        host: *const rpcurl_host,
        plugin: *mut c_void,
        key: rpcurl_text,
        value: rpcurl_text,
    ) -> i32 {
        guard(host, || {
            let plugin = &mut *(plugin as *mut Plugin);
            match plugin.configure(key.as_str(), value.as_str()) {
                Ok(()) => RPCURL_OK,
                Err(reason) => fail(host, &reason),
            }
        })
    }

    unsafe extern "C" fn ready(host: *const rpcurl_host, plugin: *mut c_void) -> i32 {
        match (*(plugin as *mut Plugin)).header.as_str() {
            "" => fail(host, "needs header=TEXT"),
            _ => RPCURL_OK,
        }
    }

    unsafe extern "C" fn unload(_host: *const rpcurl_host, plugin: *mut c_void) {
        drop(Box::from_raw(plugin as *mut Plugin));
    }

    /// A call needs no state of its own, so its state is the configuration.
    unsafe extern "C" fn open(
        _host: *const rpcurl_host,
        plugin: *mut c_void,
        _call: rpcurl_call,
        state: *mut *mut c_void,
    ) -> i32 {
        *state = plugin;
        RPCURL_OK
    }

    unsafe extern "C" fn request_start(
        host: *const rpcurl_host,
        state: *mut c_void,
        _call: rpcurl_call,
        token: rpcurl_token,
    ) -> i32 {
        guard(host, || {
            let plugin = &*(state as *const Plugin);
            ((*host).header_set)(host, token, rpcurl_text::of(&plugin.header), rpcurl_text::of("1"))
        })
    }

    export_plugin!(rpcurl_plugin {
        name: "@NAME@\0".as_ptr() as *const _,
        version: "1.0\0".as_ptr() as *const _,
        summary: "adds a header to each request\0".as_ptr() as *const _,
        config_help: "header=TEXT    the header to add\0".as_ptr() as *const _,
        load: Some(load),
        configure: Some(configure),
        ready: Some(ready),
        unload: Some(unload),
        open: Some(open),
        request_start: Some(request_start),
        ..PLUGIN
    });

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn headers_are_lower_case() {
            let mut plugin = Plugin::default();
            assert_eq!(plugin.configure("header", "X-Test"), Ok(()));
            assert_eq!(plugin.header, "x-test");
        }

        #[test]
        fn refuses_unknown_keys() {
            assert!(Plugin::default().configure("colour", "red").is_err());
        }
    }

    """#
}
