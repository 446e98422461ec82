use std::os::raw::{c_char, c_void};
use std::time::Duration;

/// No call: after, cancel_timer, post, call and fetch accept it, and are then outside of calls.
pub const RPCURL_NO_CALL: rpcurl_call = rpcurl_call { id: 0 };

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

/// The result of a host function, or the message of its error. [any]
///
/// # Safety
/// `host` is the host of the plugin.
pub unsafe fn check(host: *const rpcurl_host, result: i32) -> Result<i32, String> {
    if result >= 0 {
        return Ok(result);
    }
    Err(((*host).last_error)(host).as_str().to_string())
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

/// What a stage does with its value.
pub enum Verdict<'a> {
    /// Forwards the value, with the changes made to it.
    Proceed,
    /// Keeps the token, which is used later.
    Later,
    /// Removes the message; message stages only.
    Drop,
    /// Fails the call with RPCURL_STATUS_... and a message.
    Fail(i32, String),
    /// Responds without the network; request stages only.
    Respond(&'a rpcurl_response),
    /// Sends the request again after a pause; response stages only. The headers replace those with their names in the
    /// request, from the next attempt on.
    Retry(Duration, &'a [rpcurl_field]),
}

/// Runs the body of a stage's callback, and applies its verdict. An error or a panic fails the call. [loop]
///
/// # Safety
/// `host` and `token` are those of the callback.
pub unsafe fn stage<'a>(
    host: *const rpcurl_host,
    token: rpcurl_token,
    body: impl FnOnce() -> Result<Verdict<'a>, String>,
) -> i32 {
    guard(host, || match body() {
        Ok(Verdict::Proceed) => RPCURL_OK,
        Ok(verdict) => settle(host, token, verdict),
        Err(reason) => fail(host, &reason),
    })
}

/// Uses a token that was kept, or that of a callback. Returns the result of the host's function. [any]
///
/// # Safety
/// `host` is the host of the plugin.
pub unsafe fn settle(host: *const rpcurl_host, token: rpcurl_token, verdict: Verdict) -> i32 {
    match verdict {
        Verdict::Proceed => ((*host).proceed)(host, token),
        Verdict::Later => RPCURL_LATER,
        Verdict::Drop => ((*host).drop)(host, token),
        Verdict::Fail(code, message) => ((*host).fail)(host, token, code, rpcurl_text::of(&message)),
        Verdict::Respond(response) => ((*host).respond)(host, token, response),
        Verdict::Retry(pause, headers) => {
            let pause = i64::try_from(pause.as_nanos()).unwrap_or(i64::MAX);
            ((*host).retry)(host, token, pause, headers.as_ptr(), headers.len())
        }
    }
}

/// The element at an index of an array whose elements start with their size, as RPCURL_AT.
///
/// # Safety
/// The array has such an element.
pub unsafe fn at<'a, T>(array: *const T, index: usize) -> &'a T {
    let stride = *(array as *const usize);
    &*((array as *const u8).add(index * stride) as *const T)
}

/// The default of structures that start with their size: `rpcurl_status { code: 5, ..Default::default() }`. Pointers are
/// null, and numbers 0.
macro_rules! sized {
    ($($name:ident,)*) => {
        $(impl Default for $name {
            fn default() -> Self {
                // Null pointers, and numbers.
                let mut value = unsafe { std::mem::zeroed::<$name>() };
                value.struct_size = std::mem::size_of::<$name>();
                value
            }
        })*
    };
}

/// A literal that ends with a zero, for the members of rpcurl_plugin.
macro_rules! c_text {
    ($text:expr) => {
        concat!($text, "\0").as_ptr() as *const std::os::raw::c_char
    };
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
