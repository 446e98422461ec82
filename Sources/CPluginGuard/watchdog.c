// A thread that looks now and then at what runs.
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "guard_private.h"

enum { LOOK_MS = 25 };

// It counts looks and no time: where the whole process is kept from running, it is no callback's fault.
enum { LOOKS = PLUGIN_GUARD_PATIENCE_MS / LOOK_MS + 1 };

static plugin_guard_warn warn_of;

static void look_at(plugin_guard_record *record) {
  uint64_t sequence = __atomic_load_n(&record->sequence, __ATOMIC_ACQUIRE);
  if (sequence != record->seen_sequence) {
    record->seen_sequence = sequence;
    record->seen_count = 0;
  }
  const plugin_guard_plugin *plugin = __atomic_load_n(&record->place.plugin, __ATOMIC_RELAXED);
  if (plugin == NULL || !__atomic_load_n(&record->place.is_watched, __ATOMIC_RELAXED)) return;
  if (record->seen_count == LOOKS || ++record->seen_count < LOOKS) return;
  const unsigned char *stage = __atomic_load_n(&record->place.stage, __ATOMIC_RELAXED);
  const char *method = __atomic_load_n(&record->place.method, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (__atomic_load_n(&record->sequence, __ATOMIC_RELAXED) == sequence) warn_of(plugin, stage, method);
}

static void *watch(void *argument) {
  const struct timespec pause = {.tv_nsec = LOOK_MS * 1000 * 1000};
  for (;;) {
    nanosleep(&pause, NULL);
    for (plugin_guard_record *record = plugin_guard_records(); record != NULL; record = record->next) look_at(record);
  }
  return argument;
}

int plugin_guard_watch_time(plugin_guard_warn warn) {
  pthread_t thread;
  sigset_t all, before;
  warn_of = warn;
  // Signals are for the threads that know what to do with them.
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int result = pthread_create(&thread, NULL, watch, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (result == 0) pthread_detach(thread);
  return result;
}
