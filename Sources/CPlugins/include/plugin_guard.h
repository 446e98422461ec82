/* Records, for each thread, which plugin's code runs and why.
 *
 * A signal handler reads the record after a crash, a watchdog thread during a long callback, and a hook when a
 * plugin ends the process or the thread. It is C, as none of them may allocate, lock or call into a runtime. */
#ifndef PLUGIN_GUARD_H
#define PLUGIN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* A plugin's file. Never freed. */
typedef struct plugin_guard_plugin {
  const char *file;
  const char *name;      /* null until the plugin is loaded */
  void *owner;           /* passed to `warn`; null before */
  uintptr_t code, code_end; /* the addresses of the loaded file; 0 before */
  struct plugin_guard_plugin *next;
} plugin_guard_plugin;

/* The plugin code that runs. Never freed, as other threads may read it at any time. */
typedef struct plugin_guard_place {
  const plugin_guard_plugin *plugin; /* null: no plugin code */
  const unsigned char *stage;        /* the callback's name */
  const char *method;                /* the call's method; null outside of calls */
  bool is_watched;                   /* whether the watchdog limits its time */
  int64_t deadline_ns;               /* the call's deadline by CLOCK_MONOTONIC; 0: none */
} plugin_guard_place;

/* The record of one thread. */
typedef struct plugin_guard_record {
  plugin_guard_place place;
  uint64_t sequence; /* incremented at each change */
  /* Used by the watchdog: the number of times that it saw this sequence. */
  uint64_t seen_sequence;
  uint32_t seen_count;
  uint32_t overdue_count; /* number of times since the deadline, or since the signal */
  int is_used;
  void *alternate_stack;
  struct plugin_guard_record *next;
} plugin_guard_record;

/* The format of a crash report. */
enum plugin_guard_form { PLUGIN_GUARD_TEXT, PLUGIN_GUARD_JSON, PLUGIN_GUARD_SILENT };

/* Must be called before the first plugin is loaded. */
void plugin_guard_tell_as(enum plugin_guard_form form);

/* Reports that a callback is running for a long time. Called on the watchdog's thread. */
typedef void (*plugin_guard_warn)(const plugin_guard_plugin *plugin, const unsigned char *stage, const char *method);

/* The time after which `warn` is called for a watched callback. */
#define PLUGIN_GUARD_PATIENCE_MS 100

/* The time after the call's deadline, or after a signal, at which a watched callback ends the process, and the
 * time after a signal at which any other code does. */
#define PLUGIN_GUARD_GRACE_MS 1000
#define PLUGIN_GUARD_LONG_GRACE_MS 5000

/* Sets a descriptor that becomes readable after a signal to end the process, such as one end of a pipe. */
void plugin_guard_watch_interrupts(int descriptor);

/* Called before the guard ends the process, on any thread: only functions listed in signal-safety(7) are allowed.
 * It restores external state, such as the modes of a terminal. */
typedef void (*plugin_guard_restore)(void);
void plugin_guard_restore_with(plugin_guard_restore restore);

/* The exit status after a plugin crashed, ended the process, or did not return. */
#define PLUGIN_GUARD_EXIT_CODE 7

/* On the first call, installs the crash handler and starts the watchdog. Returns 0 or an errno code. */
int plugin_guard_start(plugin_guard_warn warn);

/* Registers a plugin's file, before any of its code runs. Copies the text. Returns null if out of memory. */
plugin_guard_plugin *plugin_guard_add(const char *file);

/* Opens a file in memory only. Returns a descriptor, or -1 and sets errno. */
int plugin_guard_memory_file(const char *name);

/* Makes such a file immutable. Returns 0, or -1 and sets errno. */
int plugin_guard_seal(int descriptor);

/* Forks a child process to run a plugin's code safely: a crash ends it by a signal, an exit by
 * PLUGIN_GUARD_CHILD_EXITED, and it ends with its parent. Only for processes with one thread. As fork(2). */
int plugin_guard_fork(void);
#define PLUGIN_GUARD_CHILD_EXITED 113

/* Records where the plugin is loaded; `code` is an address in it. */
void plugin_guard_loaded(plugin_guard_plugin *plugin, const void *code);
void plugin_guard_named(plugin_guard_plugin *plugin, const char *name, void *owner);

/* This thread's record; null if it has none. */
extern _Thread_local plugin_guard_record *plugin_guard_mine;

/* The number of callbacks that started or ended on this thread. */
uint64_t plugin_guard_sequence(void);

/* Makes a record. Never null: out of memory, threads share one. */
plugin_guard_record *plugin_guard_make_record(void);

/* Records the code about to run, and returns the record to restore afterwards. */
static inline plugin_guard_place plugin_guard_enter(plugin_guard_place place) {
  plugin_guard_record *record = plugin_guard_mine;
  if (record == (void *)0) record = plugin_guard_make_record();
  plugin_guard_place outer = record->place;
  __atomic_store_n(&record->place.stage, place.stage, __ATOMIC_RELAXED);
  __atomic_store_n(&record->place.method, place.method, __ATOMIC_RELAXED);
  __atomic_store_n(&record->place.is_watched, place.is_watched, __ATOMIC_RELAXED);
  __atomic_store_n(&record->place.deadline_ns, place.deadline_ns, __ATOMIC_RELAXED);
  __atomic_store_n(&record->place.plugin, place.plugin, __ATOMIC_RELAXED);
  /* Stored last: a reader that sees the same number before and after has read a consistent record. */
  __atomic_store_n(&record->sequence, record->sequence + 1, __ATOMIC_RELEASE);
  return outer;
}

#endif
