// A thread that checks at intervals what runs.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "guard_private.h"

enum { LOOK_MS = 25 };

// It counts intervals, not time: if the whole process was stopped, no callback is at fault.
enum {
  LOOKS = PLUGIN_GUARD_PATIENCE_MS / LOOK_MS + 1,
  GRACE_LOOKS = PLUGIN_GUARD_GRACE_MS / LOOK_MS,
  LONG_GRACE_LOOKS = PLUGIN_GUARD_LONG_GRACE_MS / LOOK_MS
};

static plugin_guard_warn warn_of;
static int interrupts = -1;

void plugin_guard_watch_interrupts(int descriptor) { __atomic_store_n(&interrupts, descriptor, __ATOMIC_RELEASE); }

static bool is_interrupted(void) {
  struct pollfd signal = {.fd = __atomic_load_n(&interrupts, __ATOMIC_ACQUIRE), .events = POLLIN};
  return signal.fd >= 0 && poll(&signal, 1, 0) > 0 && (signal.revents & POLLIN) != 0;
}

static bool is_past(int64_t deadline_ns) {
  struct timespec now;
  if (deadline_ns == 0 || clock_gettime(CLOCK_MONOTONIC, &now) != 0) return false;
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec >= deadline_ns;
}

// A record read while the callback runs is consistent if the sequence is the same afterwards.
static plugin_guard_place place_of(const plugin_guard_record *record) {
  plugin_guard_place place = {
      .plugin = __atomic_load_n(&record->place.plugin, __ATOMIC_RELAXED),
      .stage = __atomic_load_n(&record->place.stage, __ATOMIC_RELAXED),
      .method = __atomic_load_n(&record->place.method, __ATOMIC_RELAXED),
      .is_watched = __atomic_load_n(&record->place.is_watched, __ATOMIC_RELAXED),
      .deadline_ns = __atomic_load_n(&record->place.deadline_ns, __ATOMIC_RELAXED),
  };
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return place;
}

static void look_at(plugin_guard_record *record) {
  uint64_t sequence = __atomic_load_n(&record->sequence, __ATOMIC_ACQUIRE);
  if (sequence != record->seen_sequence) {
    record->seen_sequence = sequence;
    record->seen_count = 0;
    record->overdue_count = 0;
  }
  plugin_guard_place place = place_of(record);
  if (place.plugin == NULL || __atomic_load_n(&record->sequence, __ATOMIC_RELAXED) != sequence) return;
  if (place.is_watched && record->seen_count < LOOKS && ++record->seen_count == LOOKS) {
    warn_of(place.plugin, place.stage, place.method);
  }
  bool has_signal = is_interrupted();
  if (!has_signal && !is_past(place.deadline_ns)) return;
  uint32_t grace = place.is_watched ? GRACE_LOOKS : LONG_GRACE_LOOKS;
  if (++record->overdue_count < grace) return;
  if (__atomic_load_n(&record->sequence, __ATOMIC_RELAXED) != sequence) return;
  plugin_guard_end_stuck(&place, has_signal ? "the signal to end" : "the deadline");
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
  // Signals are handled on other threads.
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int result = pthread_create(&thread, NULL, watch, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (result == 0) pthread_detach(thread);
  return result;
}
