/*
 * rpcurl/plugin.h: the interface between rpcurl and interceptors that it loads with dlopen. It needs C99 or C++11, and
 * the compilers gcc or clang.
 *
 * A plugin is a shared object that includes this header and links against nothing of rpcurl. It takes part in
 * calls as the built-in interceptors do: the host makes one instance for each call and hands it each value of
 * the call, at the stages that the plugin asks for.
 *
 *     caller -> A -> B -> C -> wire     request stages: first to last
 *     caller <- A <- B <- C <- wire     response stages, metrics and close: last to first
 *
 * The smallest plugin adds a header to each request:
 *
 *     #include <rpcurl/plugin.h>
 *
 *     static const rpcurl_host *host;
 *
 *     static int32_t load(const rpcurl_host *given, void **plugin) {
 *       host = given;
 *       (void)plugin;
 *       return RPCURL_OK;
 *     }
 *
 *     static int32_t request_start(void *state, rpcurl_call call, rpcurl_token token) {
 *       (void)state, (void)call;
 *       return host->header_set(host, token, RPCURL_TEXT("x-hello"), RPCURL_TEXT("world"));
 *     }
 *
 *     static const rpcurl_plugin hello = {
 *         RPCURL_PLUGIN_HEAD,
 *         .name = "hello",
 *         .version = "1.0",
 *         .summary = "adds the header x-hello",
 *         .load = load,
 *         .request_start = request_start,
 *     };
 *     RPCURL_PLUGIN(hello)
 *
 *     cc -shared -fPIC -o hello.so hello.c && rpcurl --plugin ./hello.so ...
 *
 * Tokens
 *     Each value comes with a token, and the plugin must say exactly once what becomes of the value. Returning
 *     RPCURL_OK from the callback lets the value go on, with the changes made to it. Returning RPCURL_LATER
 *     keeps it: the plugin uses the token later, from any thread, with proceed, fail, respond, drop or retry.
 *     While it keeps one, later values of the same direction still come to it, unless it asked in `needs` for
 *     one at a time; they go on in the order in which they came. A negative return value fails the call. A token that was used, or whose call has ended, is
 *     recognised: the function returns an error and nothing else happens.
 *
 * Ownership
 *     What the host passes in, and what its functions return through pointers, belongs to the host. Text and
 *     bytes obtained with a token stay valid until that token is used or its call has ended, or, if the callback
 *     returns other than RPCURL_LATER, until it returns. What a plugin passes in is copied before the function
 *     returns. Text is UTF-8 with a length, and need not end in a zero.
 *
 * Threads
 *     [main]  on the main thread, outside of calls.
 *     [loop]  on the thread of the event loop, which must not be blocked for long.
 *     [any]   from any thread.
 *     Each declaration says which. Functions that take a token are [any], but two threads must not use what
 *     was returned for one token while a third uses the token.
 *
 * Errors
 *     Functions return RPCURL_OK, or a count, or a negative RPCURL_E... code. The words are in last_error. C++
 *     exceptions and longjmp must not leave a callback; rpcurl::guard, at the end of this header, makes a failure
 *     of an exception. A crash in a callback ends the process with the exit code 7, after the host has said
 *     which plugin crashed, at which stage and in which call; so do exit and pthread_exit in a callback, and a
 *     callback that does not return within a second of the call's deadline or of a signal to end. A callback that
 *     takes 100 ms is logged.
 *
 *     The host logs a mistake in the use of tokens as `plugin misbehaving`; the setting strict=true, which every
 *     plugin has, fails the call then.
 *
 * Versions and growth
 *     Structures grow by appending members; what is here never moves and never changes its meaning, within one
 *     RPCURL_ABI_MAJOR. Each structure tells its size, so both sides know where the other's ends: the host
 *     reads of rpcurl_plugin only the first struct_size bytes; a plugin built against a newer header looks at
 *     host->struct_size (RPCURL_HOST_HAS) before it uses a function that was added, or asks get_extension. A
 *     structure that a plugin gives to be filled has its struct_size set by the plugin; the host writes no
 *     more. New stages come as new callbacks at the end of rpcurl_plugin and new bits of RPCURL_STAGES_ALL; a
 *     plugin that does not know them is not called there, and one that must not be passed by sets
 *     RPCURL_MUST_SEE_ALL. The version is also in an ELF note, which the host reads before it runs any of the
 *     plugin's code; RPCURL_PLUGIN writes it.
 */
#ifndef RPCURL_PLUGIN_H
#define RPCURL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. A host refuses plugins of another major version; minor versions only add. */
#define RPCURL_ABI_MAJOR 1
#define RPCURL_ABI_MINOR 1

/* ---- Results ------------------------------------------------------------------------------------------- */

/* Success. From a stage's callback: the value goes on. */
#define RPCURL_OK 0
/* From a stage's callback: the plugin keeps the token and uses it later. */
#define RPCURL_LATER 1
/* From open: this call does not concern the plugin. */
#define RPCURL_DECLINE 2

/* An argument is wrong: a null pointer, text that is not UTF-8, a name that is not one. */
#define RPCURL_EINVAL (-1)
/* The token was used before. The host logs that the plugin misbehaves. */
#define RPCURL_EUSED (-2)
/* No token or call of this plugin. The host logs that the plugin misbehaves. */
#define RPCURL_EUNKNOWN (-3)
/* The call has ended meanwhile, or was canceled: what is said is not heard. This is no mistake of the plugin. */
#define RPCURL_EENDED (-4)
/* The function does not fit the stage that the token is of, such as headers at a message's stage. */
#define RPCURL_ESTAGE (-5)
/* Nothing is there: no such header, no such element, an index beyond the end. */
#define RPCURL_ENOENT (-6)
/* The message has no such field, or the path is not one. */
#define RPCURL_EPATH (-7)
/* The field is of another type. */
#define RPCURL_ETYPE (-8)
/* The value does not fit the field: out of its range. */
#define RPCURL_ERANGE (-9)
/* JSON or bytes cannot be parsed as the message or field. */
#define RPCURL_EPARSE (-10)
/* The host cannot do this here, for example because it knows no schema. */
#define RPCURL_EUNSUPPORTED (-11)
/* For plugins: any other failure. Say what it is with set_error. */
#define RPCURL_EFAILED (-12)
/* Since 1.1. A function marked [loop] was called on another thread. The host logs that the plugin misbehaves. */
#define RPCURL_ETHREAD (-13)

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

/* One call. Valid from open until close returns; later uses are recognised. Never 0. */
typedef struct rpcurl_call {
  uint64_t id;
} rpcurl_call;

/* One value of a call. Used exactly once; later uses are recognised. Never 0, so 0 can mean none. */
typedef struct rpcurl_token {
  uint64_t id;
} rpcurl_token;

/* One header or trailer. Names are lower case. Values of names that end in -bin are base64 text. */
typedef struct rpcurl_field {
  rpcurl_text name;
  rpcurl_text value;
} rpcurl_field;

/* What an rpcurl_value holds. */
#define RPCURL_TYPE_BOOL 1   /* bool */
#define RPCURL_TYPE_INT64 2  /* int32, int64, sint32, sint64, sfixed32, sfixed64 */
#define RPCURL_TYPE_UINT64 3 /* uint32, uint64, fixed32, fixed64 */
#define RPCURL_TYPE_DOUBLE 4 /* float, double */
#define RPCURL_TYPE_STRING 5 /* string */
#define RPCURL_TYPE_BYTES 6  /* bytes */
#define RPCURL_TYPE_ENUM 7   /* an enum's number */

/* One scalar value of a message's field. */
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

/* What is known of a call before it starts. Filled by call_facts; set struct_size first. */
typedef struct rpcurl_call_facts {
  size_t struct_size;
  uint32_t kind;            /* RPCURL_KIND_... */
  uint32_t reserved;        /* 0 */
  rpcurl_text method;       /* "pkg.Service/Method" */
  rpcurl_text protocol;     /* "grpc", "grpc-web" or "connect" */
  rpcurl_text codec;        /* "proto" or "json" */
  rpcurl_text target;       /* "http[s]://host[:port][/prefix]" */
  rpcurl_text request_type; /* the full name of the request message's type; empty without a schema */
  rpcurl_text response_type;
} rpcurl_call_facts;

/* How a call ended. Codes are gRPC's: 0 is ok, 1 canceled, ... 16 unauthenticated. */
typedef struct rpcurl_status {
  size_t struct_size;
  int32_t code;
  uint32_t reserved; /* 0 */
  rpcurl_text message;
} rpcurl_status;

/* What a call took. Times are in nanoseconds since its start; -1 where there was none. */
typedef struct rpcurl_metrics {
  size_t struct_size;
  int64_t total_ns;
  int64_t connect_ns;
  int64_t tls_ns;
  int64_t first_byte_ns;
  uint64_t sent_bytes;
  uint64_t received_bytes;
  uint64_t sent_messages;
  uint64_t received_messages;
  uint64_t attempts;
} rpcurl_metrics;

/* How a call ended as the caller saw it; for close. Valid until close returns. */
typedef struct rpcurl_outcome {
  size_t struct_size;
  rpcurl_status status;
  rpcurl_metrics metrics;
} rpcurl_outcome;

/* Forms of a message. */
#define RPCURL_FORM_SERIALIZED 0 /* in the call's codec */
#define RPCURL_FORM_JSON 1       /* ProtoJSON; needs a schema */

/* A message that a plugin makes: in a local response, to be injected, or for a call of its own. */
typedef struct rpcurl_local_message {
  uint32_t form;     /* RPCURL_FORM_... */
  uint32_t reserved; /* 0 */
  rpcurl_text content;
} rpcurl_local_message;

/* Since 1.1. One detail of a status: a serialized message, with the full name of its type. */
typedef struct rpcurl_detail {
  rpcurl_text type_name; /* "google.rpc.RetryInfo", without "type.googleapis.com/" before it */
  rpcurl_text value;
} rpcurl_detail;

/* An answer that a plugin gives in place of a server. All of it is copied. */
typedef struct rpcurl_response {
  size_t struct_size;
  const rpcurl_field *headers;
  size_t header_count;
  const rpcurl_local_message *messages;
  size_t message_count;
  int32_t code; /* 0 is ok */
  uint32_t reserved; /* 0 */
  rpcurl_text message; /* of a status other than ok */
  const rpcurl_field *trailers;
  size_t trailer_count;
  /* Since 1.1; of a status other than ok. */
  const rpcurl_detail *details;
  size_t detail_count;
} rpcurl_response;

/* Since 1.1. How a call is to fail, for fail_with. All of it is copied. */
typedef struct rpcurl_failure {
  size_t struct_size;
  int32_t code;      /* not 0 */
  uint32_t reserved; /* 0 */
  rpcurl_text message;
  const rpcurl_detail *details;
  size_t detail_count;
} rpcurl_failure;

/* Since 1.1. Where a request goes and how long it may take, at request_start. Set struct_size first. */
typedef struct rpcurl_start {
  size_t struct_size;
  rpcurl_text target; /* "http[s]://host[:port][/prefix]" */
  int64_t timeout_ns; /* what is left of it; -1 without a limit */
} rpcurl_start;

/* Since 1.1. One timer of a call. Never 0, so 0 can mean none. */
typedef struct rpcurl_timer {
  uint64_t id;
} rpcurl_timer;

/* Since 1.1. What is done later on the loop's thread. */
typedef void (*rpcurl_function)(void *argument);

/* Since 1.1. A unary call that a plugin makes, such as for an access token. All of it is copied. */
typedef struct rpcurl_own_call {
  size_t struct_size;
  rpcurl_text method; /* "pkg.Service/Method" */
  rpcurl_text target; /* "http[s]://host[:port][/prefix]"; empty: that of the call it is made for */
  const rpcurl_field *headers;
  size_t header_count;
  rpcurl_local_message message; /* the one message; JSON needs a schema that has the method */
  int64_t timeout_ns;           /* 0 or less: 30 seconds */
  uint32_t response_form;       /* RPCURL_FORM_...: how `done` is to be given the message */
  uint32_t reserved;            /* 0 */
} rpcurl_own_call;

/* Since 1.1. How a plugin's own call ended. Valid until `done` returns. */
typedef struct rpcurl_own_response {
  size_t struct_size;
  int32_t code;      /* 0 is ok */
  uint32_t reserved; /* 0 */
  rpcurl_text status_message;
  rpcurl_text message; /* in the form that was asked for; empty when the code is not 0 */
  const rpcurl_field *headers;
  size_t header_count;
  const rpcurl_field *trailers;
  size_t trailer_count;
  const rpcurl_detail *details;
  size_t detail_count;
} rpcurl_own_response;

/* Since 1.1. Called at the end of a plugin's own call. */
typedef void (*rpcurl_done)(void *argument, const rpcurl_own_response *response);

/* Since 1.1. What a plugin needs of a call's chain. Filled by `needs`; the host sets struct_size and the defaults. */
typedef struct rpcurl_needs {
  size_t struct_size;
  /* How many bytes of the request the host keeps, so that retry can send them again. 0 (the default): none, and
   * the plugin never retries. A request that grows beyond it can be retried no more. */
  uint64_t replay_limit_bytes;
  /* How many bytes the plugin may have to hold at once, as when it waits for the whole body. 0 (the default): the
   * host's own window, 4 MiB. Beyond it the call pauses. */
  uint64_t window_bytes;
  /* 1: one value at a time; while the plugin keeps a token, later values of the direction wait in the chain.
   * 0 (the default): they come while it does. */
  uint32_t is_serial;
  uint32_t reserved; /* 0 */
} rpcurl_needs;

/* ---- Stages -------------------------------------------------------------------------------------------- */

#define RPCURL_STAGE_REQUEST_START (UINT64_C(1) << 0)
#define RPCURL_STAGE_REQUEST_MESSAGE (UINT64_C(1) << 1)
#define RPCURL_STAGE_REQUEST_BYTES (UINT64_C(1) << 2)
#define RPCURL_STAGE_REQUEST_END (UINT64_C(1) << 3)
#define RPCURL_STAGE_RESPONSE_START (UINT64_C(1) << 4)
#define RPCURL_STAGE_RESPONSE_BYTES (UINT64_C(1) << 5)
#define RPCURL_STAGE_RESPONSE_MESSAGE (UINT64_C(1) << 6)
#define RPCURL_STAGE_RESPONSE_END (UINT64_C(1) << 7)
#define RPCURL_STAGE_METRICS (UINT64_C(1) << 8)
/* Every stage that this header knows. */
#define RPCURL_STAGES_ALL UINT64_C(0x1ff)

/* ---- The host ------------------------------------------------------------------------------------------ */

/* How much a log line matters. */
#define RPCURL_LOG_DEBUG 0
#define RPCURL_LOG_INFO 1
#define RPCURL_LOG_WARNING 2
#define RPCURL_LOG_ERROR 3

/*
 * What the host does for a plugin. Each plugin that is loaded gets one of its own, which it passes as the first
 * argument of every function. Valid from load on, for as long as the process lives.
 */
typedef struct rpcurl_host rpcurl_host;
struct rpcurl_host {
  uint32_t abi_major;
  uint32_t abi_minor;
  size_t struct_size;
  const char *name;    /* "rpcurl"; ends in a zero */
  const char *version; /* the host's own version; ends in a zero */
  void *reserved;      /* the host's */

  /* -- Talking -- */

  /* [any] Writes a line to the host's log in the plugin's name. */
  int32_t (*log)(const rpcurl_host *host, uint32_t level, rpcurl_text text);
  /* [any] Sets the reason of the negative code that this callback returns, on the same thread. Without it the reason is
   * that of the last host function which failed with this code in the callback. */
  int32_t (*set_error)(const rpcurl_host *host, rpcurl_text text);
  /* [any] What went wrong in the last function that failed on this thread. Valid until the next that fails. */
  rpcurl_text (*last_error)(const rpcurl_host *host);
  /* [any] A structure of further functions, named with its version in the page that documents it; null when
   * this host has none of that name. Valid as long as the host. */
  const void *(*get_extension)(const rpcurl_host *host, rpcurl_text name);

  /* -- The call -- */

  /* [any] Fills in the facts of a call. Their text is valid until close returns. */
  int32_t (*call_facts)(const rpcurl_host *host, rpcurl_call call, rpcurl_call_facts *facts);
  /* [any] Ends the call at once: each interceptor that saw it start gets `canceled` with this reason. RPCURL_EENDED in
   * close, as all functions that take a call, but call_facts. */
  int32_t (*cancel)(const rpcurl_host *host, rpcurl_call call, rpcurl_text reason);

  /* -- Tokens: each of these uses the token up, unless it returns RPCURL_ESTAGE or RPCURL_EINVAL -- */

  /* [any] The value goes on, with the changes made to it. */
  int32_t (*proceed)(const rpcurl_host *host, rpcurl_token token);
  /* [any] Fails the call with a status other than ok. Request stages: nothing goes further; response stages:
   * those further out see the error in place of the rest. Not at the metrics stage. */
  int32_t (*fail)(const rpcurl_host *host, rpcurl_token token, int32_t code, rpcurl_text message);
  /* [any] Answers the call from here, without the network. Request stages only. */
  int32_t (*respond)(const rpcurl_host *host, rpcurl_token token, const rpcurl_response *response);
  /* [any] Takes a message out of a stream. Message and bytes stages only. Dropping the only message of a unary
   * call fails the call. */
  int32_t (*drop)(const rpcurl_host *host, rpcurl_token token);

  /* -- Headers: of the request at request_start, of the response at response_start, and the trailers at
   *    response_end -- */

  /* [any] The number of fields, or a negative code. */
  int64_t (*header_count)(const rpcurl_host *host, rpcurl_token token);
  /* [any] The field at an index; order and duplicates are kept. RPCURL_ENOENT beyond the end. */
  int32_t (*header_at)(const rpcurl_host *host, rpcurl_token token, size_t index, rpcurl_field *field);
  /* [any] The first value of a name, upper and lower case being the same. RPCURL_ENOENT when there is none. */
  int32_t (*header_first)(const rpcurl_host *host, rpcurl_token token, rpcurl_text name, rpcurl_text *value);
  /* [any] Replaces every value of a name by one. RPCURL_EINVAL for the headers that are the host's own, which
   * rpcurl-plugin(3) lists, and for a value of a name in -bin that is not base64. */
  int32_t (*header_set)(const rpcurl_host *host, rpcurl_token token, rpcurl_text name, rpcurl_text value);
  /* [any] Appends a field. RPCURL_EINVAL as for header_set. */
  int32_t (*header_add)(const rpcurl_host *host, rpcurl_token token, rpcurl_text name, rpcurl_text value);
  /* [any] Removes every value of a name; returns how many there were, or a negative code. */
  int64_t (*header_remove)(const rpcurl_host *host, rpcurl_token token, rpcurl_text name);

  /* -- Fields of the message, at request_message and response_message --
   *    A path names fields as the schema does, with indices and map keys in brackets:
   *    "user.address[0].city", "labels[\"env\"]". The empty path is the message itself. */

  /* [any] Reads a scalar; one that is not set has its default. */
  int32_t (*get)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_value *value);
  /* [any] Writes a scalar; messages on the way are made. */
  int32_t (*set)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, const rpcurl_value *value);
  /* [any] Appends a scalar to a repeated field. */
  int32_t (*append)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, const rpcurl_value *value);
  /* [any] Unsets a field, empties a repeated field or map, or removes an element of one. RPCURL_ENOENT beyond the end
   * of a list. */
  int32_t (*clear)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path);
  /* [any] 1 when the field is set, 0 when not, or a negative code. */
  int32_t (*has)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path);
  /* [any] The number of elements of a repeated field or map, or a negative code. */
  int64_t (*length)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path);
  /* [any] A field, or with the empty path the message, as ProtoJSON. */
  int32_t (*get_json)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text *json);
  /* [any] Replaces a field, or with the empty path the message, by what ProtoJSON says. */
  int32_t (*set_json)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text json);

  /* -- The message as bytes: at request_bytes and response_bytes what travels, before compression; at
   *    request_message and response_message its binary form -- */

  /* [any] The bytes. */
  int32_t (*get_payload)(const rpcurl_host *host, rpcurl_token token, rpcurl_text *bytes);
  /* [any] Replaces the message. */
  int32_t (*set_payload)(const rpcurl_host *host, rpcurl_token token, rpcurl_text bytes);

  /* -- The end -- */

  /* [any] The HTTP status of the response, at response_start. */
  int32_t (*get_http_status)(const rpcurl_host *host, rpcurl_token token);
  /* [any] The status, at response_end. Set struct_size first. */
  int32_t (*get_status)(const rpcurl_host *host, rpcurl_token token, rpcurl_status *status);
  /* [any] Replaces the status, at response_end; code 0 makes the call a success. Details are kept when the
   * code stays as it is. */
  int32_t (*set_status)(const rpcurl_host *host, rpcurl_token token, int32_t code, rpcurl_text message);
  /* [any] What the call took, at metrics. Set struct_size first. */
  int32_t (*get_metrics)(const rpcurl_host *host, rpcurl_token token, rpcurl_metrics *metrics);

  /* ==== Since 1.1: see RPCURL_HOST_HAS ==== */

  /* -- More that can be said with a token -- */

  /* [any] Uses the token up. Sends the request again from here, after a pause, through new instances of the
   * interceptors further in; `headers` replace those of their names in the request's start as it left this plugin.
   * Response stages only, and only before anything of this response has gone on from here. Where it is not
   * possible any more (the caller has seen something, the request was longer than replay_limit_bytes, the deadline
   * is too near) the value simply goes on, so this needs no other plan. */
  int32_t (*retry)(const rpcurl_host *host, rpcurl_token token, int64_t after_ns, const rpcurl_field *headers,
                   size_t header_count);
  /* [any] Uses the token up, as `fail` does, with details. */
  int32_t (*fail_with)(const rpcurl_host *host, rpcurl_token token, const rpcurl_failure *failure);
  /* [any] Puts a further message in front of the token's value. The token stays to be used, and this may be called
   * several times. Message, bytes and end stages; those further on see the message as any other. In a direction with
   * one message only to replace that: inject the new one, and drop the value. */
  int32_t (*inject)(const rpcurl_host *host, rpcurl_token token, const rpcurl_local_message *message);

  /* -- Messages without a token -- */

  /* [any] Sends a further message of the request, behind everything of the request that this plugin was given so
   * far. Once request_end has gone on from here the message goes nowhere, which is logged. */
  int32_t (*inject_request)(const rpcurl_host *host, rpcurl_call call, const rpcurl_local_message *message);
  /* [any] The same for the response, on its way to the caller. */
  int32_t (*inject_response)(const rpcurl_host *host, rpcurl_call call, const rpcurl_local_message *message);

  /* -- Time, and other threads -- */

  /* [loop] Calls a function on the loop's thread after a time, once. Not after close: a function that has not run
   * by then does not run, so free there what `argument` owns. `timer` may be null. */
  int32_t (*after)(const rpcurl_host *host, rpcurl_call call, int64_t after_ns, rpcurl_function function,
                   void *argument, rpcurl_timer *timer);
  /* [loop] Makes a timer's function not run. RPCURL_ENOENT when it has run, or was canceled. */
  int32_t (*cancel_timer)(const rpcurl_host *host, rpcurl_call call, rpcurl_timer timer);
  /* [any] Calls a function on the loop's thread as soon as it is free, once; functions posted by one thread run in
   * their order. Not after close, as for `after`. */
  int32_t (*post)(const rpcurl_host *host, rpcurl_call call, rpcurl_function function, void *argument);
  /* [loop] Makes a unary call of the plugin's own. It passes the chain but not this plugin; what interceptors on that
   * chain call in turn passes none of them. `done` is called exactly once if this returns RPCURL_OK, on the loop's
   * thread, never from within this function; when the call that it is made for ends first, with the code 1
   * (canceled), before close. RPCURL_EENDED from then on. */
  int32_t (*call)(const rpcurl_host *host, rpcurl_call call, const rpcurl_own_call *own, rpcurl_done done,
                  void *argument);

  /* -- Where the request goes, at request_start -- */

  /* [any] Target and time left. Set struct_size first. */
  int32_t (*get_start)(const rpcurl_host *host, rpcurl_token token, rpcurl_start *start);
  /* [any] Sends the request to another server. RPCURL_EINVAL when it is not "http[s]://host[:port][/prefix]". */
  int32_t (*set_target)(const rpcurl_host *host, rpcurl_token token, rpcurl_text target);
  /* [any] Sets how long the call may take from now on; negative: without a limit. */
  int32_t (*set_timeout)(const rpcurl_host *host, rpcurl_token token, int64_t timeout_ns);

  /* -- Details of a status other than ok, at response_end -- */

  /* [any] How many there are, or a negative code. */
  int64_t (*detail_count)(const rpcurl_host *host, rpcurl_token token);
  /* [any] The detail at an index. RPCURL_ENOENT beyond the end. */
  int32_t (*detail_at)(const rpcurl_host *host, rpcurl_token token, size_t index, rpcurl_detail *detail);
  /* [any] Appends one. RPCURL_ENOENT when the status is ok, which has none. */
  int32_t (*detail_add)(const rpcurl_host *host, rpcurl_token token, const rpcurl_detail *detail);
  /* [any] Removes all; returns how many there were, or a negative code. */
  int64_t (*details_clear)(const rpcurl_host *host, rpcurl_token token);

  /* -- Metrics -- */

  /* [any] Replaces what the call took, at metrics, for those further out. struct_size as for get_metrics. */
  int32_t (*set_metrics)(const rpcurl_host *host, rpcurl_token token, const rpcurl_metrics *metrics);

  /* -- More of a message's fields, at request_message and response_message -- */

  /* [any] Appends to a repeated field what ProtoJSON says: the way to append messages. */
  int32_t (*append_json)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text json);
  /* [any] The key at an index of a map, as RPCURL_TYPE_BOOL, INT64, UINT64 or STRING. Keys are in ascending order;
   * the path of a value is "map[key]", a string in quotes. RPCURL_ENOENT beyond the end. */
  int32_t (*key_at)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, size_t index,
                    rpcurl_value *key);
  /* [any] The name of the field that is set of a oneof, whose own name ends the path. RPCURL_ENOENT when none is. */
  int32_t (*which)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text *field);
  /* [any] The name of an enum field's value. RPCURL_ENOENT when the schema has no name for the number. */
  int32_t (*get_enum)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text *name);
  /* [any] Sets an enum field by a value's name. RPCURL_ENOENT when the enum has no such name. */
  int32_t (*set_enum)(const rpcurl_host *host, rpcurl_token token, rpcurl_text path, rpcurl_text name);

  /* -- Memory -- */

  /* [any] Memory that outlives callbacks, aligned for anything; null when there is none. The host never frees it. */
  void *(*alloc)(const rpcurl_host *host, size_t size);
  /* [any] Frees what alloc gave; null is nothing. */
  void (*free)(const rpcurl_host *host, void *memory);
};

/* Whether a host has a function that a later minor version added. */
#define RPCURL_HOST_HAS(host, member) \
  ((host)->struct_size >= offsetof(rpcurl_host, member) + sizeof((host)->member))

/* ---- The plugin ---------------------------------------------------------------------------------------- */

/* Flag: a host with stages that this plugin's header does not know must refuse it. For what signs, redacts or
 * audits, and must not be passed by. */
#define RPCURL_MUST_SEE_ALL (UINT64_C(1) << 0)
/* Flags that a host must understand: it refuses a plugin with one of these that it does not have. It ignores the others
 * that it does not have. */
#define RPCURL_FLAGS_MUST_UNDERSTAND UINT64_C(0xffffffff)

/*
 * A plugin. Valid for as long as the process lives. Members may be null, except `name`.
 *
 * In each callback `plugin` is what load stored, `state` what open stored for the call.
 */
typedef struct rpcurl_plugin {
  /* Set these four with RPCURL_PLUGIN_HEAD. */
  uint32_t abi_major;
  uint32_t abi_minor;
  size_t struct_size;
  uint64_t known_stages;

  uint64_t flags;          /* RPCURL_MUST_SEE_ALL, or 0 */
  const char *name;        /* a short name, for logs and errors; ends in a zero, as the next three do */
  const char *version;     /* the plugin's own version */
  const char *summary;     /* what it does, in one line */
  const char *config_help; /* the keys, one a line: "key=VALUE  what it does" */

  /* [main] Once for each time the plugin is put on the chain, first. Stores what the other callbacks get. */
  int32_t (*load)(const rpcurl_host *host, void **plugin);
  /* [main] One key of the configuration, in the order written. An unknown key or a wrong value: a negative
   * code, with set_error. Null: the plugin has no keys. */
  int32_t (*configure)(void *plugin, rpcurl_text key, rpcurl_text value);
  /* [main] All keys have been given. */
  int32_t (*ready)(void *plugin);
  /* [main] The process ends in order. No call is open. */
  void (*unload)(void *plugin);

  /* [loop] A call is about to start. RPCURL_OK: take part, with *state for this call. RPCURL_DECLINE: not this
   * call; it costs nothing then. A negative code fails the call before anything is sent. */
  int32_t (*open)(void *plugin, rpcurl_call call, void **state);
  /* [loop] The stages at which to be called for this call, after open. Null: all that have a callback. */
  uint64_t (*stages)(void *state);

  /* [loop] The stages. Each returns RPCURL_OK, RPCURL_LATER, or a negative code, which fails the call. */

  /* Once. The request's headers can be changed. */
  int32_t (*request_start)(void *state, rpcurl_call call, rpcurl_token token);
  /* For each message to be sent, as a typed message; before request_bytes of every interceptor. */
  int32_t (*request_message)(void *state, rpcurl_call call, rpcurl_token token);
  /* For each message to be sent, serialized and not yet compressed. */
  int32_t (*request_bytes)(void *state, rpcurl_call call, rpcurl_token token);
  /* Once: no more messages are sent. */
  int32_t (*request_end)(void *state, rpcurl_call call, rpcurl_token token);
  /* At most once. The response's headers can be changed. */
  int32_t (*response_start)(void *state, rpcurl_call call, rpcurl_token token);
  /* For each message received, decompressed; before response_message of every interceptor. */
  int32_t (*response_bytes)(void *state, rpcurl_call call, rpcurl_token token);
  /* For each message received, as a typed message. */
  int32_t (*response_message)(void *state, rpcurl_call call, rpcurl_token token);
  /* Once, with success or an error, unless this plugin failed or answered the call itself. Status and trailers
   * can be changed. After a cancellation it is only shown: changes are not heard. */
  int32_t (*response_end)(void *state, rpcurl_call call, rpcurl_token token);
  /* Once, after the caller has been given the end. */
  int32_t (*metrics)(void *state, rpcurl_call call, rpcurl_token token);

  /* [loop] The call is over: free `state`. Exactly once for each open that returned RPCURL_OK, last. Tokens and
   * the call are not valid after it; using them is recognised, and returns an error. */
  void (*close)(void *state, rpcurl_call call, const rpcurl_outcome *outcome);

  /* ==== Since 1.1 ==== */

  /* [loop] What this call's chain must offer, after open. A negative code fails the call. Null: the defaults. */
  int32_t (*needs)(void *state, rpcurl_needs *needs);
} rpcurl_plugin;

/* The first members of a plugin's structure. */
#define RPCURL_PLUGIN_HEAD                                              \
  .abi_major = RPCURL_ABI_MAJOR, .abi_minor = RPCURL_ABI_MINOR,         \
  .struct_size = sizeof(rpcurl_plugin), .known_stages = RPCURL_STAGES_ALL

/* ---- What the shared object exports -------------------------------------------------------------------- */

/* The one symbol that a host looks for. [main] */
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

/*
 * The ELF note: name "rpcurl", type 1, and as its content two 32-bit numbers: ABI major and minor version. It is
 * in an allocated section, so that strip keeps it.
 */
#define RPCURL_NOTE_NAME "rpcurl"
#define RPCURL_NOTE_TYPE 1
#define RPCURL_NOTE_(major, minor)                             \
  __asm__(".pushsection .note.rpcurl,\"a\",%note\n"            \
          ".balign 4\n"                                        \
          ".long 7, 8, 1\n"                                    \
          ".asciz \"rpcurl\"\n"                                \
          ".balign 4\n"                                        \
          ".long " RPCURL_STRING(major) ", " RPCURL_STRING(minor) "\n" \
          ".popsection\n");

/* Makes `plugin`, a static const rpcurl_plugin, the plugin of this shared object. Once, at file scope. */
#define RPCURL_PLUGIN(plugin)                        \
  RPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR)   \
  RPCURL_EXPORT const rpcurl_plugin *rpcurl_plugin_entry(void) { return &plugin; }

/* ---- Shorter forms ------------------------------------------------------------------------------------- */

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

/* Whether two texts are the same. */
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
 * For authors in C++, from C++11 on.
 *
 * An exception that leaves a callback ends the process, as there is C above it. Run the callback's body in a guard:
 *
 *     int32_t request_start(void *state, rpcurl_call call, rpcurl_token token) noexcept {
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

/* The text of a string, for as long as the string is not changed. */
inline rpcurl_text text(const std::string &string) noexcept {
  return rpcurl_text{string.data(), string.size()};
}

/* A plugin of this name, with the head set and everything else null. `name` ends in a zero, and stays. */
inline rpcurl_plugin describe(const char *name) noexcept {
  rpcurl_plugin plugin = rpcurl_plugin();
  plugin.abi_major = RPCURL_ABI_MAJOR;
  plugin.abi_minor = RPCURL_ABI_MINOR;
  plugin.struct_size = sizeof(rpcurl_plugin);
  plugin.known_stages = RPCURL_STAGES_ALL;
  plugin.name = name;
  return plugin;
}

/* [any] Runs `body`, which returns an int32_t, and returns that. An exception becomes RPCURL_EFAILED, with what it
 * says as the reason. */
template <typename Body>
int32_t guard(const rpcurl_host *host, Body &&body) noexcept {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
  try {
    return body();
  } catch (const std::exception &exception) {
    const char *what = exception.what();
    host->set_error(host, rpcurl_text{what, std::char_traits<char>::length(what)});
  } catch (...) {
    host->set_error(host, RPCURL_TEXT("an exception that says nothing"));
  }
  return RPCURL_EFAILED;
#else
  (void)host;
  return body();
#endif
}

/* [any] The same for callbacks that return nothing, such as close: an exception is logged as an error. */
template <typename Body>
void guard_void(const rpcurl_host *host, Body &&body) noexcept {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
  try {
    body();
  } catch (const std::exception &exception) {
    const char *what = exception.what();
    host->log(host, RPCURL_LOG_ERROR, rpcurl_text{what, std::char_traits<char>::length(what)});
  } catch (...) {
    host->log(host, RPCURL_LOG_ERROR, RPCURL_TEXT("an exception that says nothing"));
  }
#else
  (void)host;
  body();
#endif
}

}  // namespace rpcurl
#endif

#endif /* RPCURL_PLUGIN_H */
