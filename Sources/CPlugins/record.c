// The records of threads and plugins. Lists only grow, so they are read without a lock.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "guard_private.h"

_Thread_local plugin_guard_record *plugin_guard_mine;

static plugin_guard_record *records;
static plugin_guard_plugin *plugins;
static plugin_guard_record shared;

plugin_guard_record *plugin_guard_records(void) { return __atomic_load_n(&records, __ATOMIC_ACQUIRE); }
plugin_guard_plugin *plugin_guard_plugins(void) { return __atomic_load_n(&plugins, __ATOMIC_ACQUIRE); }

uint64_t plugin_guard_sequence(void) { return plugin_guard_mine == NULL ? 0 : plugin_guard_mine->sequence; }

// ---- Threads

enum { STACK_BYTES = 64 * 1024 };

static pthread_key_t end_of_thread;
static pthread_once_t end_of_thread_once = PTHREAD_ONCE_INIT;

// Releases the record of a thread that ends, for reuse.
static void give_back(void *argument) {
  plugin_guard_record *record = argument;
  // The host never ends a thread within a callback, so the plugin did.
  if (record->place.plugin != NULL) plugin_guard_end_exited(&record->place, "ended a thread of rpcurl");
  stack_t none = {.ss_flags = SS_DISABLE};
  plugin_guard_enter((plugin_guard_place){0});
  plugin_guard_mine = NULL;
  if (record->alternate_stack != NULL) sigaltstack(&none, NULL);
  __atomic_store_n(&record->is_used, 0, __ATOMIC_RELEASE);
}

static void make_key(void) { pthread_key_create(&end_of_thread, give_back); }

static plugin_guard_record *reuse(void) {
  for (plugin_guard_record *record = plugin_guard_records(); record != NULL; record = record->next) {
    int unused = 0;
    if (__atomic_compare_exchange_n(&record->is_used, &unused, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return record;
  }
  return NULL;
}

plugin_guard_record *plugin_guard_make_record(void) {
  plugin_guard_record *record = reuse();
  if (record == NULL) {
    record = calloc(1, sizeof(*record));
    if (record == NULL) {
      // What another thread left in it must not become the place of this one.
      __atomic_store_n(&shared.place.plugin, NULL, __ATOMIC_RELAXED);
      return &shared;
    }
    record->is_used = 1;
    record->next = plugin_guard_records();
    while (!__atomic_compare_exchange_n(&records, &record->next, record, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
  }
  // A separate stack for the signal handler: a plugin may have exhausted the thread's.
  stack_t present;
  if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE) != 0) {
    if (record->alternate_stack == NULL) record->alternate_stack = malloc(STACK_BYTES);
    stack_t own = {.ss_sp = record->alternate_stack, .ss_size = STACK_BYTES};
    if (own.ss_sp != NULL) sigaltstack(&own, NULL);
  }
  plugin_guard_mine = record;
  pthread_once(&end_of_thread_once, make_key);
  pthread_setspecific(end_of_thread, record);
  return record;
}

// ---- Plugins

plugin_guard_plugin *plugin_guard_add(const char *file) {
  plugin_guard_plugin *plugin = calloc(1, sizeof(*plugin));
  char *copy = strdup(file);
  if (plugin == NULL || copy == NULL) {
    free(plugin);
    free(copy);
    return NULL;
  }
  plugin->file = copy;
  plugin->next = plugin_guard_plugins();
  while (!__atomic_compare_exchange_n(&plugins, &plugin->next, plugin, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
  return plugin;
}

void plugin_guard_loaded(plugin_guard_plugin *plugin, const void *code) {
  uintptr_t begin, end;
  if (!plugin_guard_find_object(code, &begin, &end)) return;
  __atomic_store_n(&plugin->code_end, end, __ATOMIC_RELAXED);
  __atomic_store_n(&plugin->code, begin, __ATOMIC_RELEASE);
}

void plugin_guard_named(plugin_guard_plugin *plugin, const char *name, void *owner) {
  __atomic_store_n(&plugin->name, strdup(name), __ATOMIC_RELEASE);
  __atomic_store_n(&plugin->owner, owner, __ATOMIC_RELEASE);
}
