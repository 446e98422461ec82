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
            Err(error) => panic!("cannot run pkg-config: {error}"),
            Ok(_) => panic!(
                "pkg-config does not find rpcurl: install rpcurl-dev or rpcurl-devel, use make, or set PKG_CONFIG_PATH"
            ),
        };
        println!("cargo:rustc-env=RPCURL_RUST={folder}/rpcurl.rs");
        println!("cargo:rerun-if-changed={folder}/rpcurl.rs");
        println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    }

    """#

  private static let makefile = """
    # make         builds @NAME@.so
    # make test    runs its tests and rpcurl plugins check, with the configuration CONFIG
    CONFIG ?= name=x-test
    CARGO ?= cargo
    RPCURL ?= rpcurl
    \(findsRpcurl("KIT", "rustkit"))

    # Built under another name and renamed, so that no process loads an incomplete file.
    @NAME@.so: Cargo.toml build.rs $(shell find src -type f) $(KIT)/rpcurl.rs
    \t$(CARGO) build --offline --release
    \tcp target/release/lib@CRATE@.so $@.new
    \tmv -f $@.new $@

    test check: @NAME@.so
    \t$(CARGO) test --offline
    \(checksPlugin)

    clean:
    \trm -rf @NAME@.so target

    .PHONY: test check clean

    """

  private static let library = #"""
    //! @NAME@: adds a header to each request.
    //!
    //!     make && rpcurl --plugin ./@NAME@.so,name=x-test ...
    //!
    //! rpcurl-plugin(3) and rpcurl/plugin.h describe everything that a plugin can do.

    #[allow(dead_code, non_camel_case_types, unused_macros)]
    #[macro_use]
    mod rpcurl {
        include!(env!("RPCURL_RUST"));
    }

    use rpcurl::*;
    use std::ffi::c_void;

    /// The configuration. The host makes one for each use of the plugin on the chain.
    #[derive(Default)]
    struct Plugin {
        name: String,
    }

    impl Plugin {
        /// Sets a key.
        fn configure(&mut self, key: &str, value: &str) -> Result<(), String> {
            match (key, value) {
                ("name", "") => Err("is empty".to_string()),
                ("name", name) => {
                    self.name = name.to_lowercase();
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
        match (*(plugin as *mut Plugin)).name.as_str() {
            "" => fail(host, "needs name=TEXT"),
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
        stage(host, token, || {
            let name = rpcurl_text::of(&(*(state as *const Plugin)).name);
            check(host, ((*host).header_set)(host, token, name, rpcurl_text::of("1")))?;
            Ok(Verdict::Proceed)
        })
    }

    export_plugin!(rpcurl_plugin {
        name: c_text!("@NAME@"),
        version: c_text!("0.1"),
        summary: c_text!("adds a header to each request"),
        config_help: c_text!("name=TEXT    the name of the header to add"),
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
        fn names_are_lower_case() {
            let mut plugin = Plugin::default();
            assert_eq!(plugin.configure("name", "X-Test"), Ok(()));
            assert_eq!(plugin.name, "x-test");
        }

        #[test]
        fn refuses_unknown_keys() {
            assert!(Plugin::default().configure("colour", "red").is_err());
        }
    }

    """#
}
