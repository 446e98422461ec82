/* Keeps the request's start, the first response message and the end, and uses their tokens on another thread. */
#include "minimal.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct kept {
  rpcurl_token token;
  rpcurl_call call;
  int is_after_end;
};

static int is_open(rpcurl_call call, rpcurl_call_facts *facts) {
  return host->call_facts(host, call, facts) == RPCURL_OK;
}

static void *resume(void *argument) {
  struct kept kept = *(struct kept *)argument;
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  free(argument);
  /* The method "AfterEnd" has its token used after the end of the call, however late that is. */
  do usleep(20 * 1000);
  while (kept.is_after_end && is_open(kept.call, &facts));
  /* Sets the header at stages with headers; fails at others. */
  host->header_set(host, kept.token, RPCURL_TEXT("x-later"), RPCURL_TEXT("yes"));
  host->proceed(host, kept.token);
  return NULL;
}

static int32_t later(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  pthread_t thread;
  rpcurl_call_facts facts = {.struct_size = sizeof(facts)};
  struct kept *kept = malloc(sizeof(*kept));
  (void)host, (void)state;
  if (!kept) return RPCURL_EFAILED;
  is_open(call, &facts);
  *kept = (struct kept){token, call, rpcurl_text_equal(facts.method, RPCURL_TEXT("test.Echo/AfterEnd"))};
  if (pthread_create(&thread, NULL, resume, kept) != 0) {
    free(kept);
    return RPCURL_EFAILED;
  }
  pthread_detach(thread);
  return RPCURL_LATER;
}

static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "later", .load = keep_host,
                                     .request_start = later, .response_message = later, .response_end = later};
RPCURL_PLUGIN(plugin)
