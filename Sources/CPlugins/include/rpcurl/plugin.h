/*
 * rpcurl/plugin.h: the interface between rpcurl and interceptors loaded with dlopen. It requires C99 or C++11, and
 * gcc or clang.
 *
 * A plugin is a shared object that includes this header and does not link against rpcurl. It takes part in calls like
 * the built-in interceptors: the host makes one instance for each call and passes it each value of the call, at the
 * stages that the plugin requests.
 *
 *     caller -> A -> B -> C -> wire     request stages: first to last
 *     caller <- A <- B <- C <- wire     response stages, metrics and close: last to first
 *
 * Each interceptor has one place. The values of a direction pass it there in the order start, messages, end.
 *
 * The smallest plugin adds a header to each request:
 *
 *     #include <rpcurl/plugin.h>
 *
 *     static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
 *       (void)state, (void)call;
 *       return host->header_set(host, token, RPCURL_TEXT("x-hello"), RPCURL_TEXT("world"));
 *     }
 *
 *     RPCURL_DEFINE_PLUGIN(.name = "hello", .summary = "adds the header x-hello", .request_start = request_start)
 *
 *     cc -shared -fPIC -o hello.so hello.c && rpcurl --plugin ./hello.so ...
 *
 * Tokens
 *     Each value comes with a token, and the plugin must decide exactly once what to do with the value. Returning
 *     RPCURL_OK from the callback forwards the value, with the plugin's changes. Returning RPCURL_LATER keeps it: the
 *     plugin uses the token later, from any thread, with proceed, fail, respond, drop or retry. While it keeps a
 *     token, it still receives later values of the same direction, unless it requested one at a time in `needs`;
 *     values are forwarded in their original order. A plugin that keeps values until later ones, or the end, have come
 *     sets `collects` in `needs`. A negative return value fails the call. A token that was used, or whose call has
 *     ended, is recognized: the function returns an error and has no effect.
 *
 *     A plugin may keep the start of a request until request_end, to sign a body in a header. Messages and the
 *     half-close go no further meanwhile. Interceptors further in are made when the start leaves.
 *
 * Messages
 *     A message is typed (fields, which need a schema) or bytes (serialized in the call's codec: protobuf's binary
 *     form, or with the codec "json" its text; before compression and envelope). The plugin's members
 *     `request_messages` and `response_messages` declare for each direction which of the two it receives, and whether
 *     it changes it. The host makes this form before it calls the callback; functions for the other form, and changes
 *     that are not declared, return RPCURL_ESTAGE. A message that no interceptor changes leaves the chain with the
 *     bytes that entered it.
 *
 * The host
 *     The host is the first argument of each callback, and of each of its functions. A plugin has one for each time
 *     that it is added to a chain, valid from load on, as long as the process lives.
 *
 * Ownership
 *     Data that the host passes in, or that its functions return through pointers, belongs to the host. Text and
 *     bytes obtained with a token are valid until that token is used or its call has ended, or, if the callback
 *     returns anything but RPCURL_LATER, until it returns. Data that a plugin passes in is copied before the function
 *     returns. Text is UTF-8 with a length, and need not be terminated by a zero.
 *
 * Threads and states
 *     Each function has a mark: its thread, and after a semicolon the state that it requires.
 *     [main]               on the main thread, outside of calls.
 *     [loop]               on the thread of the event loop, which must not be blocked for long.
 *     [any]                from any thread.
 *     [...; before close]  until the host calls close for the call; from then on the function returns RPCURL_EENDED.
 *     [...; STAGES]        with a token of these stages; with another token the function returns RPCURL_ESTAGE.
 *     The message stages are request_message and response_message, the end stages request_end and response_end, and
 *     the header stages request_start, response_start and response_end. Request stages are those from request_start to
 *     request_end, response stages those from response_start to response_end. "typed" and "bytes" after the stages are
 *     the form of messages that the function requires, and "changes" that the plugin declares a change. Two threads
 *     must not use data returned for one token while a third uses the token.
 *
 * Outside of calls
 *     With RPCURL_NO_CALL the functions after, cancel_timer, post, call and fetch belong to the plugin and not to a call:
 *     they need no open call, and end when the plugin is unloaded. They run while the loop of rpcurl runs, which is while
 *     calls run; what load, configure and ready request waits until then. A call without a target uses that of the latest
 *     request, and any call its protocol, codec and schema; it passes the chain except this plugin, and the member `fields`
 *     of its response is 0. After the last call the host calls `conclude`, and runs the loop until what is pending is done:
 *     own calls, fetches, posted functions, and timers that are due, for at most 1 second.
 *
 * Errors
 *     Functions return RPCURL_OK, or a count, or a negative RPCURL_E... code. last_error returns the message. C++
 *     exceptions and longjmp must not leave a callback; rpcurl::guard, at the end of this header, converts an
 *     exception to a failure. A crash in a callback ends the process with the exit status 7, after the host has
 *     reported the plugin, the stage and the call; so do exit and pthread_exit in a callback, and a callback that
 *     does not return within a second of the call's deadline or of a signal to end. A callback that takes 100 ms is
 *     logged.
 *
 *     The host logs incorrect use of tokens as `plugin misbehaving`; with the setting strict=true, which every plugin
 *     has, it also fails the call.
 *
 * Promises
 *     Every host of one RPCURL_ABI_MAJOR keeps these promises to plugins that were built against any header of it.
 *     1. A host that loads a plugin calls it with the meaning that the plugin's header states, and each later host
 *        loads it too.
 *     2. rpcurl_text, rpcurl_call, rpcurl_token, rpcurl_timer, rpcurl_stream, rpcurl_value and rpcurl_field never
 *        change.
 *     3. Each other structure contains its struct_size, and grows by appending members, whose comments state their
 *        minor version. Members never move, and never change their type or meaning. No structure contains another
 *        one that grows: it contains a pointer.
 *     4. Both sides read only the first struct_size bytes of a structure; further members count as 0. The plugin sets
 *        the struct_size of a structure that the host fills; the host writes no more than that, and 0 to members that
 *        it does not have.
 *     5. The elements of an array of structures that grow are struct_size bytes apart, as the first one states, in
 *        both directions. An initialized array of a plugin is so; RPCURL_AT(array, index) is an element of any.
 *     6. Functions are appended to rpcurl_host. A plugin checks RPCURL_HOST_HAS before it uses an added function, or
 *        it defines RPCURL_MIN_MINOR before it includes this header: then an older host refuses it.
 *     7. Stages are added as callbacks at the end of rpcurl_plugin, and as bits of RPCURL_STAGES_ALL. A plugin built
 *        without them is not called there; one that must see every stage sets RPCURL_MUST_SEE_ALL, and is refused.
 *     8. A host refuses a plugin that sets a flag of RPCURL_FLAGS_MUST_UNDERSTAND that it does not support, and
 *        ignores other unknown flags.
 *     9. Numbers are added to the lists below (results, kinds, types, origins). A plugin treats an unknown negative
 *        result as a failure, and another unknown number as "something else".
 *     10. Both sides offer extensions by get_extension. Its name ends with its version, as in "rpcurl.check/1"; the
 *        structure of one name follows promises 3 and 4.
 *     The version and RPCURL_MIN_MINOR are also in an ELF note, which the host reads before it runs any of the
 *     plugin's code; RPCURL_PLUGIN writes it.
 */
#ifndef RPCURL_PLUGIN_H
#define RPCURL_PLUGIN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. A host refuses plugins of another major version; minor versions only add
 * declarations. */
#define RPCURL_ABI_MAJOR 1
#define RPCURL_ABI_MINOR 0

/* The oldest minor version of a host that the plugin supports. Define it before including this header. */
#ifndef RPCURL_MIN_MINOR
#define RPCURL_MIN_MINOR 0
#endif

/* ---- Results ------------------------------------------------------------------------------------------- */

/* Success. From a stage's callback: the value is forwarded. */
#define RPCURL_OK 0
/* From a stage's callback: the plugin keeps the token and uses it later. */
#define RPCURL_LATER 1
/* From open: the plugin does not take part in this call. */
#define RPCURL_DECLINE 2

/* Invalid argument: a null pointer, text that is not UTF-8, an invalid name. */
#define RPCURL_EINVAL (-1)
/* The token was already used. The host logs that the plugin misbehaves. */
#define RPCURL_EUSED (-2)
/* Unknown token or call of this plugin. The host logs that the plugin misbehaves. */
#define RPCURL_EUNKNOWN (-3)
/* The call has ended in the meantime, or was canceled; the function has no effect. This is not an error of the
 * plugin, and a callback may return it. */
#define RPCURL_EENDED (-4)
/* The function is not available at the token's stage, such as headers at a message's stage, or the plugin declares
 * another form of messages, or no change. The reason states what to declare. */
#define RPCURL_ESTAGE (-5)
/* Not found: no such header or element, or an index beyond the end. */
#define RPCURL_ENOENT (-6)
/* The message has no such field, or the path is invalid. */
#define RPCURL_EPATH (-7)
/* The field is of another type. */
#define RPCURL_ETYPE (-8)
/* The value is out of the field's range. */
#define RPCURL_ERANGE (-9)
/* JSON or bytes cannot be parsed as the message or field. */
#define RPCURL_EPARSE (-10)
/* The host does not support this here, for example without a schema. */
#define RPCURL_EUNSUPPORTED (-11)
/* For plugins: any other failure. Set its reason with set_error. */
#define RPCURL_EFAILED (-12)
/* A function marked [loop] was called on another thread. The host logs that the plugin misbehaves. */
#define RPCURL_ETHREAD (-13)
/* From retry, which forwards the value then; a callback may return these as well. No retry, because this plugin has
 * forwarded a part of the response, or the call has ended. */
#define RPCURL_ESTARTED (-14)
/* From retry: no retry, because the host has not kept the request: replay_limit_bytes is 0, or was exceeded. */
#define RPCURL_EREPLAY (-15)
/* From retry: no retry, because the deadline is before the next attempt. */
#define RPCURL_EDEADLINE (-16)

/* ---- Values -------------------------------------------------------------------------------------------- */

/* UTF-8 text, or bytes, with a length. `data` may be null when `size` is 0. */
typedef struct rpcurl_text {
  const char *data;
  size_t size;
} rpcurl_text;

/* The rpcurl_text of a string literal. */
#ifdef __cplusplus
#define RPCURL_TEXT(literal) (rpcurl_text{"" literal, sizeof(literal) - 1})
#else
#define RPCURL_TEXT(literal) ((rpcurl_text){"" literal, sizeof(literal) - 1})
#endif
/* The same as an initializer, for static tables: static const rpcurl_text name = RPCURL_TEXT_INIT("x"); */
#define RPCURL_TEXT_INIT(literal) {"" literal, sizeof(literal) - 1}

/* A call. Valid from open until close returns; later uses are recognized. Never 0. */
typedef struct rpcurl_call {
  uint64_t id;
} rpcurl_call;

/* No call: after, cancel_timer, post, call and fetch accept it, and are then outside of calls. */
#ifdef __cplusplus
#define RPCURL_NO_CALL (rpcurl_call{0})
#else
#define RPCURL_NO_CALL ((rpcurl_call){0})
#endif

/* A value of a call. Must be used exactly once; later uses are recognized. Never 0, so 0 can mean none. */
typedef struct rpcurl_token {
  uint64_t id;
} rpcurl_token;

/* One header or trailer. Names are lower case. Values of names that end in -bin are base64 text. */
typedef struct rpcurl_field {
  rpcurl_text name;
  rpcurl_text value;
} rpcurl_field;

/* The functions of the host; see below. */
typedef struct rpcurl_host rpcurl_host;

/* The type of an rpcurl_value. */
#define RPCURL_TYPE_BOOL 1   /* bool */
#define RPCURL_TYPE_INT64 2  /* int32, int64, sint32, sint64, sfixed32, sfixed64 */
#define RPCURL_TYPE_UINT64 3 /* uint32, uint64, fixed32, fixed64 */
#define RPCURL_TYPE_DOUBLE 4 /* float, double */
#define RPCURL_TYPE_STRING 5 /* string */
#define RPCURL_TYPE_BYTES 6  /* bytes */
#define RPCURL_TYPE_ENUM 7   /* the number of an enum value */

/* A scalar value of a message's field. */
typedef struct rpcurl_value {
  uint32_t type; /* RPCURL_TYPE_... */
  uint32_t reserved; /* 0 */
  union {
    int32_t boolean; /* 0 or 1 */
    int64_t int64;
    uint64_t uint64;
    double float64;
    int32_t number; /* of an enum */
    rpcurl_text text; /* of a string or bytes */
  } as;
} rpcurl_value;

/* Kinds of calls. */
#define RPCURL_KIND_UNARY 0
#define RPCURL_KIND_CLIENT_STREAMING 1
#define RPCURL_KIND_SERVER_STREAMING 2
#define RPCURL_KIND_BIDI_STREAMING 3

/* Idempotency levels of methods: those of google.protobuf.MethodOptions. */
#define RPCURL_IDEMPOTENCY_UNKNOWN 0
#define RPCURL_IDEMPOTENCY_NO_SIDE_EFFECTS 1
#define RPCURL_IDEMPOTENCY_IDEMPOTENT 2

/* The facts of a call as its request reaches the plugin. They do not change, except timeout_ns. Filled by call_facts; set
 * struct_size first. */
typedef struct rpcurl_call_facts {
  size_t struct_size;
  uint32_t kind;            /* RPCURL_KIND_... */
  uint32_t attempt;         /* the number of this attempt, from 1; always 1 further out than all that retry */
  uint32_t idempotency;     /* RPCURL_IDEMPOTENCY_... of the method */
  uint32_t is_own_call;     /* 1: an interceptor makes this call, and another call waits for it */
  rpcurl_text method;       /* "pkg.Service/Method" */
  rpcurl_text protocol;     /* "grpc", "grpc-web" or "connect" */
  rpcurl_text codec;        /* "proto" or "json" */
  rpcurl_text target;       /* "http[s]://host[:port][/prefix]" */
  rpcurl_text request_type; /* the full name of the request message's type; empty without a schema */
  rpcurl_text response_type;
  rpcurl_text method_options; /* a serialized google.protobuf.MethodOptions; empty without a schema */
  rpcurl_text compression;  /* of the request's messages, such as "gzip"; empty: uncompressed */
  rpcurl_text content_type; /* the value on the wire */
  rpcurl_text host;         /* the value of host, or :authority, on the wire; empty if the target is invalid */
  int64_t timeout_ns;       /* the time left now; -1 without a limit */
  const rpcurl_field *headers; /* the headers of the request when it reached the plugin */
  size_t header_count;
} rpcurl_call_facts;

/* A detail of a status: a serialized message, with the full name of its type. */
typedef struct rpcurl_detail {
  size_t struct_size;
  rpcurl_text type_name; /* "google.rpc.RetryInfo", without the prefix "type.googleapis.com/" */
  rpcurl_text value;
} rpcurl_detail;

/* The element at an index of an array of structures with a struct_size, from either side. */
#define RPCURL_AT(array, index) \
  ((__typeof__(&*(array)))(const void *)((const char *)(array) + (size_t)(index) * (array)->struct_size))

/* Where the error of a status arose. */
#define RPCURL_ORIGIN_NONE 0        /* the status is ok */
#define RPCURL_ORIGIN_SERVER 1      /* the server sent the status */
#define RPCURL_ORIGIN_VIOLATION 2   /* the server's response violates its protocol */
#define RPCURL_ORIGIN_CONNECTION 3  /* no connection, or it closed before the response was complete */
#define RPCURL_ORIGIN_PROXY 4       /* the proxy, whose URL is the origin's name */
#define RPCURL_ORIGIN_TLS 5         /* the TLS handshake, or a certificate */
#define RPCURL_ORIGIN_REQUEST 6     /* the call cannot be made as requested */
#define RPCURL_ORIGIN_INTERCEPTOR 7 /* the interceptor with the origin's name failed the call */
#define RPCURL_ORIGIN_CLIENT 8      /* rpcurl ended the call: canceled, past its deadline, over a limit */
#define RPCURL_ORIGIN_CONFIGURATION 9 /* the settings of the interceptor with the origin's name do not fit the method */

/* Status codes, which are gRPC's. */
#define RPCURL_STATUS_OK 0
#define RPCURL_STATUS_CANCELED 1
#define RPCURL_STATUS_UNKNOWN 2
#define RPCURL_STATUS_INVALID_ARGUMENT 3
#define RPCURL_STATUS_DEADLINE_EXCEEDED 4
#define RPCURL_STATUS_NOT_FOUND 5
#define RPCURL_STATUS_ALREADY_EXISTS 6
#define RPCURL_STATUS_PERMISSION_DENIED 7
#define RPCURL_STATUS_RESOURCE_EXHAUSTED 8
#define RPCURL_STATUS_FAILED_PRECONDITION 9
#define RPCURL_STATUS_ABORTED 10
#define RPCURL_STATUS_OUT_OF_RANGE 11
#define RPCURL_STATUS_UNIMPLEMENTED 12
#define RPCURL_STATUS_INTERNAL 13
#define RPCURL_STATUS_UNAVAILABLE 14
#define RPCURL_STATUS_DATA_LOSS 15
#define RPCURL_STATUS_UNAUTHENTICATED 16

/* The status of a call. */
typedef struct rpcurl_status {
  size_t struct_size;
  int32_t code; /* RPCURL_STATUS_... */
  uint32_t origin; /* RPCURL_ORIGIN_... */
  rpcurl_text message;
  rpcurl_text origin_name;
  const rpcurl_detail *details;
  size_t detail_count;
} rpcurl_status;

/* The metrics of a call. Times are in nanoseconds since its start; -1 if not measured. */
typedef struct rpcurl_metrics {
  size_t struct_size;
  int64_t total_ns;
  int64_t resolve_ns;
  int64_t connect_ns;
  int64_t tls_ns;
  int64_t first_byte_ns;
  uint64_t sent_bytes;     /* of the bodies, compressed and with envelopes, as on the wire */
  uint64_t received_bytes;
  uint64_t sent_messages;
  uint64_t received_messages;
  uint64_t attempts;
  uint64_t sent_message_bytes; /* of the messages, serialized and uncompressed */
  uint64_t received_message_bytes;
} rpcurl_metrics;

/* The end of an attempt at a call, for attempt_end. Valid until attempt_end returns. */
typedef struct rpcurl_attempt {
  size_t struct_size;
  const rpcurl_status *status;
  const uint32_t *numbers; /* the number of the attempt, from 1; nested attempts carry their path of numbers */
  size_t number_count;
  int64_t wait_ns;  /* how long the interceptor waited before the attempt, in nanoseconds; -1 for the first */
  rpcurl_text peer; /* as of rpcurl_response_start; empty if the attempt was not sent */
} rpcurl_attempt;

/* The outcome of a call for the caller; for close. Valid until close returns. */
typedef struct rpcurl_outcome {
  size_t struct_size;
  const rpcurl_status *status;
  const rpcurl_metrics *metrics;
  const rpcurl_field *trailers;
  size_t trailer_count;
} rpcurl_outcome;

/* Properties of a field. */
#define RPCURL_FIELD_REPEATED 1 /* a list or a map */
#define RPCURL_FIELD_MAP 2
#define RPCURL_FIELD_PRESENCE 4 /* an unset field differs from one set to its default */
#define RPCURL_FIELD_REQUIRED 8

/* A field of a message type. Kinds are the numbers of google.protobuf.FieldDescriptorProto.Type: 1 double, 2 float,
 * 3 int64, 4 uint64, 5 int32, 6 fixed64, 7 fixed32, 8 bool, 9 string, 10 group, 11 message, 12 bytes, 13 uint32,
 * 14 enum, 15 sfixed32, 16 sfixed64, 17 sint32, 18 sint64. */
typedef struct rpcurl_field_type {
  size_t struct_size;
  rpcurl_text name;
  rpcurl_text json_name;
  uint32_t number;
  uint32_t kind;         /* of a map: the kind of its values */
  uint32_t key_kind;     /* of a map: the kind of its keys; else 0 */
  uint32_t properties;   /* RPCURL_FIELD_... */
  rpcurl_text type_name; /* the full name of the message type or enum of the values; else empty */
  rpcurl_text oneof;     /* the name of its oneof; else empty */
  rpcurl_text options;   /* a serialized google.protobuf.FieldOptions */
} rpcurl_field_type;

/* A message type. */
typedef struct rpcurl_message_type {
  size_t struct_size;
  rpcurl_text name;
  const rpcurl_field_type *fields; /* by number, without extensions */
  size_t field_count;
  rpcurl_text options; /* a serialized google.protobuf.MessageOptions */
} rpcurl_message_type;

/* A value of an enum. */
typedef struct rpcurl_enum_value {
  size_t struct_size;
  rpcurl_text name;
  int32_t number;
  uint32_t reserved;   /* 0 */
  rpcurl_text options; /* a serialized google.protobuf.EnumValueOptions */
} rpcurl_enum_value;

/* An enum. */
typedef struct rpcurl_enum_type {
  size_t struct_size;
  rpcurl_text name;
  const rpcurl_enum_value *values; /* in the order of the .proto file */
  size_t value_count;
  rpcurl_text options; /* a serialized google.protobuf.EnumOptions */
} rpcurl_enum_type;

/* A method of a service. */
typedef struct rpcurl_method_type {
  size_t struct_size;
  rpcurl_text name;     /* without the service */
  uint32_t kind;        /* RPCURL_KIND_... */
  uint32_t idempotency; /* RPCURL_IDEMPOTENCY_... */
  rpcurl_text request_type;
  rpcurl_text response_type;
  rpcurl_text options; /* a serialized google.protobuf.MethodOptions */
} rpcurl_method_type;

/* A service. */
typedef struct rpcurl_service_type {
  size_t struct_size;
  rpcurl_text name;
  const rpcurl_method_type *methods; /* in the order of the .proto file */
  size_t method_count;
  rpcurl_text options; /* a serialized google.protobuf.ServiceOptions */
} rpcurl_service_type;

/* Forms of a message. The host converts between them and the call's codec. */
#define RPCURL_FORM_SERIALIZED 0 /* in the call's codec, unconverted */
#define RPCURL_FORM_JSON 1       /* ProtoJSON; needs a schema */
#define RPCURL_FORM_BINARY 2     /* protobuf's binary form; with the codec "json" it needs a schema */
#define RPCURL_FORM_MESSAGE 3    /* only of rpcurl_local_message: a message from message_new, or a typed one of a token */

/* A message from a plugin: in a local response, injected, or in a call of its own. */
typedef struct rpcurl_local_message {
  size_t struct_size;
  uint32_t form;     /* RPCURL_FORM_... */
  uint32_t reserved; /* 0 */
  rpcurl_text content;
  rpcurl_token message; /* with RPCURL_FORM_MESSAGE, instead of `content`; the token stays valid */
} rpcurl_local_message;

/* A local response from a plugin instead of a server. All of it is copied. */
typedef struct rpcurl_response {
  size_t struct_size;
  const rpcurl_field *headers;
  size_t header_count;
  const rpcurl_local_message *messages;
  size_t message_count;
  int32_t code;      /* RPCURL_STATUS_... */
  uint32_t reserved; /* 0 */
  /* Of a status other than ok: */
  rpcurl_text message;
  const rpcurl_detail *details;
  size_t detail_count;
  const rpcurl_field *trailers;
  size_t trailer_count;
} rpcurl_response;

/* The failure of a call, for fail_with. All of it is copied. */
typedef struct rpcurl_failure {
  size_t struct_size;
  int32_t code;      /* RPCURL_STATUS_..., not ok */
  uint32_t reserved; /* 0 */
  rpcurl_text message;
  const rpcurl_detail *details;
  size_t detail_count;
  const rpcurl_field *trailers;
  size_t trailer_count;
} rpcurl_failure;

/* The start of a response. Filled by get_response; set struct_size first. */
typedef struct rpcurl_response_start {
  size_t struct_size;
  int32_t http_status;
  uint32_t reserved;        /* 0 */
  rpcurl_text http_version; /* "1.1", "2" or "3"; empty, like the rest, if the response is not from a server */
  rpcurl_text peer;         /* "address:port" of the connection, "[address]:port" for IPv6; empty for a Unix socket */
  rpcurl_text tls_version;  /* such as "TLSv1.3"; empty without TLS, or if this libcurl does not report it */
} rpcurl_response_start;

/* The target, the timeout and the method of a request, at request_start. Set struct_size first. */
typedef struct rpcurl_start {
  size_t struct_size;
  rpcurl_text target; /* "http[s]://host[:port][/prefix]" */
  int64_t timeout_ns; /* the time left; -1 without a limit */
  rpcurl_text method; /* "pkg.Service/Method" */
} rpcurl_start;

/* A timer of a call. Never 0, so 0 can mean none. */
typedef struct rpcurl_timer {
  uint64_t id;
} rpcurl_timer;

/* A function called later on the loop's thread. */
typedef void (*rpcurl_function)(const rpcurl_host *host, void *argument);

/* A unary call from a plugin, such as for an access token. All of it is copied. */
typedef struct rpcurl_own_call {
  size_t struct_size;
  rpcurl_text method; /* "pkg.Service/Method" */
  rpcurl_text target; /* "http[s]://host[:port][/prefix]"; empty: the target of the plugin's current call */
  const rpcurl_field *headers;
  size_t header_count;
  const rpcurl_local_message *message; /* the request; forms other than the codec's require a schema that has the
                                        * method; null: empty */
  int64_t timeout_ns;                  /* in nanoseconds; 0 or less: 30 seconds */
  uint32_t response_form;              /* RPCURL_FORM_...: the form of the response for `done` */
  uint32_t reserved;                   /* 0 */
} rpcurl_own_call;

/* The result of a plugin's own call. Valid until `done` returns. */
typedef struct rpcurl_own_response {
  size_t struct_size;
  const rpcurl_status *status;
  rpcurl_text message; /* in the requested form; empty if the status is not ok */
  const rpcurl_field *headers;
  size_t header_count;
  const rpcurl_field *trailers;
  size_t trailer_count;
  rpcurl_token fields; /* for get, get_json and the like, which read the message, until `done` returns; 0 without a
                        * message, at the end of a stream, and if the schema does not have the method */
} rpcurl_own_response;

/* Called at the end of a plugin's own call. */
typedef void (*rpcurl_done)(const rpcurl_host *host, void *argument, const rpcurl_own_response *response);

/* A stream of a plugin's own call. Never 0, so 0 can mean none. */
typedef struct rpcurl_stream {
  uint64_t id;
} rpcurl_stream;

/* What a plugin receives of a stream, on the loop's thread; each function but `ended` may be null. */
typedef struct rpcurl_stream_events {
  size_t struct_size;
  /* The response has started. The headers are valid until this returns. */
  void (*started)(const rpcurl_host *host, void *argument, const rpcurl_field *headers, size_t header_count);
  /* A message, in the form of response_form; valid until this returns. */
  void (*message)(const rpcurl_host *host, void *argument, rpcurl_text message);
  /* Whether to send more messages now (1), or to wait until this is called again (0). Messages that are sent
   * nevertheless wait in memory. */
  void (*wanted)(const rpcurl_host *host, void *argument, uint32_t is_wanted);
  /* The end: status and trailers. Exactly once, and the last. */
  void (*ended)(const rpcurl_host *host, void *argument, const rpcurl_own_response *response);
} rpcurl_stream_events;

/* A plain HTTP request from a plugin, to a token server for example. All of it is copied. */
typedef struct rpcurl_fetch {
  size_t struct_size;
  rpcurl_text method; /* empty: GET */
  rpcurl_text url;    /* absolute */
  const rpcurl_field *headers;
  size_t header_count;
  rpcurl_text body;
  int64_t timeout_ns;      /* in nanoseconds; 0 or less: 30 seconds */
  uint64_t max_body_bytes; /* the limit for the body of the response; 0: 1 MiB */
} rpcurl_fetch;

/* The response to a plain HTTP request. Valid until `done` returns. */
typedef struct rpcurl_fetch_response {
  size_t struct_size;
  const rpcurl_status *status; /* ok for a response with any HTTP status */
  int32_t http_status;
  uint32_t reserved; /* 0 */
  const rpcurl_field *headers;
  size_t header_count;
  rpcurl_text body;
} rpcurl_fetch_response;

/* Called at the end of a plain HTTP request. */
typedef void (*rpcurl_fetched)(const rpcurl_host *host, void *argument, const rpcurl_fetch_response *response);

/* What a plugin does with the messages of a direction: the form that it receives, and whether it changes it. Messages
 * may be counted, kept, dropped and injected with each of these. */
#define RPCURL_MESSAGES_CHANGE_TYPED 0 /* typed messages, which it may change (the default) */
#define RPCURL_MESSAGES_NONE 1         /* messages without their content: nothing is converted */
#define RPCURL_MESSAGES_READ_TYPED 2   /* typed messages, unchanged */
#define RPCURL_MESSAGES_READ_BYTES 3   /* bytes, unchanged */
#define RPCURL_MESSAGES_CHANGE_BYTES 4 /* bytes, which it may change */
#define RPCURL_MESSAGES_OPAQUE 5       /* as CHANGE_BYTES, and what it forwards cannot be parsed: it encrypts */
#define RPCURL_MESSAGES_DECODE 6       /* as CHANGE_BYTES, and what it receives cannot be parsed: it decrypts */

/* A plugin's requirements for a call's chain. Filled by `needs`; the host sets struct_size and the
 * defaults. */
typedef struct rpcurl_needs {
  size_t struct_size;
  /* The number of bytes of the request that the host keeps for retries. 0 (the default): none, and the plugin
   * never retries. A larger request cannot be retried. */
  uint64_t replay_limit_bytes;
  /* The number of bytes that the plugin may hold at once, such as a whole body. 0 (the default): the host's
   * window, 4 MiB. Above it the call pauses. */
  uint64_t window_bytes;
  /* 1: one value at a time; while the plugin keeps a token, later values of the direction wait in the chain. 0
   * (the default): they do not wait. */
  uint32_t is_serial;
  /* 1: the plugin keeps values until later values of their direction, or its end, have come. A full window then ends
   * the call at once with the status `resource_exhausted`, since the later values would never come. 0 (the default):
   * a full window pauses the sender. Not together with is_serial: that fails the call. */
  uint32_t collects;
  /* RPCURL_MESSAGES_...: what the plugin does with messages in this call. The host sets the plugin's declaration. */
  uint32_t request_messages;
  uint32_t response_messages;
} rpcurl_needs;

/* ---- Stages -------------------------------------------------------------------------------------------- */

#define RPCURL_STAGE_REQUEST_START (UINT64_C(1) << 0)
#define RPCURL_STAGE_REQUEST_MESSAGE (UINT64_C(1) << 1)
#define RPCURL_STAGE_REQUEST_END (UINT64_C(1) << 2)
#define RPCURL_STAGE_RESPONSE_START (UINT64_C(1) << 3)
#define RPCURL_STAGE_RESPONSE_MESSAGE (UINT64_C(1) << 4)
#define RPCURL_STAGE_RESPONSE_END (UINT64_C(1) << 5)
#define RPCURL_STAGE_ATTEMPT_END (UINT64_C(1) << 6)
#define RPCURL_STAGE_METRICS (UINT64_C(1) << 7)
/* Every stage in this header. */
#define RPCURL_STAGES_ALL UINT64_C(0xff)

/* ---- The host ------------------------------------------------------------------------------------------ */

/* Directions of messages. */
#define RPCURL_DIRECTION_REQUEST 0
#define RPCURL_DIRECTION_RESPONSE 1

/* What a finding means for the outcome. */
#define RPCURL_FINDING_NOTE 0     /* information */
#define RPCURL_FINDING_FAILURE 1  /* a check failed, although the status may be ok: exit status 8 */
#define RPCURL_FINDING_EXPECTED 2 /* the call ended with the expected status, which is then no failure */

/* The level of a log line. rpcurl prints debug with -vv only, and the others unless -s is given. */
#define RPCURL_LOG_DEBUG 0
#define RPCURL_LOG_INFO 1
#define RPCURL_LOG_WARNING 2
#define RPCURL_LOG_ERROR 3

/* The functions of the host. Each loaded plugin gets its own structure, and passes it as the first argument of
 * every function. Valid from load on, as long as the process lives. */
struct rpcurl_host {
  uint32_t abi_major;
  uint32_t abi_minor;
  size_t struct_size;
  const char *name;    /* "rpcurl"; terminated by a zero */
  const char *version; /* the host's version; terminated by a zero */
  void *reserved;      /* for the host */

  /* -- Logging and errors -- */

  /* [any] Writes a line to the host's log under the plugin's name. */
  int32_t (*log)(const rpcurl_host *host, uint32_t level, rpcurl_text text);
  /* [any] Sets the reason for the negative code that this callback returns, on the same thread. Without it the
   * reason is that of the last host function that failed with this code in the callback. */
  int32_t (*set_error)(const rpcurl_host *host, rpcurl_text text);
  /* [any] The reason for the last failure of a function on this thread. Valid until the next failure. */
  rpcurl_text (*last_error)(const rpcurl_host *host);
  /* [any] A structure of additional functions, identified by a name with a version in its documentation; null if
   * this host has none with that name. Valid as long as the host. */
  const void *(*get_extension)(const rpcurl_host *host, rpcurl_text name);

  /* -- Memory -- */

  /* [any] Allocates memory that outlives callbacks, with maximum alignment; null if out of memory. The host never
   * frees it. */
  void *(*alloc)(const rpcurl_host *host, size_t size);
  /* [any] Frees memory from alloc; null has no effect. */
  void (*free)(const rpcurl_host *host, void *memory);

  /* -- The call -- */

  /* [any] Fills in the facts of a call. Their text is valid until close returns. */
  int32_t (*call_facts)(const rpcurl_host *host, rpcurl_call call, rpcurl_call_facts *facts);
  /* [any; before close] Ends the call at once: each interceptor that has received its start receives the end,
   * with the status `canceled` and this reason. */
  int32_t (*cancel)(const rpcurl_host *host, rpcurl_call call, rpcurl_text reason);

  /* [any; before close returns] Reports a finding about the call, one line: a failure is printed, the others with -v;
   * it counts for the exit status, and is part of reports such as JUnit's. */
  int32_t (*report)(const rpcurl_host *host, rpcurl_call call, uint32_t kind, rpcurl_text text);

  /* -- Outside of calls -- */

  /* [any] Adds a number, which is not negative, to a counter that `metrics` reports. The name is one of Prometheus:
   * letters, digits, "_" and ":", not first a digit. RPCURL_EINVAL for another one, and for more than 1,024 counters. */
  int32_t (*metric_add)(const rpcurl_host *host, rpcurl_text name, double number);
  /* [any] Sets a value that all plugins of the program share. RPCURL_EINVAL for more than 1,024 values, and for one of
   * more than 64 KiB. */
  int32_t (*share_set)(const rpcurl_host *host, rpcurl_text name, rpcurl_text text);
  /* [any] A value that plugins share, valid until the next share_get on this thread. RPCURL_ENOENT if it is not set. */
  int32_t (*share_get)(const rpcurl_host *host, rpcurl_text name, rpcurl_text *text);

  /* -- Attributes of the call: text by key, which the caller and the interceptors share. They are never sent. Each attempt
   *    has a copy, and that of the attempt whose response is used becomes the call's -- */

  /* [loop; before close] The value of an attribute, valid until close returns. RPCURL_ENOENT if it is not set. */
  int32_t (*attribute_get)(const rpcurl_host *host, rpcurl_call call, rpcurl_text key, rpcurl_text *value);
  /* [loop; before close] Sets an attribute, also in open: interceptors that receive a value later read it. RPCURL_EINVAL
   * if the key is not 1 to 4,096 printable ASCII characters without blank, "=" and ":", the value is longer than 4,096
   * bytes, or the call has 64 attributes. */
  int32_t (*attribute_set)(const rpcurl_host *host, rpcurl_call call, rpcurl_text key, rpcurl_text value);
  /* [loop; before close] Removes an attribute. RPCURL_ENOENT if it is not set. */
  int32_t (*attribute_remove)(const rpcurl_host *host, rpcurl_call call, rpcurl_text key);

  /* -- The schema: RPCURL_EUNSUPPORTED without one. What these return is valid until close returns -- */

  /* [any; before close returns] A message type, by its full name. RPCURL_ENOENT if the schema does not have it. */
  int32_t (*message_type)(const rpcurl_host *host, rpcurl_call call, rpcurl_text name,
                          const rpcurl_message_type **type);
  /* [any; before close returns] An enum, by its full name. RPCURL_ENOENT if the schema does not have it. */
  int32_t (*enum_type)(const rpcurl_host *host, rpcurl_call call, rpcurl_text name, const rpcurl_enum_type **type);
  /* [any; before close returns] A service, by its full name. RPCURL_ENOENT if the schema does not have it. */
  int32_t (*service_type)(const rpcurl_host *host, rpcurl_call call, rpcurl_text name,
                          const rpcurl_service_type **type);
  /* [any; before close returns] All files that the host has of the schema, as a serialized
   * google.protobuf.FileDescriptorSet in which each file follows its imports. With server reflection the host has the
   * files of the services that were requested, and their imports. */
  int32_t (*schema)(const rpcurl_host *host, rpcurl_call call, rpcurl_text *descriptor_set);

  /* -- Time, and other threads -- */

  /* [loop; before close] Calls a function once on the loop's thread after a time. A function that is pending at
   * close is dropped, so free there what `argument` owns. `timer` may be null. */
  int32_t (*after)(const rpcurl_host *host, rpcurl_call call, int64_t after_ns, rpcurl_function function,
                   void *argument, rpcurl_timer *timer);
  /* [loop; before close] Cancels a timer. RPCURL_ENOENT if it has fired, or was canceled. */
  int32_t (*cancel_timer)(const rpcurl_host *host, rpcurl_call call, rpcurl_timer timer);
  /* [any; before close] Calls a function once on the loop's thread, soon; functions posted by one thread run in
   * order. A function that is pending at close is dropped. A function that posts itself again delays the other work of
   * its call: to poll, use `after`. */
  int32_t (*post)(const rpcurl_host *host, rpcurl_call call, rpcurl_function function, void *argument);

  /* -- Calls of the plugin -- */

  /* [loop; before close] Makes a unary call for the plugin. It passes the chain except this plugin; calls that
   * interceptors on that chain make in turn pass none of them. Another server than that of the current call is always
   * verified, and receives neither the client certificate nor a connection that is meant for the call's server, such
   * as one to its Unix socket. If this returns RPCURL_OK, `done` is called
   * exactly once, on the loop's thread, never from within this function; if the current call ends first, with
   * RPCURL_STATUS_CANCELED, before close. RPCURL_EENDED afterwards. */
  int32_t (*call)(const rpcurl_host *host, rpcurl_call call, const rpcurl_own_call *own, rpcurl_done done,
                  void *argument);

  /* [loop; before close] Opens a call of any kind for the plugin, as `call` does. If this returns RPCURL_OK, the
   * functions of `events`, which are copied, are called as they state, never from within this function. `own` gives
   * no message: its `message` is ignored. */
  int32_t (*open_stream)(const rpcurl_host *host, rpcurl_call call, uint32_t kind, const rpcurl_own_call *own,
                         const rpcurl_stream_events *events, void *argument, rpcurl_stream *stream);
  /* [loop; before close] Sends a message. RPCURL_ENOENT if the stream has ended, or was closed for sending. */
  int32_t (*stream_send)(const rpcurl_host *host, rpcurl_call call, rpcurl_stream stream,
                         const rpcurl_local_message *message);
  /* [loop; before close] Ends the request: no more messages follow. RPCURL_ENOENT as for stream_send. */
  int32_t (*stream_finish)(const rpcurl_host *host, rpcurl_call call, rpcurl_stream stream);
  /* [loop; before close] Pauses (1) or resumes (0) the response: backpressure. What was received is still delivered.
   * RPCURL_ENOENT if the stream has ended. */
  int32_t (*stream_pause)(const rpcurl_host *host, rpcurl_call call, rpcurl_stream stream, uint32_t is_paused);
  /* [loop; before close] Ends the stream with the status `canceled`, which `ended` receives soon. RPCURL_ENOENT if it
   * has ended. */
  int32_t (*stream_cancel)(const rpcurl_host *host, rpcurl_call call, rpcurl_stream stream);
  /* [loop; before close] Makes a plain HTTP request, with the proxy and the authorities of the call. `done` is called
   * as that of `call`. */
  int32_t (*fetch)(const rpcurl_host *host, rpcurl_call call, const rpcurl_fetch *fetch, rpcurl_fetched done,
                   void *argument);

  /* -- Tokens: each of these uses the token, unless it returns RPCURL_ESTAGE, RPCURL_EINVAL, RPCURL_EPARSE or
   * RPCURL_EUNSUPPORTED -- */

  /* [any] Forwards the value, with the plugin's changes. */
  int32_t (*proceed)(const rpcurl_host *host, rpcurl_token token);
  /* [any; not at metrics] Fails the call with a status other than ok. Request stages: nothing is forwarded;
   * response stages: interceptors further out receive the error instead of the rest. */
  int32_t (*fail)(const rpcurl_host *host, rpcurl_token token, int32_t code, rpcurl_text message);
  /* [any; not at metrics] The same as `fail`, with details of the status, and with trailers. */
  int32_t (*fail_with)(const rpcurl_host *host, rpcurl_token token, const rpcurl_failure *failure);
  /* [any; request stages] Responds to the call locally, without the network. */
  int32_t (*respond)(const rpcurl_host *host, rpcurl_token token, const rpcurl_response *response);
  /* [any; message stages] Removes a message from a stream. Dropping the only message of a unary call fails the call. */
  int32_t (*drop)(const rpcurl_host *host, rpcurl_token token);
  /* [any; response stages] Sends the request again from here, after a pause, through new instances of the
   * interceptors further in; `headers` replace those with their names in the request's start as this plugin
   * forwarded it. Only before anything of this response was forwarded from here. RPCURL_OK: the call is retried. If it
   * cannot be retried, the value is forwarded, and the result is RPCURL_ESTARTED, RPCURL_EREPLAY or RPCURL_EDEADLINE; the
   * value waits for other values of the response that the plugin keeps, which are to be forwarded then. On another
   * thread than the loop's the result is RPCURL_LATER: the loop decides. */
  int32_t (*retry)(const rpcurl_host *host, rpcurl_token token, int64_t after_ns, const rpcurl_field *headers,
                   size_t header_count);

  /* -- Messages of the plugin -- */

  /* [any; before close] Makes an empty message of a type in the schema of the call: the type with the full name, or with
   * "pkg.Service/Method" the request's type of the method. The functions for typed messages read and change it by its
   * token, and RPCURL_FORM_MESSAGE gives it to call, stream_send, inject and respond, several times if needed. It is freed
   * by message_free, or after close. RPCURL_ENOENT if the schema does not have the name. */
  int32_t (*message_new)(const rpcurl_host *host, rpcurl_call call, rpcurl_text name, rpcurl_token *message);
  /* [any] Frees a message from message_new, whose token is then used. */
  int32_t (*message_free)(const rpcurl_host *host, rpcurl_token message);

  /* [any; message and end stages] Injects a message before the token's value. The token is not used, and this may be
   * called several times. Interceptors after this one receive the message like any other. In a direction with only one
   * message, use it to replace the message: inject the new one, and drop the value. */
  int32_t (*inject)(const rpcurl_host *host, rpcurl_token token, const rpcurl_local_message *message);
  /* [any; before close] Sends an additional message of the request: after all that this plugin has received of the
   * request, and before what it has not received, also with is_serial. It waits for a start that this plugin keeps.
   * RPCURL_EENDED after this plugin has forwarded request_end; if another thread calls this meanwhile, the message may
   * be discarded instead, which is logged. */
  int32_t (*inject_request)(const rpcurl_host *host, rpcurl_call call, const rpcurl_local_message *message);
  /* [any; before close] The same for the response, towards the caller. */
  int32_t (*inject_response)(const rpcurl_host *host, rpcurl_call call, const rpcurl_local_message *message);

  /* [any; request_start] Starts a response that the plugin gives in place of a server, spread over time. The token is
   * not used: keep it, send messages with inject_response, and end the call with `respond`, whose headers are not sent
   * again. Once; then RPCURL_EUSED. */
  int32_t (*start_response)(const rpcurl_host *host, rpcurl_token token, const rpcurl_field *headers,
                            size_t header_count);
  /* [loop; before close] Calls a function once on the loop's thread when more messages are wanted: of the request
   * (RPCURL_DIRECTION_REQUEST) by the chain and the transport, or of the response by the chain and the caller. For a
   * plugin that injects many messages: backpressure. A function that is pending at close is dropped. */
  int32_t (*when_wanted)(const rpcurl_host *host, rpcurl_call call, uint32_t direction, rpcurl_function function,
                         void *argument);

  /* -- The target, the timeout and the method of the request -- */

  /* [any; request_start] The target, the time left and the method. Set struct_size first. */
  int32_t (*get_start)(const rpcurl_host *host, rpcurl_token token, rpcurl_start *start);
  /* [any; request_start] Sends the request to another server. RPCURL_EINVAL if it is not
   * "http[s]://host[:port][/prefix]". */
  int32_t (*set_target)(const rpcurl_host *host, rpcurl_token token, rpcurl_text target);
  /* [any; request_start] Sets the timeout of the call from now on; negative: none. */
  int32_t (*set_timeout)(const rpcurl_host *host, rpcurl_token token, int64_t timeout_ns);
  /* [any; request_start] Sends the request to another method of the same kind and with the same types:
   * "pkg.Service/Method". The chain checks it when the start is forwarded, and fails the call with invalid_argument if
   * the schema does not have such a method. Facts of interceptors further out keep the former method. */
  int32_t (*set_method)(const rpcurl_host *host, rpcurl_token token, rpcurl_text method);

  /* -- Headers of the request at request_start, of the response at response_start, and the trailers at
   *    response_end -- */

  /* [any; header stages] The number of fields, or a negative code. */
  int64_t (*header_count)(const rpcurl_host *host, rpcurl_token token);
  /* [any; header stages] The field at an index; order and duplicates are kept. RPCURL_ENOENT beyond the end. */
  int32_t (*header_at)(const rpcurl_host *host, rpcurl_token token, size_t index, rpcurl_field *field);
  /* [any; header stages] The first value of a name, regardless of case. RPCURL_ENOENT if there is none. At request_start,
   * "content-type" and "host" have the value on the wire also if they are not among the headers. */
  int32_t (*header_first)(const rpcurl_host *host, rpcurl_token token, rpcurl_text name, rpcurl_text *value);
  /* [any; header stages] Replaces all values of a name by one. RPCURL_EINVAL for headers that only the host sets,
   * listed in rpcurl-plugin(3), and for an invalid base64 value of a name in -bin. */
  int32_t (*header_set)(const rpcurl_host *host, rpcurl_token token, rpcurl_text name, rpcurl_text value);
  /* [any; header stages] Appends a field. RPCURL_EINVAL as for header_set. */
  int32_t (*header_add)(const rpcurl_host *host, rpcurl_token token, rpcurl_text name, rpcurl_text value);
  /* [any; header stages] Removes all values of a name; returns their number, or a negative code. */
  int64_t (*header_remove)(const rpcurl_host *host, rpcurl_token token, rpcurl_text name);

  /* -- Fields of the message --
   *    A path names fields as the schema or JSON does: "user.address[0].city", "tags[-1]" for the last element,
   *    "labels.env" and "counts[5]" for keys of maps, "[pkg.ext]" for an extension, and "any[host/pkg.Type].name" for
   *    the content of an Any. "[]" appends an element where a value is written. The empty path, or ".", is the message
   *    itself. RPCURL_ENOENT for an index beyond the end of a list, except in "has". */

  /* [any; message stages, typed] Reads a scalar; an unset field has its default. */
  int32_t (*get)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_value *value);
  /* [any; message stages, typed, changes] Writes a scalar; creates missing messages in the path. */
  int32_t (*set)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, const rpcurl_value *value);
  /* [any; message stages, typed, changes] Appends a scalar to a repeated field. */
  int32_t (*append)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, const rpcurl_value *value);
  /* [any; message stages, typed, changes] Clears a field, a repeated field or a map, or removes an element.
   * RPCURL_ENOENT beyond the end of a list. */
  int32_t (*clear)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path);
  /* [any; message stages, typed] 1 if the field is set, 0 if not, or a negative code. */
  int32_t (*has)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path);
  /* [any; message stages, typed] The number of elements of a repeated field or map, or a negative code. */
  int64_t (*length)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path);
  /* [any; message stages, typed] The name of the set field at an index, of the message at a path; fields are in
   * ascending order of their numbers. RPCURL_ENOENT beyond the end. */
  int32_t (*field_at)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, size_t index,
                      rpcurl_text *field);
  /* [any; message stages, typed] The key at an index of a map, as RPCURL_TYPE_BOOL, INT64, UINT64 or STRING. Keys are
   * in ascending order; the path of a value is "map[key]", with string keys in quotes. RPCURL_ENOENT beyond the end. */
  int32_t (*key_at)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, size_t index,
                    rpcurl_value *key);
  /* [any; message stages, typed] The name of the set field of a oneof, whose name ends the path. RPCURL_ENOENT if
   * none is set. */
  int32_t (*which)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text *field);
  /* [any; message stages, typed] The name of an enum field's value. RPCURL_ENOENT if the schema has no name for the
   * number. */
  int32_t (*get_enum)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text *name);
  /* [any; message stages, typed, changes] Sets an enum field by a value's name. RPCURL_ENOENT if the enum has no such
   * name. */
  int32_t (*set_enum)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text name);
  /* [any; message stages, typed] A field, or with the empty path the message, as ProtoJSON. */
  int32_t (*get_json)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text *json);
  /* [any; message stages, typed, changes] Replaces a field, or with the empty path the message, by a ProtoJSON value. */
  int32_t (*set_json)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text json);
  /* [any; message stages, typed, changes] Appends a ProtoJSON value to a repeated field, also a message. */
  int32_t (*append_json)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text json);

  /* -- The message as bytes, in the call's codec, before compression: see "Messages" above -- */

  /* [any; message stages, bytes] The bytes. Of a typed message, use get_json with the empty path. */
  int32_t (*get_payload)(const rpcurl_host *host, rpcurl_token token, rpcurl_text *bytes);
  /* [any; message stages, changes] Replaces the message. RPCURL_EPARSE if the plugin receives typed messages, and the
   * bytes cannot be parsed. */
  int32_t (*set_payload)(const rpcurl_host *host, rpcurl_token token, rpcurl_text bytes);

  /* -- The status of the response -- */

  /* [any; response_start] HTTP status and version, and the connection. Set struct_size first. */
  int32_t (*get_response)(const rpcurl_host *host, rpcurl_token token, rpcurl_response_start *response);
  /* [any; response_end] The status, with its details. Set struct_size first. */
  int32_t (*get_status)(const rpcurl_host *host, rpcurl_token token, rpcurl_status *status);
  /* [any; response_end] Replaces the status; code 0 makes the call a success. Details are kept if the code is
   * unchanged. */
  int32_t (*set_status)(const rpcurl_host *host, rpcurl_token token, int32_t code, rpcurl_text message);

  /* -- Details of a status other than ok -- */

  /* [any; response_end] Appends a detail. RPCURL_ENOENT if the status is ok, which has no details. */
  int32_t (*detail_add)(const rpcurl_host *host, rpcurl_token token, const rpcurl_detail *detail);
  /* [any; response_end] Removes all details; returns their number, or a negative code. */
  int64_t (*details_clear)(const rpcurl_host *host, rpcurl_token token);

  /* -- Metrics -- */

  /* [any; metrics] The metrics of the call. Set struct_size first. */
  int32_t (*get_metrics)(const rpcurl_host *host, rpcurl_token token, rpcurl_metrics *metrics);
  /* [any; metrics] Replaces the metrics of the call for interceptors further out. struct_size as for get_metrics. */
  int32_t (*set_metrics)(const rpcurl_host *host, rpcurl_token token, const rpcurl_metrics *metrics);
};

/* Whether a host has a function that was added in a later minor version. */
#define RPCURL_HOST_HAS(host, member) \
  ((host)->struct_size >= offsetof(rpcurl_host, member) + sizeof((host)->member))

/* ---- The plugin ---------------------------------------------------------------------------------------- */

/* Flag: a host with stages that this plugin's header does not have must refuse it. For plugins that sign, redact
 * or audit, and must see every stage. */
#define RPCURL_MUST_SEE_ALL (UINT64_C(1) << 0)
/* Flags that a host must support: it refuses a plugin with an unknown flag of these, and ignores other unknown
 * flags. */
#define RPCURL_FLAGS_MUST_UNDERSTAND UINT64_C(0xffffffff)
/* Flags: what the plugin does. --explain prints them, and the host warns of an order of interceptors that is doubtful
 * because of them; they have no other effect. */
#define RPCURL_READS_HEADERS (UINT64_C(1) << 32)     /* its result depends on request headers: a signature, a key */
#define RPCURL_CHANGES_HEADERS (UINT64_C(1) << 33)   /* it changes request headers */
#define RPCURL_READS_MESSAGES (UINT64_C(1) << 34)    /* its result depends on request messages */
#define RPCURL_CHANGES_MESSAGES (UINT64_C(1) << 35)  /* it changes request messages */
#define RPCURL_REDACTS (UINT64_C(1) << 36)           /* it removes secrets from messages at its stages */
#define RPCURL_EXPORTS (UINT64_C(1) << 37)           /* it writes messages at its stages to a file or system */
#define RPCURL_AUTHENTICATES (UINT64_C(1) << 38)     /* it adds credentials to requests */
#define RPCURL_RESPONDS (UINT64_C(1) << 39)          /* it may respond to calls itself */
#define RPCURL_REUSES_RESPONSES (UINT64_C(1) << 40)  /* it responds with the response to an earlier call */
#define RPCURL_REPEATS_ATTEMPTS (UINT64_C(1) << 41)  /* it may attempt a call repeatedly */
#define RPCURL_INJECTS_FAILURES (UINT64_C(1) << 42)  /* it fails calls that would have succeeded, for tests */
#define RPCURL_CHECKS_RESULTS (UINT64_C(1) << 43)    /* it checks the result of calls */

/* A plugin. Valid as long as the process lives. Members may be null, except `name`.
 *
 * In each callback `plugin` is the pointer stored by load, `state` the one stored by open for the call. */
typedef struct rpcurl_plugin {
  /* Set these with RPCURL_PLUGIN_HEAD. */
  uint32_t abi_major;
  uint32_t abi_minor;
  size_t struct_size;
  uint64_t known_stages;
  uint32_t min_minor; /* the oldest host that the plugin supports */
  uint32_t reserved;  /* 0 */

  uint64_t flags;          /* RPCURL_MUST_SEE_ALL, and what the plugin does; or 0 */
  const char *name;        /* a short name, for logs and errors; terminated by a zero, like the next three */
  const char *version;     /* the plugin's own version */
  const char *summary;     /* what it does, in one line */
  const char *config_help; /* the keys, one per line: "key=VALUE  what it does" */
  uint32_t request_messages;  /* RPCURL_MESSAGES_...: what it does with request messages; `needs` may change it */
  uint32_t response_messages; /* the same for response messages */

  /* [main] Called first, once for each use of the plugin on the chain. Stores the pointer for the other callbacks. */
  int32_t (*load)(const rpcurl_host *host, void **plugin);
  /* [main] A key of the configuration, in the order written. Returns a negative code for an unknown key or an
   * invalid value, with set_error. Null: the plugin has no keys. */
  int32_t (*configure)(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value);
  /* [main] Called after all keys were passed. */
  int32_t (*ready)(const rpcurl_host *host, void *plugin);
  /* [main] The stages at which the plugin may be called with this configuration, after ready: --explain prints them, and
   * the host warns of an order by them. It is called at no other stage. Null: all that have a callback. */
  uint64_t (*possible_stages)(const rpcurl_host *host, void *plugin);
  /* [main] A structure of additional callbacks, such as RPCURL_EXTENSION_CHECK; null if the plugin has none with that
   * name. Called after ready. Valid as long as the process lives. */
  const void *(*get_extension)(const rpcurl_host *host, void *plugin, rpcurl_text name);
  /* [loop] No call follows: start what is to be done at the end, outside of calls, which has 1 second. Not called if there
   * was no call. */
  void (*conclude)(const rpcurl_host *host, void *plugin);
  /* [main] Called once after a load that returned RPCURL_OK: if configure or ready then fails, at a normal end of the
   * process, or when a session has removed the plugin. No call is open. The code stays in memory. */
  void (*unload)(const rpcurl_host *host, void *plugin);

  /* [loop] A call is about to start. RPCURL_OK: take part, with *state for this call. RPCURL_DECLINE: do not take
   * part, at no further cost. A negative code fails the call before anything is sent. */
  int32_t (*open)(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state);
  /* [loop] The stages to be called at for this call, after open: some of possible_stages. Null: all of them. */
  uint64_t (*stages)(const rpcurl_host *host, void *state);
  /* [loop] The plugin's requirements for the chain of this call, after stages. A negative code fails the call. Null:
   * the defaults. */
  int32_t (*needs)(const rpcurl_host *host, void *state, rpcurl_needs *needs);

  /* [loop] The stages. Each with a token returns RPCURL_OK, RPCURL_LATER, or a negative code, which fails the call; at
   * metrics, the call has ended, and the host logs the reason as an error. */

  /* Once. The request's headers can be changed. */
  int32_t (*request_start)(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token);
  /* For each sent message, not yet compressed, in the form of request_messages. */
  int32_t (*request_message)(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token);
  /* Once: no more messages follow. */
  int32_t (*request_end)(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token);
  /* At most once. The response's headers can be changed. */
  int32_t (*response_start)(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token);
  /* For each received message, decompressed, in the form of response_messages. */
  int32_t (*response_message)(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token);
  /* Once, with success or an error, unless this plugin failed the call or responded to it. Status and trailers can
   * be changed. After a cancellation it is for information only: changes are ignored. */
  int32_t (*response_end)(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token);
  /* Once for each attempt that an interceptor further in has made, when it has ended, also by a cancellation: before
   * response_end if the attempt ended before, else before metrics. Without a token. */
  void (*attempt_end)(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_attempt *attempt);
  /* Once, after the caller has received the end. */
  int32_t (*metrics)(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token);

  /* [loop] The call has ended: free `state`. Called last, exactly once for each open that returned RPCURL_OK.
   * Tokens and the call are invalid afterwards; using them is recognized, and returns an error. */
  void (*close)(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome);
} rpcurl_plugin;

/* The first members of a plugin's structure. */
#define RPCURL_PLUGIN_HEAD                                              \
  .abi_major = RPCURL_ABI_MAJOR, .abi_minor = RPCURL_ABI_MINOR, .struct_size = sizeof(rpcurl_plugin), \
  .known_stages = RPCURL_STAGES_ALL, .min_minor = RPCURL_MIN_MINOR

/* The extension of a plugin for "rpcurl plugins check": a test of its own. */
#define RPCURL_EXTENSION_CHECK "rpcurl.check/1"
typedef struct rpcurl_check {
  size_t struct_size;
  /* [main] Called after all calls of the check. Returns a negative code, with its reason, if the test fails. */
  int32_t (*run)(const rpcurl_host *host, void *plugin);
} rpcurl_check;

/* ---- What the shared object exports -------------------------------------------------------------------- */

/* The symbol that a host looks up. [main] */
#define RPCURL_ENTRY_SYMBOL "rpcurl_plugin_entry"

#if defined(__GNUC__)
#define RPCURL_EXPORT __attribute__((visibility("default")))
#else
#define RPCURL_EXPORT
#endif

/* Returns the plugin. Defined by RPCURL_PLUGIN. */
RPCURL_EXPORT const rpcurl_plugin *rpcurl_plugin_entry(void);

#define RPCURL_STRING_(x) #x
#define RPCURL_STRING(x) RPCURL_STRING_(x)

/* The ELF note: name "rpcurl", type 1, and as its content three 32-bit numbers: the major and minor version of the
 * ABI, and the oldest minor version of a host. It is in an allocated section, so that strip keeps it. */
#define RPCURL_NOTE_NAME "rpcurl"
#define RPCURL_NOTE_TYPE 1
#define RPCURL_NOTE_(major, minor, min_minor)                                                        \
  __asm__(".pushsection .note.rpcurl,\"a\",%note\n"                                                 \
          ".balign 4\n"                                                                               \
          ".long 7, 12, 1\n"                                                                          \
          ".asciz \"rpcurl\"\n"                                                                     \
          ".balign 4\n"                                                                               \
          ".long " RPCURL_STRING(major) ", " RPCURL_STRING(minor) ", " RPCURL_STRING(min_minor) "\n"  \
          ".popsection\n");

/* Makes `plugin`, a static const rpcurl_plugin, the plugin of this shared object. Use once, at file scope. */
#define RPCURL_PLUGIN(plugin)                                            \
  RPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR, RPCURL_MIN_MINOR)     \
  RPCURL_EXPORT const rpcurl_plugin *rpcurl_plugin_entry(void) { return &plugin; }

/* Defines a plugin by initializers of its members, as in RPCURL_DEFINE_PLUGIN(.name = "x", .open = open_call), and
 * makes it that of this shared object. For C; see rpcurl::describe for C++. */
#define RPCURL_DEFINE_PLUGIN(...)                                                          \
  static const rpcurl_plugin rpcurl_defined_plugin = {RPCURL_PLUGIN_HEAD, __VA_ARGS__};    \
  RPCURL_PLUGIN(rpcurl_defined_plugin)

/* ---- Convenience functions ---------------------------------------------------------------------------- */

#if defined(__GNUC__)
#define RPCURL_PRINTF_(text, values) __attribute__((__format__(__printf__, text, values)))
#else
#define RPCURL_PRINTF_(text, values)
#endif

/* The text of a string that is terminated by a zero; null is the empty text. Valid while the string is. */
static inline rpcurl_text rpcurl_text_of(const char *string) {
  rpcurl_text text = {string, string == NULL ? 0 : strlen(string)};
  return text;
}

/* [any] Writes a formatted line, of at most 1023 bytes, to the host's log. */
RPCURL_PRINTF_(3, 4)
static inline int32_t rpcurl_log(const rpcurl_host *host, uint32_t level, const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  return host->log(host, level, rpcurl_text_of(line));
}

/* [any] Sets a formatted reason, of at most 1023 bytes, and returns RPCURL_EFAILED: return rpcurl_fail(host, "..."). */
RPCURL_PRINTF_(2, 3)
static inline int32_t rpcurl_fail(const rpcurl_host *host, const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  host->set_error(host, rpcurl_text_of(line));
  return RPCURL_EFAILED;
}

/* The message of a token, such as one from message_new, for call, stream_send, inject and respond. */
static inline rpcurl_local_message rpcurl_local_message_of(rpcurl_token message) {
  rpcurl_local_message local;
  memset(&local, 0, sizeof(local));
  local.struct_size = sizeof(local);
  local.form = RPCURL_FORM_MESSAGE;
  local.message = message;
  return local;
}

/* [any; before close] Makes a message, as message_new does, for call, stream_send, inject and respond. Its token, for set
 * and the like, is message->message. */
static inline int32_t rpcurl_message_new(
    const rpcurl_host *host, rpcurl_call call, rpcurl_text name, rpcurl_local_message *message) {
  rpcurl_token token = {0};
  int32_t result = host->message_new(host, call, name, &token);
  *message = rpcurl_local_message_of(token);
  return result;
}

/* Reads a string field. */
static inline int32_t rpcurl_get_string(
    const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text *text) {
  rpcurl_value value = {0, 0, {0}};
  int32_t result = host->get(host, token, path, &value);
  if (result < 0) return result;
  if (value.type != RPCURL_TYPE_STRING) return RPCURL_ETYPE;
  *text = value.as.text;
  return RPCURL_OK;
}

/* Writes a string field. */
static inline int32_t rpcurl_set_string(
    const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text text) {
  rpcurl_value value = {RPCURL_TYPE_STRING, 0, {0}};
  value.as.text = text;
  return host->set(host, token, path, &value);
}

/* Reads a signed integer field of any width. */
static inline int32_t rpcurl_get_int64(
    const rpcurl_host *host, rpcurl_token token, rpcurl_text path, int64_t *number) {
  rpcurl_value value = {0, 0, {0}};
  int32_t result = host->get(host, token, path, &value);
  if (result < 0) return result;
  if (value.type != RPCURL_TYPE_INT64) return RPCURL_ETYPE;
  *number = value.as.int64;
  return RPCURL_OK;
}

/* Writes a signed integer field of any width. */
static inline int32_t rpcurl_set_int64(
    const rpcurl_host *host, rpcurl_token token, rpcurl_text path, int64_t number) {
  rpcurl_value value = {RPCURL_TYPE_INT64, 0, {0}};
  value.as.int64 = number;
  return host->set(host, token, path, &value);
}

/* [any] Copies a text, with a zero after it. Free the copy with host->free. Null if out of memory. */
static inline char *rpcurl_copy(const rpcurl_host *host, rpcurl_text text) {
  char *copy = (char *)host->alloc(host, text.size + 1);
  if (copy == NULL) return NULL;
  if (text.size > 0) memcpy(copy, text.data, text.size);
  copy[text.size] = 0;
  return copy;
}

/* [any] Replaces a copy that is owned by the plugin, or null, by that of another text, for `configure`. Fails with a
 * reason if out of memory. */
static inline int32_t rpcurl_replace(const rpcurl_host *host, char **owned, rpcurl_text text) {
  char *copy = rpcurl_copy(host, text);
  if (copy == NULL) return rpcurl_fail(host, "out of memory");
  host->free(host, *owned);
  *owned = copy;
  return RPCURL_OK;
}

/* Parses a text that is a decimal integer: "-12". RPCURL_EPARSE if it is not one, RPCURL_ERANGE if it needs more
 * than 64 bits. */
static inline int32_t rpcurl_parse_int64(rpcurl_text text, int64_t *number) {
  const int is_negative = text.size > 0 && text.data[0] == '-';
  size_t index = is_negative ? 1 : 0;
  int64_t value = 0;
  if (index == text.size) return RPCURL_EPARSE;
  for (; index < text.size; index++) {
    const int digit = text.data[index] - '0';
    if (digit < 0 || digit > 9) return RPCURL_EPARSE;
    /* Negative, as the least number has no positive counterpart. */
    if (value < (INT64_MIN + digit) / 10) return RPCURL_ERANGE;
    value = value * 10 - digit;
  }
  if (!is_negative && value == INT64_MIN) return RPCURL_ERANGE;
  *number = is_negative ? value : -value;
  return RPCURL_OK;
}

/* Whether two texts are equal. */
static inline int rpcurl_text_equal(rpcurl_text one, rpcurl_text other) {
  if (one.size != other.size) return 0;
  for (size_t index = 0; index < one.size; index++) {
    if (one.data[index] != other.data[index]) return 0;
  }
  return 1;
}

#ifdef __cplusplus
}

/*
 * For plugins in C++, from C++11 on.
 *
 * An exception that leaves a callback ends the process, as its caller is C. Run the callback's body in a guard:
 *
 *     int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call, rpcurl_token token) noexcept {
 *       return rpcurl::guard(host, [&] {
 *         static_cast<Session *>(state)->sign(token);
 *         return RPCURL_OK;
 *       });
 *     }
 *
 * and describe the plugin in a function:
 *
 *     static const rpcurl_plugin hello = [] {
 *       rpcurl_plugin plugin = rpcurl::describe("hello");
 *       plugin.request_start = request_start;
 *       return plugin;
 *     }();
 *     RPCURL_PLUGIN(hello)
 */
#include <exception>
#include <string>

namespace rpcurl {

/* The text of a string, valid while the string is unchanged. */
inline rpcurl_text text(const std::string &string) noexcept {
  return rpcurl_text{string.data(), string.size()};
}

/* A copy of a text. */
inline std::string string(rpcurl_text text) { return text.size == 0 ? std::string() : std::string(text.data, text.size); }

/* A plugin with this name, with the head set and everything else null. `name` is terminated by a zero, and must
 * stay valid. */
inline rpcurl_plugin describe(const char *name) noexcept {
  rpcurl_plugin plugin = rpcurl_plugin();
  plugin.abi_major = RPCURL_ABI_MAJOR;
  plugin.abi_minor = RPCURL_ABI_MINOR;
  plugin.struct_size = sizeof(rpcurl_plugin);
  plugin.known_stages = RPCURL_STAGES_ALL;
  plugin.min_minor = RPCURL_MIN_MINOR;
  plugin.name = name;
  return plugin;
}

/* [any] Runs `body`, which returns an int32_t, and returns its result. An exception becomes RPCURL_EFAILED, with
 * its message as the reason. */
template <typename Body>
int32_t guard(const rpcurl_host *host, Body &&body) noexcept {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
  try {
    return body();
  } catch (const std::exception &exception) {
    const char *what = exception.what();
    host->set_error(host, rpcurl_text{what, std::char_traits<char>::length(what)});
  } catch (...) {
    host->set_error(host, RPCURL_TEXT("an unknown exception"));
  }
  return RPCURL_EFAILED;
#else
  (void)host;
  return body();
#endif
}

/* [any] The same for callbacks without a result, such as close: an exception is logged as an error. */
template <typename Body>
void guard_void(const rpcurl_host *host, Body &&body) noexcept {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
  try {
    body();
  } catch (const std::exception &exception) {
    const char *what = exception.what();
    host->log(host, RPCURL_LOG_ERROR, rpcurl_text{what, std::char_traits<char>::length(what)});
  } catch (...) {
    host->log(host, RPCURL_LOG_ERROR, RPCURL_TEXT("an unknown exception"));
  }
#else
  (void)host;
  body();
#endif
}

}  // namespace rpcurl
#endif

#endif /* RPCURL_PLUGIN_H */
