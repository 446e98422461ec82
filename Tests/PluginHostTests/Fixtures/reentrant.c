/* Uses the host at the beginning or end of a call, and one token on two threads, depending on the method's name. */
#include "minimal.h"
#include <pthread.h>

#define T RPCURL_TEXT

static rpcurl_call current;

static void posted(const rpcurl_host *host, void *argument) {
  (void)argument;
  host->log(host, RPCURL_LOG_INFO, T("posted"));
}

static void done(const rpcurl_host *host, void *argument, const rpcurl_own_response *response) {
  const char *what = argument;
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = T("test.Tokens/Get")};
  (void)response;
  host->log(host, RPCURL_LOG_INFO, text(what));
  log_result("call in done", host->call(host, current, &own, done, "done again"));
  log_result("after in done", host->after(host, current, 0, posted, NULL, NULL));
  log_result("post in done", host->post(host, current, posted, NULL));
}

static int is(rpcurl_call call, const char *method) {
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  host->call_facts(host, call, &facts);
  return facts.method.size == 10 + strlen(method) && memcmp(facts.method.data + 10, method, strlen(method)) == 0;
}

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = T("test.Tokens/Get")};
  (void)plugin;
  (void)state;
  current = call;
  if (is(call, "Contend")) return RPCURL_OK;
  log_result("post", host->post(host, call, posted, NULL));
  log_result("call", host->call(host, call, &own, done, "done"));
  if (is(call, "Decline")) return RPCURL_DECLINE;
  if (is(call, "Refuse")) return rpcurl_fail(host, "refused");
  return RPCURL_OK;
}

static void *change(void *argument) {
  rpcurl_token token = *(rpcurl_token *)argument;
  free(argument);
  /* Different lengths, so that memory freed too early is soon reused. */
  static const char bytes[] = "\x1a\x1e" "abcdefghijklmnopqrstuvwxyzabcd";
  for (;;) {
    if (host->set_payload(host, token, (rpcurl_text){bytes, 32}) < 0) return NULL;
    if (host->set_payload(host, token, (rpcurl_text){"\x1a\x01z", 3}) < 0) return NULL;
  }
}

static void *pass(void *argument) {
  rpcurl_token token = *(rpcurl_token *)argument;
  free(argument);
  host->proceed(host, token);
  return NULL;
}

static void run(void *(*function)(void *), rpcurl_token token) {
  rpcurl_token *copy = malloc(sizeof(*copy));
  pthread_t thread;
  *copy = token;
  pthread_create(&thread, NULL, function, copy);
  pthread_detach(thread);
}

static int32_t request_message(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  (void)host, (void)state;
  if (!is(call, "Contend")) return RPCURL_OK;
  run(change, token);
  run(pass, token);
  return RPCURL_LATER;
}

static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  rpcurl_own_call own = {.struct_size = sizeof(own), .method = T("test.Tokens/Get")};
  (void)state;
  (void)outcome;
  if (is(call, "Contend")) return;
  log_result("call in close", host->call(host, call, &own, done, "done again"));
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD,
    .name = "reentrant",
    .load = keep_host,
    .open = open_call,
    .request_messages = RPCURL_MESSAGES_CHANGE_BYTES,
    .request_message = request_message,
    .close = close_call,
};
RPCURL_PLUGIN(plugin)
