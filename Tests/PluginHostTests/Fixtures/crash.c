/* Crashes at the place in the variable CRASH_AT, in the way in CRASH_HOW; with CRASH_IN=child in a child process, whose
 * exit status or negative signal it logs. Blocks at that in BLOCK_AT, until the file in BLOCK_UNTIL exists, or for
 * 250 ms. */
#include "minimal.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int is(const char *name, const char *value) {
  const char *found = getenv(name);
  return found != NULL && strcmp(found, value) == 0;
}

/* A separate function for each way, so that the compiler does not warn. */
__attribute__((noinline)) static int overflow(volatile char *above) {
  volatile char here[4096];
  here[0] = above[0];
  return above[0] == 0 ? 0 : overflow(here) + here[0];
}

__attribute__((noinline)) static void crash(void) {
  volatile int zero = 0;
  if (is("CRASH_IN", "child")) {
    int status = 0;
    pid_t child = fork();
    if (child != 0) {
      waitpid(child, &status, 0);
      log_result("child", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
      return;
    }
  }
  if (is("CRASH_HOW", "abort")) abort();
  if (is("CRASH_HOW", "exit")) exit(0);
  if (is("CRASH_HOW", "quick_exit")) quick_exit(3);
  if (is("CRASH_HOW", "pthread_exit")) pthread_exit(NULL);
  if (is("CRASH_HOW", "close") || is("CRASH_HOW", "close and hang")) {
    for (int descriptor = 3; descriptor < 1024; descriptor++) close(descriptor);
    if (is("CRASH_HOW", "close")) return;
    for (;;) pause();
  }
  if (is("CRASH_HOW", "hang")) for (;;) pause();
  if (is("CRASH_HOW", "free")) {
    host->proceed(host, (rpcurl_token){0});
    free((void *)(uintptr_t)host->last_error(host).data);
  }
  if (is("CRASH_HOW", "divide")) zero = 100 / zero;
  if (is("CRASH_HOW", "illegal")) __builtin_trap();
  if (is("CRASH_HOW", "bus")) raise(SIGBUS);
  if (is("CRASH_HOW", "overflow")) overflow((volatile char *)"x");
  if (is("CRASH_HOW", "host")) host->last_error((const rpcurl_host *)16);
  *(volatile int *)(uintptr_t)(zero + 16) = 1;
}

static void *run(void *argument) {
  crash();
  return argument;
}

static void reach(const char *place) {
  if (is("CRASH_AT", place)) crash();
  if (is("CRASH_AT", "thread") && strcmp(place, "request_start") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
  }
  if (is("BLOCK_AT", place)) {
    const char *file = getenv("BLOCK_UNTIL");
    if (file == NULL) usleep(250 * 1000);
    while (file != NULL && access(file, F_OK) != 0) usleep(1000);
  }
}

__attribute__((constructor)) static void constructor(void) { reach("constructor"); }
__attribute__((destructor)) static void destructor(void) { reach("destructor"); }

static int32_t load(const rpcurl_host *given, void **plugin) {
  keep_host(given, plugin);
  reach("load");
  return RPCURL_OK;
}
static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  (void)host, (void)plugin, (void)key, (void)value;
  reach("configure");
  return RPCURL_OK;
}
static int32_t ready(const rpcurl_host *host, void *plugin) {
  (void)host, (void)plugin;
  reach("ready");
  return RPCURL_OK;
}
static void unload(const rpcurl_host *host, void *plugin) {
  (void)host, (void)plugin;
  reach("unload");
}
static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **state) {
  (void)host, (void)plugin, (void)call, (void)state;
  reach("open");
  return RPCURL_OK;
}
static uint64_t stages(const rpcurl_host *host, void *state) {
  (void)host, (void)state;
  reach("stages");
  return RPCURL_STAGES_ALL;
}
#define STAGE(name)                                                                   \
  static int32_t name(const rpcurl_host *host, void *state, rpcurl_call call, rpcurl_token token) { \
    (void)host, (void)state, (void)call, (void)token;                                             \
    reach(#name);                                                                     \
    return RPCURL_OK;                                                                 \
  }
STAGE(request_start)
STAGE(request_message)
STAGE(request_end)
STAGE(response_start)
STAGE(response_message)
STAGE(response_end)
STAGE(metrics)
static void close_call(const rpcurl_host *host, void *state, rpcurl_call call, const rpcurl_outcome *outcome) {
  (void)host, (void)state, (void)call, (void)outcome;
  reach("close");
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD, .name = "crash", .load = load, .configure = configure, .ready = ready,
    .unload = unload, .open = open_call, .stages = stages, .request_start = request_start,
    .request_message = request_message, .request_end = request_end,
    .response_start = response_start,
    .response_message = response_message, .response_end = response_end, .metrics = metrics,
    .close = close_call};
RPCURL_NOTE_(RPCURL_ABI_MAJOR, RPCURL_ABI_MINOR, RPCURL_MIN_MINOR)
RPCURL_EXPORT const rpcurl_plugin *rpcurl_plugin_entry(void) {
  reach("entry");
  return &plugin;
}
