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
