/* Makes streams and HTTP requests, and gives a response spread over time, depending on the method's name. */
#include <rpcurl/plugin.h>

#define T RPCURL_TEXT
#define S(text) (int)(text).size, (text).data

static rpcurl_call current;
static rpcurl_token held;
static rpcurl_stream stream;

static void log_result(const rpcurl_host *host, const char *what, int32_t result) {
  rpcurl_log(host, RPCURL_LOG_INFO, "%s: %d", what, (int)result);
}

static void started(const rpcurl_host *host, void *argument, const rpcurl_field *headers, size_t header_count) {
  const rpcurl_local_message message = {.struct_size = sizeof(message), .content = T("second")};
  rpcurl_log(host, RPCURL_LOG_INFO, "%s: started with %zu, %.*s", (char *)argument, header_count, S(headers->value));
  log_result(host, "send", host->stream_send(host, current, stream, &message));
  log_result(host, "pause", host->stream_pause(host, current, stream, 1));
}

static void received(const rpcurl_host *host, void *argument, rpcurl_text message) {
  (void)argument;
  rpcurl_log(host, RPCURL_LOG_INFO, "message %.*s", S(message));
}

static void wanted(const rpcurl_host *host, void *argument, uint32_t is_wanted) {
  (void)argument;
  log_result(host, "wanted", (int32_t)is_wanted);
  log_result(host, "finish", host->stream_finish(host, current, stream));
  log_result(host, "finish again", host->stream_finish(host, current, stream));
}

static void ended(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  (void)argument;
  rpcurl_log(host, RPCURL_LOG_INFO, "ended %d %.*s with %zu trailers", (int)response->status->code,
             S(response->status->message), response->trailer_count);
  log_result(host, "cancel", host->stream_cancel(host, current, stream));
  if (held.id != 0) host->proceed(host, held);
}

static void open_stream(const rpcurl_host *host) {
  rpcurl_stream_events events = {.struct_size = sizeof(events), .started = started, .message = received,
                                 .wanted = wanted, .ended = ended};
  const rpcurl_own_call own = {.struct_size = sizeof(own), .method = T("test.Log/Watch"), .timeout_ns = 1000};
  const rpcurl_local_message message = {.struct_size = sizeof(message), .content = T("first")};
  log_result(host, "kind", host->open_stream(host, current, 4, &own, &events, NULL, &stream));
  log_result(host, "open", host->open_stream(host, current, RPCURL_KIND_BIDI_STREAMING, &own, &events, "own", &stream));
  log_result(host, "send", host->stream_send(host, current, stream, &message));
  events.ended = NULL;
  log_result(host, "no end", host->open_stream(host, current, 0, &own, &events, NULL, &stream));
}

static void fetched(const rpcurl_host *host, void *argument, const rpcurl_fetch_response *response) {
  rpcurl_log(host, RPCURL_LOG_INFO, "%s: %d %.*s, %d %.*s with %zu headers", (char *)argument,
             (int)response->status->code, S(response->status->message), (int)response->http_status, S(response->body),
             response->header_count);
  if (held.id != 0) host->proceed(host, held);
}

static void fetch(const rpcurl_host *host) {
  const rpcurl_field header = {T("x-own"), T("1")};
  rpcurl_fetch request = {.struct_size = sizeof(request), .method = T("POST"), .url = T("https://tokens/t"),
                          .headers = &header, .header_count = 1, .body = T("grant"), .timeout_ns = 5000000000,
                          .max_body_bytes = 100};
  log_result(host, "fetch", host->fetch(host, current, &request, fetched, "fetched"));
  request.url = T("file:///etc/passwd");
  log_result(host, "file", host->fetch(host, current, &request, fetched, NULL));
  request.url = T("http://user:secret@localhost:1/");
  log_result(host, "user", host->fetch(host, current, &request, fetched, NULL));
  request.url = T("http://x");
  request.method = T("GET /");
  log_result(host, "method", host->fetch(host, current, &request, fetched, NULL));
}

static void give(const rpcurl_host *host, void *argument) {
  const rpcurl_local_message message = {
      .struct_size = sizeof(message), .form = RPCURL_FORM_JSON, .content = T("\"one\"")};
  const rpcurl_response end = {.struct_size = sizeof(end)};
  log_result(host, "inject", host->inject_response(host, current, &message));
  if (argument != NULL) {
    log_result(host, "when_wanted", host->when_wanted(host, current, RPCURL_DIRECTION_RESPONSE, give, NULL));
  } else {
    log_result(host, "respond", host->respond(host, held, &end));
  }
}

static int32_t request_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  const rpcurl_field header = {T("x-slow"), T("1")};
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  (void)state;
  host->call_facts(host, call, &facts);
  current = call;
  held = token;
  if (rpcurl_text_equal(facts.method, T("test.Echo/Stream"))) open_stream(host);
  if (rpcurl_text_equal(facts.method, T("test.Echo/Fetch"))) fetch(host);
  if (rpcurl_text_equal(facts.method, T("test.Echo/Slow"))) {
    log_result(host, "start", host->start_response(host, token, &header, 1));
    log_result(host, "start again", host->start_response(host, token, &header, 1));
    log_result(host, "direction", host->when_wanted(host, call, 2, give, NULL));
    log_result(host, "after", host->after(host, call, 1000000000, give, "again", NULL));
  }
  return RPCURL_LATER;
}

static int32_t request_end(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)state, (void)call;
  log_result(host, "start late", host->start_response(host, token, NULL, 0));
  return RPCURL_OK;
}

RPCURL_DEFINE_PLUGIN(.name = "requests", .request_start = request_start, .request_end = request_end)
