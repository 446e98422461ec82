// rpcurl/plugin.h in Rust; the comments of the declarations are there. Written by generate.py.

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

pub const RPCURL_ABI_MAJOR: u32 = 1;
pub const RPCURL_ABI_MINOR: u32 = 0;
pub const RPCURL_MIN_MINOR: u32 = 0;
pub const RPCURL_OK: i32 = 0;
pub const RPCURL_LATER: i32 = 1;
pub const RPCURL_DECLINE: i32 = 2;
pub const RPCURL_EINVAL: i32 = -1;
pub const RPCURL_EUSED: i32 = -2;
pub const RPCURL_EUNKNOWN: i32 = -3;
pub const RPCURL_EENDED: i32 = -4;
pub const RPCURL_ESTAGE: i32 = -5;
pub const RPCURL_ENOENT: i32 = -6;
pub const RPCURL_EPATH: i32 = -7;
pub const RPCURL_ETYPE: i32 = -8;
pub const RPCURL_ERANGE: i32 = -9;
pub const RPCURL_EPARSE: i32 = -10;
pub const RPCURL_EUNSUPPORTED: i32 = -11;
pub const RPCURL_EFAILED: i32 = -12;
pub const RPCURL_ETHREAD: i32 = -13;
pub const RPCURL_ESTARTED: i32 = -14;
pub const RPCURL_EREPLAY: i32 = -15;
pub const RPCURL_EDEADLINE: i32 = -16;
pub const RPCURL_TYPE_BOOL: u32 = 1;
pub const RPCURL_TYPE_INT64: u32 = 2;
pub const RPCURL_TYPE_UINT64: u32 = 3;
pub const RPCURL_TYPE_DOUBLE: u32 = 4;
pub const RPCURL_TYPE_STRING: u32 = 5;
pub const RPCURL_TYPE_BYTES: u32 = 6;
pub const RPCURL_TYPE_ENUM: u32 = 7;
pub const RPCURL_KIND_UNARY: u32 = 0;
pub const RPCURL_KIND_CLIENT_STREAMING: u32 = 1;
pub const RPCURL_KIND_SERVER_STREAMING: u32 = 2;
pub const RPCURL_KIND_BIDI_STREAMING: u32 = 3;
pub const RPCURL_IDEMPOTENCY_UNKNOWN: u32 = 0;
pub const RPCURL_IDEMPOTENCY_NO_SIDE_EFFECTS: u32 = 1;
pub const RPCURL_IDEMPOTENCY_IDEMPOTENT: u32 = 2;
pub const RPCURL_ORIGIN_NONE: u32 = 0;
pub const RPCURL_ORIGIN_SERVER: u32 = 1;
pub const RPCURL_ORIGIN_VIOLATION: u32 = 2;
pub const RPCURL_ORIGIN_CONNECTION: u32 = 3;
pub const RPCURL_ORIGIN_PROXY: u32 = 4;
pub const RPCURL_ORIGIN_TLS: u32 = 5;
pub const RPCURL_ORIGIN_REQUEST: u32 = 6;
pub const RPCURL_ORIGIN_INTERCEPTOR: u32 = 7;
pub const RPCURL_ORIGIN_CLIENT: u32 = 8;
pub const RPCURL_ORIGIN_CONFIGURATION: u32 = 9;
pub const RPCURL_STATUS_OK: i32 = 0;
pub const RPCURL_STATUS_CANCELED: i32 = 1;
pub const RPCURL_STATUS_UNKNOWN: i32 = 2;
pub const RPCURL_STATUS_INVALID_ARGUMENT: i32 = 3;
pub const RPCURL_STATUS_DEADLINE_EXCEEDED: i32 = 4;
pub const RPCURL_STATUS_NOT_FOUND: i32 = 5;
pub const RPCURL_STATUS_ALREADY_EXISTS: i32 = 6;
pub const RPCURL_STATUS_PERMISSION_DENIED: i32 = 7;
pub const RPCURL_STATUS_RESOURCE_EXHAUSTED: i32 = 8;
pub const RPCURL_STATUS_FAILED_PRECONDITION: i32 = 9;
pub const RPCURL_STATUS_ABORTED: i32 = 10;
pub const RPCURL_STATUS_OUT_OF_RANGE: i32 = 11;
pub const RPCURL_STATUS_UNIMPLEMENTED: i32 = 12;
pub const RPCURL_STATUS_INTERNAL: i32 = 13;
pub const RPCURL_STATUS_UNAVAILABLE: i32 = 14;
pub const RPCURL_STATUS_DATA_LOSS: i32 = 15;
pub const RPCURL_STATUS_UNAUTHENTICATED: i32 = 16;
pub const RPCURL_FIELD_REPEATED: u32 = 1;
pub const RPCURL_FIELD_MAP: u32 = 2;
pub const RPCURL_FIELD_PRESENCE: u32 = 4;
pub const RPCURL_FIELD_REQUIRED: u32 = 8;
pub const RPCURL_FORM_SERIALIZED: u32 = 0;
pub const RPCURL_FORM_JSON: u32 = 1;
pub const RPCURL_FORM_BINARY: u32 = 2;
pub const RPCURL_FORM_MESSAGE: u32 = 3;
pub const RPCURL_MESSAGES_CHANGE_TYPED: u32 = 0;
pub const RPCURL_MESSAGES_NONE: u32 = 1;
pub const RPCURL_MESSAGES_READ_TYPED: u32 = 2;
pub const RPCURL_MESSAGES_READ_BYTES: u32 = 3;
pub const RPCURL_MESSAGES_CHANGE_BYTES: u32 = 4;
pub const RPCURL_MESSAGES_OPAQUE: u32 = 5;
pub const RPCURL_MESSAGES_DECODE: u32 = 6;
pub const RPCURL_STAGE_REQUEST_START: u64 = 1 << 0;
pub const RPCURL_STAGE_REQUEST_MESSAGE: u64 = 1 << 1;
pub const RPCURL_STAGE_REQUEST_END: u64 = 1 << 2;
pub const RPCURL_STAGE_RESPONSE_START: u64 = 1 << 3;
pub const RPCURL_STAGE_RESPONSE_MESSAGE: u64 = 1 << 4;
pub const RPCURL_STAGE_RESPONSE_END: u64 = 1 << 5;
pub const RPCURL_STAGE_ATTEMPT_END: u64 = 1 << 6;
pub const RPCURL_STAGE_METRICS: u64 = 1 << 7;
pub const RPCURL_STAGES_ALL: u64 = 0xff;
pub const RPCURL_DIRECTION_REQUEST: u32 = 0;
pub const RPCURL_DIRECTION_RESPONSE: u32 = 1;
pub const RPCURL_FINDING_NOTE: u32 = 0;
pub const RPCURL_FINDING_FAILURE: u32 = 1;
pub const RPCURL_FINDING_EXPECTED: u32 = 2;
pub const RPCURL_LOG_DEBUG: u32 = 0;
pub const RPCURL_LOG_INFO: u32 = 1;
pub const RPCURL_LOG_WARNING: u32 = 2;
pub const RPCURL_LOG_ERROR: u32 = 3;
pub const RPCURL_MUST_SEE_ALL: u64 = 1 << 0;
pub const RPCURL_FLAGS_MUST_UNDERSTAND: u64 = 0xffffffff;
pub const RPCURL_READS_HEADERS: u64 = 1 << 32;
pub const RPCURL_CHANGES_HEADERS: u64 = 1 << 33;
pub const RPCURL_READS_MESSAGES: u64 = 1 << 34;
pub const RPCURL_CHANGES_MESSAGES: u64 = 1 << 35;
pub const RPCURL_REDACTS: u64 = 1 << 36;
pub const RPCURL_EXPORTS: u64 = 1 << 37;
pub const RPCURL_AUTHENTICATES: u64 = 1 << 38;
pub const RPCURL_RESPONDS: u64 = 1 << 39;
pub const RPCURL_REUSES_RESPONSES: u64 = 1 << 40;
pub const RPCURL_REPEATS_ATTEMPTS: u64 = 1 << 41;
pub const RPCURL_INJECTS_FAILURES: u64 = 1 << 42;
pub const RPCURL_CHECKS_RESULTS: u64 = 1 << 43;
pub const RPCURL_EXTENSION_CHECK: &str = "rpcurl.check/1";
pub const RPCURL_ENTRY_SYMBOL: &str = "rpcurl_plugin_entry";
pub const RPCURL_NOTE_NAME: &str = "rpcurl";
pub const RPCURL_NOTE_TYPE: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_text {
    pub data: *const c_char,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_call {
    pub id: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_token {
    pub id: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_field {
    pub name: rpcurl_text,
    pub value: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union rpcurl_value_as {
    pub boolean: i32,
    pub int64: i64,
    pub uint64: u64,
    pub float64: f64,
    pub number: i32,
    pub text: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_value {
    pub type_: u32,
    pub reserved: u32,
    pub as_: rpcurl_value_as,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_call_facts {
    pub struct_size: usize,
    pub kind: u32,
    pub attempt: u32,
    pub idempotency: u32,
    pub is_own_call: u32,
    pub method: rpcurl_text,
    pub protocol: rpcurl_text,
    pub codec: rpcurl_text,
    pub target: rpcurl_text,
    pub request_type: rpcurl_text,
    pub response_type: rpcurl_text,
    pub method_options: rpcurl_text,
    pub compression: rpcurl_text,
    pub content_type: rpcurl_text,
    pub host: rpcurl_text,
    pub timeout_ns: i64,
    pub headers: *const rpcurl_field,
    pub header_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_detail {
    pub struct_size: usize,
    pub type_name: rpcurl_text,
    pub value: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_status {
    pub struct_size: usize,
    pub code: i32,
    pub origin: u32,
    pub message: rpcurl_text,
    pub origin_name: rpcurl_text,
    pub details: *const rpcurl_detail,
    pub detail_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_metrics {
    pub struct_size: usize,
    pub total_ns: i64,
    pub resolve_ns: i64,
    pub connect_ns: i64,
    pub tls_ns: i64,
    pub first_byte_ns: i64,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub sent_messages: u64,
    pub received_messages: u64,
    pub attempts: u64,
    pub sent_message_bytes: u64,
    pub received_message_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_attempt {
    pub struct_size: usize,
    pub status: *const rpcurl_status,
    pub numbers: *const u32,
    pub number_count: usize,
    pub wait_ns: i64,
    pub peer: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_outcome {
    pub struct_size: usize,
    pub status: *const rpcurl_status,
    pub metrics: *const rpcurl_metrics,
    pub trailers: *const rpcurl_field,
    pub trailer_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_field_type {
    pub struct_size: usize,
    pub name: rpcurl_text,
    pub json_name: rpcurl_text,
    pub number: u32,
    pub kind: u32,
    pub key_kind: u32,
    pub properties: u32,
    pub type_name: rpcurl_text,
    pub oneof: rpcurl_text,
    pub options: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_message_type {
    pub struct_size: usize,
    pub name: rpcurl_text,
    pub fields: *const rpcurl_field_type,
    pub field_count: usize,
    pub options: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_enum_value {
    pub struct_size: usize,
    pub name: rpcurl_text,
    pub number: i32,
    pub reserved: u32,
    pub options: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_enum_type {
    pub struct_size: usize,
    pub name: rpcurl_text,
    pub values: *const rpcurl_enum_value,
    pub value_count: usize,
    pub options: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_method_type {
    pub struct_size: usize,
    pub name: rpcurl_text,
    pub kind: u32,
    pub idempotency: u32,
    pub request_type: rpcurl_text,
    pub response_type: rpcurl_text,
    pub options: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_service_type {
    pub struct_size: usize,
    pub name: rpcurl_text,
    pub methods: *const rpcurl_method_type,
    pub method_count: usize,
    pub options: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_local_message {
    pub struct_size: usize,
    pub form: u32,
    pub reserved: u32,
    pub content: rpcurl_text,
    pub message: rpcurl_token,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_response {
    pub struct_size: usize,
    pub headers: *const rpcurl_field,
    pub header_count: usize,
    pub messages: *const rpcurl_local_message,
    pub message_count: usize,
    pub code: i32,
    pub reserved: u32,
    pub message: rpcurl_text,
    pub details: *const rpcurl_detail,
    pub detail_count: usize,
    pub trailers: *const rpcurl_field,
    pub trailer_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_failure {
    pub struct_size: usize,
    pub code: i32,
    pub reserved: u32,
    pub message: rpcurl_text,
    pub details: *const rpcurl_detail,
    pub detail_count: usize,
    pub trailers: *const rpcurl_field,
    pub trailer_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_response_start {
    pub struct_size: usize,
    pub http_status: i32,
    pub reserved: u32,
    pub http_version: rpcurl_text,
    pub peer: rpcurl_text,
    pub tls_version: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_start {
    pub struct_size: usize,
    pub target: rpcurl_text,
    pub timeout_ns: i64,
    pub method: rpcurl_text,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_timer {
    pub id: u64,
}

pub type rpcurl_function = Option<unsafe extern "C" fn(host: *const rpcurl_host, argument: *mut c_void)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_own_call {
    pub struct_size: usize,
    pub method: rpcurl_text,
    pub target: rpcurl_text,
    pub headers: *const rpcurl_field,
    pub header_count: usize,
    pub message: *const rpcurl_local_message,
    pub timeout_ns: i64,
    pub response_form: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_own_response {
    pub struct_size: usize,
    pub status: *const rpcurl_status,
    pub message: rpcurl_text,
    pub headers: *const rpcurl_field,
    pub header_count: usize,
    pub trailers: *const rpcurl_field,
    pub trailer_count: usize,
    pub fields: rpcurl_token,
}

pub type rpcurl_done = Option<unsafe extern "C" fn(host: *const rpcurl_host, argument: *mut c_void, response: *const rpcurl_own_response)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_stream {
    pub id: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_stream_events {
    pub struct_size: usize,
    pub started: Option<unsafe extern "C" fn(host: *const rpcurl_host, argument: *mut c_void, headers: *const rpcurl_field, header_count: usize)>,
    pub message: Option<unsafe extern "C" fn(host: *const rpcurl_host, argument: *mut c_void, message: rpcurl_text)>,
    pub wanted: Option<unsafe extern "C" fn(host: *const rpcurl_host, argument: *mut c_void, is_wanted: u32)>,
    pub ended: Option<unsafe extern "C" fn(host: *const rpcurl_host, argument: *mut c_void, response: *const rpcurl_own_response)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_fetch {
    pub struct_size: usize,
    pub method: rpcurl_text,
    pub url: rpcurl_text,
    pub headers: *const rpcurl_field,
    pub header_count: usize,
    pub body: rpcurl_text,
    pub timeout_ns: i64,
    pub max_body_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_fetch_response {
    pub struct_size: usize,
    pub status: *const rpcurl_status,
    pub http_status: i32,
    pub reserved: u32,
    pub headers: *const rpcurl_field,
    pub header_count: usize,
    pub body: rpcurl_text,
}

pub type rpcurl_fetched = Option<unsafe extern "C" fn(host: *const rpcurl_host, argument: *mut c_void, response: *const rpcurl_fetch_response)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_needs {
    pub struct_size: usize,
    pub replay_limit_bytes: u64,
    pub window_bytes: u64,
    pub is_serial: u32,
    pub collects: u32,
    pub request_messages: u32,
    pub response_messages: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_host {
    pub abi_major: u32,
    pub abi_minor: u32,
    pub struct_size: usize,
    pub name: *const c_char,
    pub version: *const c_char,
    pub reserved: *mut c_void,
    pub log: unsafe extern "C" fn(host: *const rpcurl_host, level: u32, text: rpcurl_text) -> i32,
    pub set_error: unsafe extern "C" fn(host: *const rpcurl_host, text: rpcurl_text) -> i32,
    pub last_error: unsafe extern "C" fn(host: *const rpcurl_host) -> rpcurl_text,
    pub get_extension: unsafe extern "C" fn(host: *const rpcurl_host, name: rpcurl_text) -> *const c_void,
    pub alloc: unsafe extern "C" fn(host: *const rpcurl_host, size: usize) -> *mut c_void,
    pub free: unsafe extern "C" fn(host: *const rpcurl_host, memory: *mut c_void),
    pub call_facts: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, facts: *mut rpcurl_call_facts) -> i32,
    pub cancel: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, reason: rpcurl_text) -> i32,
    pub report: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, kind: u32, text: rpcurl_text) -> i32,
    pub metric_add: unsafe extern "C" fn(host: *const rpcurl_host, name: rpcurl_text, number: f64) -> i32,
    pub share_set: unsafe extern "C" fn(host: *const rpcurl_host, name: rpcurl_text, text: rpcurl_text) -> i32,
    pub share_get: unsafe extern "C" fn(host: *const rpcurl_host, name: rpcurl_text, text: *mut rpcurl_text) -> i32,
    pub attribute_get: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, key: rpcurl_text, value: *mut rpcurl_text) -> i32,
    pub attribute_set: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, key: rpcurl_text, value: rpcurl_text) -> i32,
    pub attribute_remove: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, key: rpcurl_text) -> i32,
    pub message_type: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, name: rpcurl_text, type_: *mut *const rpcurl_message_type) -> i32,
    pub enum_type: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, name: rpcurl_text, type_: *mut *const rpcurl_enum_type) -> i32,
    pub service_type: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, name: rpcurl_text, type_: *mut *const rpcurl_service_type) -> i32,
    pub schema: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, descriptor_set: *mut rpcurl_text) -> i32,
    pub after: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, after_ns: i64, function: rpcurl_function, argument: *mut c_void, timer: *mut rpcurl_timer) -> i32,
    pub cancel_timer: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, timer: rpcurl_timer) -> i32,
    pub post: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, function: rpcurl_function, argument: *mut c_void) -> i32,
    pub call: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, own: *const rpcurl_own_call, done: rpcurl_done, argument: *mut c_void) -> i32,
    pub open_stream: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, kind: u32, own: *const rpcurl_own_call, events: *const rpcurl_stream_events, argument: *mut c_void, stream: *mut rpcurl_stream) -> i32,
    pub stream_send: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, stream: rpcurl_stream, message: *const rpcurl_local_message) -> i32,
    pub stream_finish: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, stream: rpcurl_stream) -> i32,
    pub stream_pause: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, stream: rpcurl_stream, is_paused: u32) -> i32,
    pub stream_cancel: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, stream: rpcurl_stream) -> i32,
    pub fetch: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, fetch: *const rpcurl_fetch, done: rpcurl_fetched, argument: *mut c_void) -> i32,
    pub proceed: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token) -> i32,
    pub fail: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, code: i32, message: rpcurl_text) -> i32,
    pub fail_with: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, failure: *const rpcurl_failure) -> i32,
    pub respond: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, response: *const rpcurl_response) -> i32,
    pub drop: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token) -> i32,
    pub retry: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, after_ns: i64, headers: *const rpcurl_field, header_count: usize) -> i32,
    pub message_new: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, name: rpcurl_text, message: *mut rpcurl_token) -> i32,
    pub message_free: unsafe extern "C" fn(host: *const rpcurl_host, message: rpcurl_token) -> i32,
    pub inject: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, message: *const rpcurl_local_message) -> i32,
    pub inject_request: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, message: *const rpcurl_local_message) -> i32,
    pub inject_response: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, message: *const rpcurl_local_message) -> i32,
    pub start_response: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, headers: *const rpcurl_field, header_count: usize) -> i32,
    pub when_wanted: unsafe extern "C" fn(host: *const rpcurl_host, call: rpcurl_call, direction: u32, function: rpcurl_function, argument: *mut c_void) -> i32,
    pub get_start: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, start: *mut rpcurl_start) -> i32,
    pub set_target: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, target: rpcurl_text) -> i32,
    pub set_timeout: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, timeout_ns: i64) -> i32,
    pub set_method: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, method: rpcurl_text) -> i32,
    pub header_count: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token) -> i64,
    pub header_at: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, index: usize, field: *mut rpcurl_field) -> i32,
    pub header_first: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, name: rpcurl_text, value: *mut rpcurl_text) -> i32,
    pub header_set: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, name: rpcurl_text, value: rpcurl_text) -> i32,
    pub header_add: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, name: rpcurl_text, value: rpcurl_text) -> i32,
    pub header_remove: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, name: rpcurl_text) -> i64,
    pub get: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, value: *mut rpcurl_value) -> i32,
    pub set: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, value: *const rpcurl_value) -> i32,
    pub append: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, value: *const rpcurl_value) -> i32,
    pub clear: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text) -> i32,
    pub has: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text) -> i32,
    pub length: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text) -> i64,
    pub field_at: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, index: usize, field: *mut rpcurl_text) -> i32,
    pub key_at: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, index: usize, key: *mut rpcurl_value) -> i32,
    pub which: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, field: *mut rpcurl_text) -> i32,
    pub get_enum: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, name: *mut rpcurl_text) -> i32,
    pub set_enum: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, name: rpcurl_text) -> i32,
    pub get_json: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, json: *mut rpcurl_text) -> i32,
    pub set_json: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, json: rpcurl_text) -> i32,
    pub append_json: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, path: rpcurl_text, json: rpcurl_text) -> i32,
    pub get_payload: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, bytes: *mut rpcurl_text) -> i32,
    pub set_payload: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, bytes: rpcurl_text) -> i32,
    pub get_response: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, response: *mut rpcurl_response_start) -> i32,
    pub get_status: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, status: *mut rpcurl_status) -> i32,
    pub set_status: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, code: i32, message: rpcurl_text) -> i32,
    pub detail_add: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, detail: *const rpcurl_detail) -> i32,
    pub details_clear: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token) -> i64,
    pub get_metrics: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, metrics: *mut rpcurl_metrics) -> i32,
    pub set_metrics: unsafe extern "C" fn(host: *const rpcurl_host, token: rpcurl_token, metrics: *const rpcurl_metrics) -> i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_plugin {
    pub abi_major: u32,
    pub abi_minor: u32,
    pub struct_size: usize,
    pub known_stages: u64,
    pub min_minor: u32,
    pub reserved: u32,
    pub flags: u64,
    pub name: *const c_char,
    pub version: *const c_char,
    pub summary: *const c_char,
    pub config_help: *const c_char,
    pub request_messages: u32,
    pub response_messages: u32,
    pub load: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut *mut c_void) -> i32>,
    pub configure: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut c_void, key: rpcurl_text, value: rpcurl_text) -> i32>,
    pub ready: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut c_void) -> i32>,
    pub possible_stages: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut c_void) -> u64>,
    pub get_extension: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut c_void, name: rpcurl_text) -> *const c_void>,
    pub conclude: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut c_void)>,
    pub unload: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut c_void)>,
    pub open: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut c_void, call: rpcurl_call, state: *mut *mut c_void) -> i32>,
    pub stages: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void) -> u64>,
    pub needs: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, needs: *mut rpcurl_needs) -> i32>,
    pub request_start: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, token: rpcurl_token) -> i32>,
    pub request_message: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, token: rpcurl_token) -> i32>,
    pub request_end: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, token: rpcurl_token) -> i32>,
    pub response_start: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, token: rpcurl_token) -> i32>,
    pub response_message: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, token: rpcurl_token) -> i32>,
    pub response_end: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, token: rpcurl_token) -> i32>,
    pub attempt_end: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, attempt: *const rpcurl_attempt)>,
    pub metrics: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, token: rpcurl_token) -> i32>,
    pub close: Option<unsafe extern "C" fn(host: *const rpcurl_host, state: *mut c_void, call: rpcurl_call, outcome: *const rpcurl_outcome)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rpcurl_check {
    pub struct_size: usize,
    pub run: Option<unsafe extern "C" fn(host: *const rpcurl_host, plugin: *mut c_void) -> i32>,
}

sized! {
    rpcurl_call_facts,
    rpcurl_detail,
    rpcurl_status,
    rpcurl_metrics,
    rpcurl_attempt,
    rpcurl_outcome,
    rpcurl_field_type,
    rpcurl_message_type,
    rpcurl_enum_value,
    rpcurl_enum_type,
    rpcurl_method_type,
    rpcurl_service_type,
    rpcurl_local_message,
    rpcurl_response,
    rpcurl_failure,
    rpcurl_response_start,
    rpcurl_start,
    rpcurl_own_call,
    rpcurl_own_response,
    rpcurl_stream_events,
    rpcurl_fetch,
    rpcurl_fetch_response,
    rpcurl_needs,
    rpcurl_check,
}
