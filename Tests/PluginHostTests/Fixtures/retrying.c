/* Retries each call at its end, in the way that the method names, and returns the result. */
#include <rpcurl/plugin.h>
#include <pthread.h>
#include <stdlib.h>

struct state {
  const rpcurl_host *host;
  rpcurl_text method;
  rpcurl_token start, token;
};

static int is(const struct state *state, rpcurl_text method) { return rpcurl_text_equal(state->method, method); }

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  struct state *state = calloc(1, sizeof(*state));
  (void)plugin;
  if (state == NULL || host->call_facts(host, call, &facts) < 0) return RPCURL_EFAILED;
  state->host = host;
  state->method = facts.method;
  *result = state;
  return RPCURL_OK;
}

static int32_t needs(const rpcurl_host *host, void *state, rpcurl_needs *needs) {
  (void)host;
  needs->replay_limit_bytes = is(state, RPCURL_TEXT("test.Echo/Unkept")) ? 0 : 10;
  return RPCURL_OK;
}

static int32_t response_start(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)call;
  if (is(state, RPCURL_TEXT("test.Echo/Late"))) return RPCURL_OK;
  ((struct state *)state)->start = token;
  return RPCURL_LATER;
}

static void *retry(void *argument) {
  struct state *state = argument;
  rpcurl_log(state->host, RPCURL_LOG_INFO, "retry: %d",
             (int)state->host->retry(state->host, state->token, 1000000000, NULL, 0));
  state->host->proceed(state->host, state->start);
  return NULL;
}

static int32_t response_end(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  pthread_t thread;
  rpcurl_text error;
  int32_t result;
  (void)call;
  if (is(state, RPCURL_TEXT("test.Echo/Thread"))) {
    state->token = token;
    pthread_create(&thread, NULL, retry, state);
    pthread_join(thread, NULL);
    return RPCURL_LATER;
  }
  result = host->retry(host, token, 1000000000, NULL, 0);
  error = host->last_error(host);
  rpcurl_log(host, RPCURL_LOG_INFO, "retry: %d %.*s", (int)result, (int)error.size, error.data);
  if (state->start.id != 0) host->proceed(host, state->start);
  return result;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)host, (void)call, (void)outcome;
  free(state);
}

RPCURL_DEFINE_PLUGIN(.name = "retrying", .open = open_call, .needs = needs, .response_start = response_start,
                     .response_end = response_end, .close = close_call)
