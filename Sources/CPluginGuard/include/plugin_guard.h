/*
 * Keeps, for each thread, which plugin's code runs and why.
 *
 * A signal handler reads it when the process crashes, a watchdog thread when a callback takes long, and a hook when a
 * plugin ends the process or the thread. It is C, as none of them may allocate, lock or call into a runtime.
 */
#ifndef PLUGIN_GUARD_H
#define PLUGIN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* A plugin's file, for as long as the process lives. */
typedef struct plugin_guard_plugin {
  const char *file;
  const char *name;      /* null until the plugin has told it */
  void *owner;           /* for `warn`; null until there is one */
  uintptr_t code, code_end; /* where the file is loaded; 0 before */
  struct plugin_guard_plugin *next;
} plugin_guard_plugin;

/* What runs of a plugin. All of it lives as long as the process, as another thread may read it at any time. */
typedef struct plugin_guard_place {
  const plugin_guard_plugin *plugin; /* null: nothing of a plugin */
  const unsigned char *stage;        /* the callback's name */
  const char *method;                /* the call's; null outside of calls */
  bool is_watched;                   /* whether it must not take long */
  int64_t deadline_ns;               /* the call's, by CLOCK_MONOTONIC; 0: none */
} plugin_guard_place;

/* The place of one thread. */
typedef struct plugin_guard_record {
  plugin_guard_place place;
  uint64_t sequence; /* counts changes */
  /* The watchdog's: how often it has seen this sequence. */
  uint64_t seen_sequence;
  uint32_t seen_count;
  uint32_t overdue_count; /* how often since the deadline, or since the signal */
  int is_used;
  void *alternate_stack;
  struct plugin_guard_record *next;
} plugin_guard_record;

/* How a crash is told. */
enum plugin_guard_form { PLUGIN_GUARD_TEXT, PLUGIN_GUARD_JSON, PLUGIN_GUARD_SILENT };

/* To be called before the first plugin is loaded. */
void plugin_guard_tell_as(enum plugin_guard_form form);

/* Says that a callback has been running for a while. Called on the watchdog's thread. */
typedef void (*plugin_guard_warn)(const plugin_guard_plugin *plugin, const unsigned char *stage, const char *method);

/* How long a watched callback may run until `warn` is called. */
#define PLUGIN_GUARD_PATIENCE_MS 100

/* How long after the call's deadline, or after a signal, a callback may run until the process ends; and how long
 * after a signal one that is not watched. */
#define PLUGIN_GUARD_GRACE_MS 1000
#define PLUGIN_GUARD_LONG_GRACE_MS 5000

/* Names a descriptor that is readable once a signal has asked the process to end, such as one end of a pipe. */
void plugin_guard_watch_interrupts(int descriptor);

/* Called before the process ends so, on any thread: only what signal-safety(7) lists. For what the process changed
 * outside of itself, such as the modes of a terminal. */
typedef void (*plugin_guard_restore)(void);
void plugin_guard_restore_with(plugin_guard_restore restore);

/* How the process ends when a plugin has crashed, ended it, or does not return. */
#define PLUGIN_GUARD_EXIT_CODE 7

/* Installs the handler of crashes and starts the watchdog, the first time. Returns an errno code, or 0. */
int plugin_guard_start(plugin_guard_warn warn);

/* Makes a plugin known, before any of its code runs. The text is copied. Null without memory. */
plugin_guard_plugin *plugin_guard_add(const char *file);

/* Opens a file without a path, which is in memory only. Returns a descriptor, or -1 and sets errno. */
int plugin_guard_memory_file(const char *name);

/* Lets nothing change such a file any more. Returns 0, or -1 and sets errno. */
int plugin_guard_seal(int descriptor);

/* Makes a child process in which a plugin can do no harm: a crash ends it by its signal, an exit by
 * PLUGIN_GUARD_CHILD_EXITED, and it ends with its parent. Only for processes of one thread. As fork(2). */
int plugin_guard_fork(void);
#define PLUGIN_GUARD_CHILD_EXITED 113

/* Tells what is known once the plugin is loaded; `code` is an address in it. The text is copied. */
void plugin_guard_loaded(plugin_guard_plugin *plugin, const void *code);
void plugin_guard_named(plugin_guard_plugin *plugin, const char *name, void *owner);

/* This thread's record, if it has one. */
extern _Thread_local plugin_guard_record *plugin_guard_mine;

/* How often a callback began or ended on this thread. */
uint64_t plugin_guard_sequence(void);

/* Makes one. Never null: without memory it is one that all such threads share. */
plugin_guard_record *plugin_guard_make_record(void);

/* Notes what is about to run, and returns what ran around it. */
static inline plugin_guard_place plugin_guard_enter(plugin_guard_place place) {
  plugin_guard_record *record = plugin_guard_mine;
  if (record == (void *)0) record = plugin_guard_make_record();
  plugin_guard_place outer = record->place;
  __atomic_store_n(&record->place.stage, place.stage, __ATOMIC_RELAXED);
  __atomic_store_n(&record->place.method, place.method, __ATOMIC_RELAXED);
  __atomic_store_n(&record->place.is_watched, place.is_watched, __ATOMIC_RELAXED);
  __atomic_store_n(&record->place.deadline_ns, place.deadline_ns, __ATOMIC_RELAXED);
  __atomic_store_n(&record->place.plugin, place.plugin, __ATOMIC_RELAXED);
  /* Behind the rest, so that who reads the same number before and after has read what belongs together. */
  __atomic_store_n(&record->sequence, record->sequence + 1, __ATOMIC_RELEASE);
  return outer;
}

#endif
