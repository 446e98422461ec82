// Uses the functions of the header for attributes, methods, own messages, attempts, and what is outside of calls.
#[allow(dead_code, non_camel_case_types, unused_macros)]
#[macro_use]
mod rpcurl {
    include!(env!("RPCURL_RUST"));
}

use rpcurl::*;
use std::ffi::c_void;
use std::time::Duration;

type Host = *const rpcurl_host;

#[derive(Default)]
struct Plugin {
    url: String,
}

struct State {
    start: rpcurl_token,
    message: rpcurl_token,
    has_retried: bool,
}

unsafe fn info(host: Host, text: &str) {
    log(host, RPCURL_LOG_INFO, text);
}

unsafe extern "C" fn load(_host: Host, plugin: *mut *mut c_void) -> i32 {
    *plugin = Box::into_raw(Box::<Plugin>::default()) as *mut c_void;
    RPCURL_OK
}

unsafe extern "C" fn configure(_host: Host, plugin: *mut c_void, _key: rpcurl_text, value: rpcurl_text) -> i32 {
    (*(plugin as *mut Plugin)).url = value.as_str().to_string();
    RPCURL_OK
}

unsafe extern "C" fn posted(host: Host, _argument: *mut c_void) {
    info(host, "posted");
}

unsafe extern "C" fn fired(host: Host, argument: *mut c_void) {
    info(host, if argument.is_null() { "timer" } else { "cancelled timer" });
}

unsafe extern "C" fn fetched(host: Host, _argument: *mut c_void, response: *const rpcurl_fetch_response) {
    info(host, &format!("fetched {} {}", (*(*response).status).code, (*response).http_status));
}

unsafe extern "C" fn ready(host: Host, plugin: *mut c_void) -> i32 {
    guard(host, || match prepare(host, &*(plugin as *const Plugin)) {
        Ok(()) => RPCURL_OK,
        Err(reason) => fail(host, &reason),
    })
}

unsafe fn prepare(host: Host, plugin: &Plugin) -> Result<(), String> {
    let functions = &*host;
    let mut text = rpcurl_text::of("");
    check(host, (functions.share_set)(host, rpcurl_text::of("kit"), rpcurl_text::of("rust")))?;
    check(host, (functions.share_get)(host, rpcurl_text::of("kit"), &mut text))?;
    let shared = text.as_str().to_string();
    let is_missing = (functions.share_get)(host, rpcurl_text::of("none"), &mut text) == RPCURL_ENOENT;
    info(host, &format!("shared {shared}, none {is_missing}"));
    let nothing = std::ptr::null_mut();
    check(host, (functions.post)(host, RPCURL_NO_CALL, Some(posted), nothing))?;
    check(host, (functions.after)(host, RPCURL_NO_CALL, 0, Some(fired), nothing, std::ptr::null_mut()))?;
    let mut timer = rpcurl_timer { id: 0 };
    let argument = host as *mut c_void;
    check(host, (functions.after)(host, RPCURL_NO_CALL, 0, Some(fired), argument, &mut timer))?;
    check(host, (functions.cancel_timer)(host, RPCURL_NO_CALL, timer))?;
    let fetch = rpcurl_fetch { url: rpcurl_text::of(&plugin.url), ..Default::default() };
    check(host, (functions.fetch)(host, RPCURL_NO_CALL, &fetch, Some(fetched), nothing))?;
    Ok(())
}

unsafe extern "C" fn possible_stages(_host: Host, _plugin: *mut c_void) -> u64 {
    RPCURL_STAGE_REQUEST_START | RPCURL_STAGE_RESPONSE_START | RPCURL_STAGE_ATTEMPT_END | RPCURL_STAGE_METRICS
}

unsafe extern "C" fn concluded(host: Host, _argument: *mut c_void, response: *const rpcurl_own_response) {
    info(host, &format!("call {} {}", (*(*response).status).code, (*response).message.as_str()));
}

unsafe extern "C" fn conclude(host: Host, _plugin: *mut c_void) {
    let message = rpcurl_local_message {
        form: RPCURL_FORM_JSON,
        content: rpcurl_text::of("{\"name\":\"outside\"}"),
        ..Default::default()
    };
    let own = rpcurl_own_call {
        method: rpcurl_text::of("demo.v1.Demo/Hello"),
        message: &message,
        response_form: RPCURL_FORM_JSON,
        ..Default::default()
    };
    if let Err(reason) = check(host, ((*host).call)(host, RPCURL_NO_CALL, &own, Some(concluded), std::ptr::null_mut())) {
        info(host, &reason);
    }
}

unsafe extern "C" fn unload(host: Host, plugin: *mut c_void) {
    drop(Box::from_raw(plugin as *mut Plugin));
    info(host, &format!("ended {}", ((*host).post)(host, RPCURL_NO_CALL, Some(posted), std::ptr::null_mut()) < 0));
}

unsafe extern "C" fn open(host: Host, _plugin: *mut c_void, call: rpcurl_call, state: *mut *mut c_void) -> i32 {
    let mut facts = rpcurl_call_facts::default();
    let result = ((*host).call_facts)(host, call, &mut facts);
    if result < 0 {
        return result;
    }
    let headers = if facts.header_count == 0 { &[] } else { std::slice::from_raw_parts(facts.headers, facts.header_count) };
    let sent = headers.iter().any(|field| field.name.as_str() == "x-sent");
    let compression = facts.compression.as_str().is_empty();
    info(host, &format!("{} {sent} {compression} {}", facts.content_type.as_str(), facts.timeout_ns >= 0));
    let own = State { start: rpcurl_token { id: 0 }, message: rpcurl_token { id: 0 }, has_retried: false };
    *state = Box::into_raw(Box::new(own)) as *mut c_void;
    RPCURL_OK
}

unsafe extern "C" fn needs(_host: Host, _state: *mut c_void, needs: *mut rpcurl_needs) -> i32 {
    (*needs).replay_limit_bytes = 1 << 20;
    RPCURL_OK
}

unsafe extern "C" fn greeted(host: Host, argument: *mut c_void, response: *const rpcurl_own_response) {
    let state = &*(argument as *const State);
    let mut value = std::mem::zeroed::<rpcurl_value>();
    let mut result = ((*host).get)(host, (*response).fields, rpcurl_text::of("message"), &mut value);
    if result == RPCURL_OK {
        result = ((*host).header_set)(host, state.start, rpcurl_text::of("x-greeting"), value.as_.text);
    }
    let verdict = match check(host, result) {
        Ok(_) => Verdict::Proceed,
        Err(reason) => Verdict::Fail(RPCURL_STATUS_INTERNAL, reason),
    };
    settle(host, state.start, verdict);
    ((*host).message_free)(host, state.message);
}

unsafe extern "C" fn request_start(host: Host, state: *mut c_void, call: rpcurl_call, token: rpcurl_token) -> i32 {
    stage(host, token, || {
        let (functions, own) = (&*host, &mut *(state as *mut State));
        let text = rpcurl_text::of;
        let (mut tier, mut route) = (text("none"), text(""));
        (functions.attribute_get)(host, call, text("tier"), &mut tier);
        check(host, (functions.header_set)(host, token, text("x-tier"), tier))?;
        check(host, (functions.attribute_set)(host, call, text("kit"), text("rust")))?;
        (functions.attribute_remove)(host, call, text("gone"));
        if (functions.attribute_get)(host, call, text("route"), &mut route) == RPCURL_ENOENT {
            let mut start = rpcurl_start::default();
            check(host, (functions.get_start)(host, token, &mut start))?;
            route = start.method;
        }
        check(host, (functions.set_method)(host, token, route))?;
        own.start = token;
        check(host, (functions.message_new)(host, call, text("demo.v1.Demo/Hello"), &mut own.message))?;
        let mut value = std::mem::zeroed::<rpcurl_value>();
        value.type_ = RPCURL_TYPE_STRING;
        value.as_.text = text("kit");
        check(host, (functions.set)(host, own.message, text("name"), &value))?;
        let message =
            rpcurl_local_message { form: RPCURL_FORM_MESSAGE, message: own.message, ..Default::default() };
        let call_of_own =
            rpcurl_own_call { method: text("demo.v1.Demo/Hello"), message: &message, ..Default::default() };
        check(host, (functions.call)(host, call, &call_of_own, Some(greeted), state))?;
        Ok(Verdict::Later)
    })
}

unsafe extern "C" fn response_start(host: Host, state: *mut c_void, _call: rpcurl_call, token: rpcurl_token) -> i32 {
    let headers = [rpcurl_field { name: rpcurl_text::of("x-again"), value: rpcurl_text::of("1") }];
    stage(host, token, || {
        let own = &mut *(state as *mut State);
        if own.has_retried {
            return Ok(Verdict::Proceed);
        }
        own.has_retried = true;
        Ok(Verdict::Retry(Duration::ZERO, &headers))
    })
}

unsafe extern "C" fn attempt_end(host: Host, _state: *mut c_void, _call: rpcurl_call, attempt: *const rpcurl_attempt) {
    let numbers = std::slice::from_raw_parts((*attempt).numbers, (*attempt).number_count);
    info(host, &format!("attempt {:?} {}", numbers, (*(*attempt).status).code));
}

unsafe extern "C" fn metrics(host: Host, _state: *mut c_void, _call: rpcurl_call, _token: rpcurl_token) -> i32 {
    ((*host).metric_add)(host, rpcurl_text::of("kit_total"), 1.5)
}

unsafe extern "C" fn close(_host: Host, state: *mut c_void, _call: rpcurl_call, _outcome: *const rpcurl_outcome) {
    drop(Box::from_raw(state as *mut State));
}

export_plugin!(rpcurl_plugin {
    name: c_text!("everything"),
    config_help: c_text!("url=URL  what is fetched outside of calls"),
    request_messages: RPCURL_MESSAGES_NONE,
    response_messages: RPCURL_MESSAGES_NONE,
    load: Some(load),
    configure: Some(configure),
    ready: Some(ready),
    possible_stages: Some(possible_stages),
    conclude: Some(conclude),
    unload: Some(unload),
    open: Some(open),
    needs: Some(needs),
    request_start: Some(request_start),
    response_start: Some(response_start),
    attempt_end: Some(attempt_end),
    metrics: Some(metrics),
    close: Some(close),
    ..rpcurl::PLUGIN
});
