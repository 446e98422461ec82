/* Over the network: opens a stream, fetches a URL, logs facts of the connection, and reports a finding. */
#include <rpcurl/plugin.h>
#include <stdlib.h>

#define INFO host, RPCURL_LOG_INFO
#define S(text) (int)(text).size, (text).data

struct state {
  rpcurl_call call;
  rpcurl_token start;
  rpcurl_stream stream;
};

static void fetched(const rpcurl_host *host, void *argument, const rpcurl_fetch_response *response) {
  const struct state *state = argument;
  rpcurl_log(INFO, "fetched %d: %.*s", (int)response->http_status, S(response->body));
  host->proceed(host, state->start);
}

static void fetch(const rpcurl_host *host, struct state *state) {
  rpcurl_fetch request = {.struct_size = sizeof(request), .url = rpcurl_text_of(getenv("NETWORK_URL"))};
  if (request.url.size == 0 || host->fetch(host, state->call, &request, fetched, state) < 0) {
    host->proceed(host, state->start);
  }
}

static void message(const rpcurl_host *host, void *argument, rpcurl_text text) {
  const struct state *state = argument;
  rpcurl_log(INFO, "message %.*s", S(text));
  host->stream_finish(host, state->call, state->stream);
}

static void ended(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  rpcurl_log(INFO, "stream ended: %d", (int)response->status->code);
  fetch(host, argument);
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  struct state *state = calloc(1, sizeof(*state));
  (void)plugin;
  if (state == NULL) return rpcurl_fail(host, "out of memory");
  state->call = call;
  *result = state;
  host->call_facts(host, call, &facts);
  rpcurl_log(INFO, "attempt %u, idempotency %u", facts.attempt, facts.idempotency);
  return RPCURL_OK;
}

static int32_t request_start(const rpcurl_host *host, void *given, rpcurl_call call, rpcurl_token token) {
  struct state *state = given;
  const rpcurl_own_call own = {.struct_size = sizeof(own), .method = RPCURL_TEXT("demo.v1.Demo/Chat"),
                               .response_form = RPCURL_FORM_JSON};
  const rpcurl_local_message hello = {
      .struct_size = sizeof(hello), .form = RPCURL_FORM_JSON, .content = RPCURL_TEXT("{\"text\": \"own\"}")};
  const rpcurl_stream_events events = {.struct_size = sizeof(events), .message = message, .ended = ended};
  int32_t result =
      host->open_stream(host, call, RPCURL_KIND_BIDI_STREAMING, &own, &events, state, &state->stream);
  if (result < 0) return result;
  state->start = token;
  result = host->stream_send(host, call, state->stream, &hello);
  return result < 0 ? result : RPCURL_LATER;
}

static int32_t response_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  rpcurl_response_start start = {.struct_size = sizeof(start)};
  (void)state, (void)call;
  int32_t result = host->get_response(host, token, &start);
  rpcurl_log(INFO, "HTTP/%.*s from %.*s with TLS (%.*s)", S(start.http_version), S(start.peer), S(start.tls_version));
  return result;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  rpcurl_log(INFO, "origin %u, sent %llu of %llu bytes", outcome->status->origin,
             (unsigned long long)outcome->metrics->sent_bytes, (unsigned long long)outcome->metrics->sent_message_bytes);
  if (getenv("NETWORK_FINDING") != NULL) {
    host->report(host, call, RPCURL_FINDING_FAILURE, rpcurl_text_of(getenv("NETWORK_FINDING")));
  }
  free(state);
}

RPCURL_DEFINE_PLUGIN(.name = "network", .open = open_call, .request_start = request_start,
                     .response_start = response_start, .close = close_call)
