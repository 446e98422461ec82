use std::os::raw::{c_char, c_void};

impl rpcurl_text {
    /// The text of a string, valid while the string is.
    pub const fn of(text: &str) -> Self {
        rpcurl_text { data: text.as_ptr() as *const c_char, size: text.len() }
    }

    /// The bytes.
    ///
    /// # Safety
    /// The text is valid for as long as its documentation states.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.size == 0 {
            return &[];
        }
        std::slice::from_raw_parts(self.data as *const u8, self.size)
    }

    /// The text; empty if it is not UTF-8.
    ///
    /// # Safety
    /// As for `bytes`.
    pub unsafe fn as_str<'a>(self) -> &'a str {
        std::str::from_utf8(self.bytes()).unwrap_or("")
    }
}

/// Sets the reason of a failure, and returns RPCURL_EFAILED. [any]
///
/// # Safety
/// `host` is the host of the plugin.
pub unsafe fn fail(host: *const rpcurl_host, reason: &str) -> i32 {
    ((*host).set_error)(host, rpcurl_text::of(reason));
    RPCURL_EFAILED
}

/// Writes a line to the host's log. [any]
///
/// # Safety
/// `host` is the host of the plugin.
pub unsafe fn log(host: *const rpcurl_host, level: u32, line: &str) {
    ((*host).log)(host, level, rpcurl_text::of(line));
}

/// Runs the body of a callback. A panic, which must not leave it, becomes a failure. [any]
///
/// # Safety
/// `host` is the host of the plugin.
pub unsafe fn guard(host: *const rpcurl_host, body: impl FnOnce() -> i32) -> i32 {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(_) => fail(host, "the plugin panicked"),
    }
}

// The plugin's description is constant.
unsafe impl Sync for rpcurl_plugin {}

/// A description without a name and without callbacks: `rpcurl_plugin { name: ..., ..PLUGIN }`.
pub const PLUGIN: rpcurl_plugin = {
    const SIZE: usize = std::mem::size_of::<rpcurl_plugin>();
    // Null pointers, and no callbacks.
    let mut plugin = unsafe { std::mem::transmute::<[u8; SIZE], rpcurl_plugin>([0; SIZE]) };
    plugin.abi_major = RPCURL_ABI_MAJOR;
    plugin.abi_minor = RPCURL_ABI_MINOR;
    plugin.struct_size = SIZE;
    plugin.known_stages = RPCURL_STAGES_ALL;
    // Every function of this file is used without a further check.
    plugin.min_minor = RPCURL_ABI_MINOR;
    plugin
};

/// The ELF note with the version, which the host reads before it runs any code.
#[repr(C)]
pub struct Note {
    pub sizes_and_type: [u32; 3],
    pub name: [u8; 8],
    pub versions: [u32; 3],
}

/// Makes a description the plugin of this shared object. Use once, in the root of the crate.
macro_rules! export_plugin {
    ($plugin:expr) => {
        #[used]
        #[link_section = ".note.rpcurl"]
        static RPCURL_NOTE: rpcurl::Note = rpcurl::Note {
            sizes_and_type: [7, 12, rpcurl::RPCURL_NOTE_TYPE],
            name: *b"rpcurl\0\0",
            versions: [rpcurl::RPCURL_ABI_MAJOR, rpcurl::RPCURL_ABI_MINOR, rpcurl::RPCURL_ABI_MINOR],
        };
        static RPCURL_PLUGIN: rpcurl::rpcurl_plugin = $plugin;

        /// The entry point that rpcurl looks up.
        #[no_mangle]
        pub extern "C" fn rpcurl_plugin_entry() -> *const rpcurl::rpcurl_plugin {
            &RPCURL_PLUGIN
        }
    };
}
