/* Keeps the request's start, the first response message and the end, and uses their tokens on another thread. */
#include "minimal.h"
#include <pthread.h>
#include <unistd.h>

static void *resume(void *argument) {
  rpcurl_token token = {(uint64_t)(uintptr_t)argument};
  usleep(20 * 1000);
  /* Sets the header at stages with headers; fails at others. */
  host->header_set(host, token, RPCURL_TEXT("x-later"), RPCURL_TEXT("yes"));
  host->proceed(host, token);
  return NULL;
}

static int32_t later(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) {
  pthread_t thread;
  (void)host, (void)state, (void)call;
  if (pthread_create(&thread, NULL, resume, (void *)(uintptr_t)token.id) != 0) return RPCURL_EFAILED;
  pthread_detach(thread);
  return RPCURL_LATER;
}

static const rpcurl_plugin plugin = {RPCURL_PLUGIN_HEAD, .name = "later", .load = keep_host,
                                     .request_start = later, .response_message = later, .response_end = later};
RPCURL_PLUGIN(plugin)
