// Reports a plugin that crashed, ended the process, or does not return. Everything is async-signal-safe: it
// reads records and writes.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "guard_private.h"

static const struct {
  int number;
  const char *name;
} signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"},  // how Swift traps on arm64
};
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static struct sigaction previous[SIGNALS];
static uintptr_t own_code, own_code_end;

// The process that started the guard. One that a plugin forked ends as the plugin decides.
static pid_t own_process;

// ---- Text

static enum plugin_guard_form report_form = PLUGIN_GUARD_TEXT;

void plugin_guard_tell_as(enum plugin_guard_form form) { report_form = form; }

struct text {
  char bytes[2048];
  size_t size;
};

// Bytes reserved for the end of the report, so that JSON is always complete.
enum { RESERVE = 64 };

static void add_form(struct text *text, const char *words, const char *json) {
  for (const char *next = report_form == PLUGIN_GUARD_JSON ? json : words; *next != 0; next++) {
    if (text->size < sizeof(text->bytes)) text->bytes[text->size++] = *next;
  }
}

static void add(struct text *text, const char *words) {
  // A plugin's name must not control a terminal, nor end a JSON string.
  for (; *words != 0 && text->size + 2 < sizeof(text->bytes) - RESERVE; words++) {
    unsigned char byte = (unsigned char)*words;
    if (report_form == PLUGIN_GUARD_JSON && (byte == '"' || byte == '\\')) text->bytes[text->size++] = '\\';
    text->bytes[text->size++] = byte < 0x20 || byte == 0x7f ? '?' : (char)byte;
  }
}

static void write_out(const struct text *text) {
  if (report_form == PLUGIN_GUARD_SILENT) return;
  if (write(STDERR_FILENO, text->bytes, text->size) < 0) return;
}

static void add_hexadecimal(struct text *text, uintptr_t number) {
  char digits[2 * sizeof(number) + 3];
  size_t index = sizeof(digits) - 1;
  digits[index] = 0;
  do {
    digits[--index] = "0123456789abcdef"[number & 15];
    number >>= 4;
  } while (number != 0);
  digits[--index] = 'x';
  digits[--index] = '0';
  add(text, digits + index);
}

static void add_name(struct text *text, const plugin_guard_plugin *plugin) {
  const char *name = __atomic_load_n(&plugin->name, __ATOMIC_ACQUIRE);
  add(text, name == NULL ? plugin->file : name);
}

// ---- The place of the crash

static bool registers(const void *context, uintptr_t *code, uintptr_t *stack) {
  const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
  *code = (uintptr_t)machine->gregs[REG_RIP];
  *stack = (uintptr_t)machine->gregs[REG_RSP];
#elif defined(__aarch64__)
  *code = (uintptr_t)machine->pc;
  *stack = (uintptr_t)machine->sp;
#elif defined(__riscv)
  *code = (uintptr_t)machine->__gregs[REG_PC];
  *stack = (uintptr_t)machine->__gregs[REG_SP];
#else
  (void)machine;
  *code = 0;
  *stack = 0;
  return false;
#endif
  return true;
}

static const plugin_guard_plugin *owner_of(uintptr_t address) {
  for (const plugin_guard_plugin *plugin = plugin_guard_plugins(); plugin != NULL; plugin = plugin->next) {
    uintptr_t code = __atomic_load_n(&plugin->code, __ATOMIC_ACQUIRE);
    if (code != 0 && address >= code && address < plugin->code_end) return plugin;
  }
  return NULL;
}

#define WORDS_OF_STACK 32

// The first address in a number of blocks of the stack that is in a plugin: the probable caller, without knowledge of frames. The
// kernel reads the stack, as it may end anywhere.
static uintptr_t caller_in_plugin(uintptr_t stack, int blocks) {
  uintptr_t words[WORDS_OF_STACK];
  for (int block = 0; block < blocks; block++) {
    struct iovec here = {words, sizeof(words)};
    struct iovec there = {(void *)(stack + (uintptr_t)block * sizeof(words)), sizeof(words)};
    ssize_t bytes = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (bytes <= 0) return 0;
    for (size_t index = 0; index < (size_t)bytes / sizeof(words[0]); index++) {
      if (owner_of(words[index]) != NULL) return words[index];
    }
    if ((size_t)bytes < sizeof(words)) return 0;
  }
  return 0;
}

// ---- The report

static void add_signal(struct text *text, int number) {
  const char *name = "a signal";
  for (int index = 0; index < SIGNALS; index++) {
    if (signals[index].number == number) name = signals[index].name;
  }
  add(text, name);
}

static void begin(struct text *text, const plugin_guard_plugin *plugin) {
  add_form(text, "rpcurl: plugin ", "{\"error\":{\"what\":\"plugin ");
  add_name(text, plugin);
  add_form(text, ": ", "\",\"why\":\"");
}

static void add_place(struct text *text, const plugin_guard_place *place) {
  if (place->plugin == NULL) {
    add(text, "outside of a callback");
    return;
  }
  add(text, "in ");
  add(text, (const char *)place->stage);
  if (place->method == NULL) return;
  add(text, ", in the call ");
  add(text, place->method);
}

static void add_hint(struct text *text, const plugin_guard_plugin *plugin) {
  add_form(text, "\nhint: ", "\",\"hint\":\"");
  add(text, "its file is ");
  add(text, plugin->file);
}

static void end(struct text *text) {
  add_form(text, "\n", "\",\"exit\":7}}\n");
  write_out(text);
}

static plugin_guard_restore restore_with;

void plugin_guard_restore_with(plugin_guard_restore restore) {
  __atomic_store_n(&restore_with, restore, __ATOMIC_RELEASE);
}

// Ends the process without the functions registered with atexit(3), which may wait for the plugin.
static _Noreturn void end_process(void) {
  plugin_guard_restore restore = __atomic_load_n(&restore_with, __ATOMIC_ACQUIRE);
  if (restore != NULL) restore();
  _exit(PLUGIN_GUARD_EXIT_CODE);
}

// If several threads report at once, the first one does; the others wait here forever.
static void claim_report(void) {
  static int is_reporting;
  if (__atomic_exchange_n(&is_reporting, 1, __ATOMIC_RELAXED) == 0) return;
  for (;;) pause();
}

static void report(const plugin_guard_plugin *plugin, const plugin_guard_place *place, int number, uintptr_t code,
                   uintptr_t caller) {
  struct text text = {.size = 0};
  begin(&text, plugin);
  add(&text, "crashed (");
  add_signal(&text, number);
  add(&text, ") ");
  add_place(&text, place);
  if (place->plugin != NULL && code >= own_code && code < own_code_end) add(&text, ", within a function of rpcurl");
  add_hint(&text, plugin);
  uintptr_t at = owner_of(code) == plugin ? code : caller;
  if (at != 0 && plugin->code != 0) {
    // A return address is after the call.
    if (at != code) at -= 1;
    add(&text, "; with debug information, addr2line -fe FILE ");
    add_hexadecimal(&text, at - plugin->code);
    add(&text, " prints the line");
  }
  end(&text);
}

void plugin_guard_end_stuck(const plugin_guard_place *place, const char *since) {
  struct text text = {.size = 0};
  claim_report();
  begin(&text, place->plugin);
  add(&text, "did not return after ");
  add(&text, since);
  add(&text, ", ");
  add_place(&text, place);
  add_hint(&text, place->plugin);
  add(&text, "; a callback that waits returns RPCURL_LATER, and uses the token later");
  end(&text);
  end_process();
}

void plugin_guard_end_exited(const plugin_guard_place *place, const char *what) {
  struct text text = {.size = 0};
  if (getpid() != own_process) return;
  claim_report();
  begin(&text, place->plugin);
  add(&text, what);
  add(&text, " ");
  add_place(&text, place);
  add_hint(&text, place->plugin);
  add(&text, "; a plugin returns a negative code instead");
  end(&text);
  end_process();
}

static void report_unknown(int number) {
  struct text text = {.size = 0};
  add_form(&text, "rpcurl: ", "{\"error\":{\"what\":\"\",\"why\":\"");
  add(&text, "crashed (");
  add_signal(&text, number);
  add(&text, ") on a thread that rpcurl did not start; it may belong to one of these plugins:");
  for (const plugin_guard_plugin *plugin = plugin_guard_plugins(); plugin != NULL; plugin = plugin->next) {
    add(&text, " ");
    add_name(&text, plugin);
  }
  add_form(&text, "\n", "\"}}\n");
  write_out(&text);
}

// Passes the signal to the previous handler.
static void pass_on(int number, const siginfo_t *info) {
  for (int index = 0; index < SIGNALS; index++) {
    if (signals[index].number == number) sigaction(number, &previous[index], NULL);
  }
  // A fault is raised again when this returns; a sent signal is not.
  if (info->si_code <= 0) raise(number);
}

static void handle(int number, siginfo_t *info, void *context) {
  int error = errno;
  uintptr_t code, stack, caller = 0;
  if (getpid() != own_process) {
    pass_on(number, info);
    errno = error;
    return;
  }
  plugin_guard_place place = {0};
  if (plugin_guard_mine != NULL) place = plugin_guard_mine->place;
  bool is_known = registers(context, &code, &stack);
  const plugin_guard_plugin *plugin = place.plugin;
  bool is_ours = plugin_guard_mine != NULL || syscall(SYS_gettid) == getpid();
  if (plugin == NULL && is_known) plugin = owner_of(code);
  if (is_known && owner_of(code) == NULL && (plugin != NULL || !is_ours)) {
    caller = caller_in_plugin(stack, 32);
    if (plugin == NULL && caller != 0) plugin = owner_of(caller);
  }
  if (plugin == NULL) {
    if (!is_ours) report_unknown(number);
    pass_on(number, info);
    errno = error;
    return;
  }
  claim_report();
  report(plugin, &place, number, code, caller);
  _exit(PLUGIN_GUARD_EXIT_CODE);
}

// ---- exit

// The host never ends the process within a callback. A plugin's own thread has no record, and the stack shows
// the caller, beside the frames of `exit`. Further up, the stack of a thread of the host can have what a thread of a plugin has left:
// the C library uses the memory of stacks again.
static void at_exit(void) {
  plugin_guard_place place = {0};
  if (plugin_guard_mine != NULL) {
    place = plugin_guard_mine->place;
    if (place.plugin != NULL) plugin_guard_end_exited(&place, "ended the process");
    return;
  }
  uintptr_t caller = caller_in_plugin((uintptr_t)__builtin_frame_address(0) & ~(sizeof(uintptr_t) - 1), 1);
  const plugin_guard_plugin *plugin = caller == 0 ? NULL : owner_of(caller);
  if (plugin == NULL || syscall(SYS_gettid) == getpid()) return;
  place = (plugin_guard_place){.plugin = plugin, .stage = (const unsigned char *)"a thread of its own"};
  plugin_guard_end_exited(&place, "ended the process");
}

int plugin_guard_watch_exits(void) {
  return atexit(at_exit) == 0 && at_quick_exit(at_exit) == 0 ? 0 : ENOMEM;
}

int plugin_guard_watch_crashes(void) {
  plugin_guard_find_object((const void *)(uintptr_t)&plugin_guard_watch_crashes, &own_code, &own_code_end);
  for (int index = 0; index < SIGNALS; index++) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    // A crash in the handler must end the process, not enter a handler again.
    sigfillset(&action.sa_mask);
    if (sigaction(signals[index].number, &action, &previous[index]) != 0) return errno;
  }
  return 0;
}

// ---- Start

// Atomic, because threads may start the guard at the same time; they pass the same function.
static _Atomic(plugin_guard_warn) warn_of;
static int start_result;

static void start(void) {
  own_process = getpid();
  start_result = plugin_guard_watch_crashes();
  if (start_result == 0) start_result = plugin_guard_watch_exits();
  if (start_result == 0) start_result = plugin_guard_watch_time(warn_of);
}

static bool is_child;

// The last registered hook runs first, before those of the parent.
static void at_exit_of_child(void) { _exit(PLUGIN_GUARD_CHILD_EXITED); }

int plugin_guard_fork(void) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  // One byte instead of none: a limit of 0 does not keep the kernel from piping a core to a program.
  const struct rlimit no_core = {1, 1};
  is_child = true;
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int index = 0; index < SIGNALS; index++) signal(signals[index].number, SIG_DFL);
  if (atexit(at_exit_of_child) != 0 || at_quick_exit(at_exit_of_child) != 0) _exit(PLUGIN_GUARD_CHILD_EXITED);
  return 0;
}

int plugin_guard_start(plugin_guard_warn warn) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (is_child) return 0;
  warn_of = warn;
  pthread_once(&once, start);
  return start_result;
}
