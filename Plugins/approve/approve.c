/*
 * approve: holds each call until a person on this machine approves it.
 *
 *     cc -shared -fPIC -fvisibility=hidden -o approve.so approve.c -lpthread
 *     rpcurl --plugin ./approve.so ...                     asks on the terminal
 *     rpcurl --plugin ./approve.so,file=/run/ok ...        waits until the file exists
 *     rpcurl --plugin ./approve.so,methods=pkg.Service/Delete ...    asks for one method only
 *
 * It demonstrates deferral: request_start keeps its token and returns RPCURL_LATER; a thread waits for the answer and
 * then uses the token. Meanwhile the loop runs, so Ctrl-C and deadlines work as usual, and nothing is sent. Without an
 * answer in time the call fails with permission_denied.
 */
#define _GNU_SOURCE
#include <rpcurl/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PERMISSION_DENIED = 7, UNAVAILABLE = 14 };
/* The interval at which the file is checked, in milliseconds. */
enum { LOOK_MS = 50 };

struct approve {
  const rpcurl_host *host;
  char *file; /* null: ask on the terminal */
  long timeout_ms;
  pthread_mutex_t terminal; /* one question at a time */
};

/* One call. */
struct state {
  struct approve *approve;
  rpcurl_call_facts facts;
  rpcurl_token token;
  pthread_t thread;
  int is_waiting;  /* the thread was started */
  int wake[2];     /* closing the second end ends the thread */
};

/* ---- Configuration ---------------------------------------------------------------------------------------- */

static int32_t load(const rpcurl_host *host, void **plugin) {
  struct approve *approve = calloc(1, sizeof(*approve));
  if (approve == NULL) return rpcurl_fail(host, "out of memory");
  approve->host = host;
  approve->timeout_ms = 60 * 1000;
  pthread_mutex_init(&approve->terminal, NULL);
  *plugin = approve;
  return RPCURL_OK;
}

static int32_t configure(const rpcurl_host *host, void *plugin, rpcurl_text key, rpcurl_text value) {
  struct approve *approve = plugin;
  char *copy = malloc(value.size + 1);
  if (copy == NULL) return rpcurl_fail(host, "out of memory");
  if (value.size > 0) memcpy(copy, value.data, value.size);
  copy[value.size] = 0;
  if (rpcurl_text_equal(key, RPCURL_TEXT("file"))) {
    free(approve->file);
    approve->file = copy;
    return RPCURL_OK;
  }
  int32_t result = RPCURL_OK;
  if (rpcurl_text_equal(key, RPCURL_TEXT("timeout"))) {
    char *end;
    double seconds = strtod(copy, &end);
    if (end == copy || *end != 0 || !(seconds > 0 && seconds <= 86400)) {
      result = rpcurl_fail(host, "is not a number of seconds, up to 86400");
    }
    approve->timeout_ms = result == RPCURL_OK ? (long)(seconds * 1000) : 0;
  } else {
    result = rpcurl_fail(host, "unknown key");
  }
  free(copy);
  return result;
}

static void unload(const rpcurl_host *host, void *plugin) {
  (void)host;
  struct approve *approve = plugin;
  pthread_mutex_destroy(&approve->terminal);
  free(approve->file);
  free(approve);
}

/* ---- Waiting, on a separate thread for the call --------------------------------------------------------------- */

enum answer { YES, NO, TOO_LATE, CLOSED, NO_TERMINAL };

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* Waits up to a time for input on a descriptor (-1: none). Returns 1 for input, 0 for none, -1 if the call is
 * over. */
static int wait_for(const struct state *state, int descriptor, long milliseconds) {
  struct pollfd sources[] = {{.fd = state->wake[0], .events = POLLIN}, {.fd = descriptor, .events = POLLIN}};
  int count = poll(sources, 2, milliseconds < 0 ? 0 : (int)milliseconds);
  if (sources[0].revents != 0) return -1;
  return count > 0 ? 1 : 0;
}

static enum answer wait_for_file(const struct state *state, long deadline) {
  const char *file = state->approve->file;
  for (;;) {
    if (access(file, F_OK) == 0) return YES;
    if (now_ms() >= deadline) return TOO_LATE;
    if (wait_for(state, -1, LOOK_MS) < 0) return CLOSED;
  }
}

static enum answer ask(const struct state *state, int terminal, long deadline) {
  char line[64];
  dprintf(terminal, "approve: call %.*s of %.*s? [y/N] ", (int)state->facts.method.size, state->facts.method.data,
          (int)state->facts.target.size, state->facts.target.data);
  int ready = wait_for(state, terminal, deadline - now_ms());
  if (ready <= 0) {
    dprintf(terminal, "\n");
    return ready < 0 ? CLOSED : TOO_LATE;
  }
  ssize_t size = read(terminal, line, sizeof(line));
  return size > 0 && (line[0] == 'y' || line[0] == 'Y') ? YES : NO;
}

static enum answer wait_for_terminal(const struct state *state, long deadline) {
  struct approve *approve = state->approve;
  int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return NO_TERMINAL;
  enum answer answer = YES;
  /* Another call may be asking on the terminal. */
  while (answer == YES && pthread_mutex_trylock(&approve->terminal) != 0) {
    if (wait_for(state, -1, LOOK_MS) < 0) answer = CLOSED;
    if (now_ms() >= deadline) answer = TOO_LATE;
  }
  if (answer == YES) {
    answer = ask(state, terminal, deadline);
    pthread_mutex_unlock(&approve->terminal);
  }
  close(terminal);
  return answer;
}

static void *wait_for_answer(void *argument) {
  struct state *state = argument;
  struct approve *approve = state->approve;
  const rpcurl_host *host = approve->host;
  long deadline = now_ms() + approve->timeout_ms;
  /* These are [any]: this thread may use the token. They have no effect if the call has ended. */
  switch (approve->file != NULL ? wait_for_file(state, deadline) : wait_for_terminal(state, deadline)) {
    case YES: host->proceed(host, state->token); break;
    case NO: host->fail(host, state->token, PERMISSION_DENIED, RPCURL_TEXT("the call was not approved")); break;
    case TOO_LATE: host->fail(host, state->token, PERMISSION_DENIED, RPCURL_TEXT("the call was not approved in time")); break;
    case NO_TERMINAL: host->fail(host, state->token, UNAVAILABLE, RPCURL_TEXT("there is no terminal to ask on; give file=PATH")); break;
    case CLOSED: break;
  }
  return NULL;
}

/* ---- Calls ------------------------------------------------------------------------------------------------ */

static int32_t open_call(const rpcurl_host *host, void *plugin, rpcurl_call call, void **result) {
  struct approve *approve = plugin;
  struct state *state = calloc(1, sizeof(*state));
  if (state == NULL) return rpcurl_fail(host, "out of memory");
  state->approve = approve;
  state->facts.struct_size = sizeof(state->facts);
  int32_t found = host->call_facts(host, call, &state->facts);
  if (found < 0 || pipe2(state->wake, O_CLOEXEC) != 0) {
    free(state);
    return found < 0 ? found : rpcurl_fail(host, "pipe: %s", strerror(errno));
  }
  *result = state;
  return RPCURL_OK;
}

static int32_t request_start(const rpcurl_host *host, void *plugin_state, rpcurl_call call, rpcurl_token token) {
  struct state *state = plugin_state;
  (void)call;
  state->token = token;
  if (pthread_create(&state->thread, NULL, wait_for_answer, state) != 0) {
    return rpcurl_fail(host, "cannot start a thread");
  }
  state->is_waiting = 1;
  return RPCURL_LATER;
}

/* Also called if the call is canceled while it waits: the thread must end before the state is freed. */
static void close_call(const rpcurl_host *host, void *plugin_state, rpcurl_call call, const rpcurl_outcome *outcome) {
  struct state *state = plugin_state;
  (void)host, (void)call, (void)outcome;
  close(state->wake[1]);
  if (state->is_waiting) pthread_join(state->thread, NULL);
  close(state->wake[0]);
  free(state);
}

static const rpcurl_plugin plugin = {
    RPCURL_PLUGIN_HEAD,
    .flags = RPCURL_MUST_SEE_ALL,
    .request_messages = RPCURL_MESSAGES_NONE,
    .response_messages = RPCURL_MESSAGES_NONE,
    .name = "approve",
    .version = "1.0",
    .summary = "holds each call until a person on this machine approves it",
    .config_help =
        "file=PATH          wait until this file exists (default: ask on the terminal)\n"
        "timeout=SECONDS    how long to wait (60)",
    .load = load,
    .configure = configure,
    .unload = unload,
    .open = open_call,
    .request_start = request_start,
    .close = close_call,
};

RPCURL_PLUGIN(plugin)
