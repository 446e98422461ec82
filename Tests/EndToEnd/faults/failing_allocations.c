// Makes allocations of C libraries fail. To be preloaded.
//
//   FAILING_LIBRARIES=NAME:...    the libraries, by the start of their file's name
//   FAIL_ALLOCATIONS=FIRST-LAST   the allocations that fail, counted from 1
//   KEEP_STRINGS=1                copies of strings do not fail, and are not counted
//   STARTED_LIBRARY=FILE          a libcrypto, which is started before allocations fail and are counted
//   ALLOCATIONS_FILE=FILE         gets the number of allocations, at the end of the process
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static atomic_long count;
static long first, last;
static int keeps_strings;
static const char *libraries;

static void start(const char *path) {
  long first_failure = first;
  first = LONG_MAX;
  void *library = dlopen(path, RTLD_NOW);
  int (*random_status)(void) = library ? (int (*)(void))dlsym(library, "RAND_status") : NULL;
  if (!random_status || random_status() != 1) abort();
  first = first_failure;
  atomic_store(&count, 0);
}

__attribute__((constructor)) static void begin(void) {
  const char *range = getenv("FAIL_ALLOCATIONS");
  if (range && sscanf(range, "%ld-%ld", &first, &last) != 2) abort();
  libraries = getenv("FAILING_LIBRARIES");
  if (!libraries) abort();
  keeps_strings = getenv("KEEP_STRINGS") != NULL;
  const char *started = getenv("STARTED_LIBRARY");
  if (started) start(started);
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("ALLOCATIONS_FILE");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", atomic_load(&count));
  fclose(file);
}

static int is_chosen(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  for (const char *start = libraries; start; start = strchr(start, ':')) {
    start += *start == ':';
    size_t length = strcspn(start, ":");
    if (length && !strncmp(name, start, length)) return 1;
  }
  return 0;
}

// Whether the code at an address is of a chosen library. Pages are kept, since a search takes long.
static int is_of_library(void *code) {
  static _Atomic uintptr_t pages[4096];
  uintptr_t page = (uintptr_t)code >> 12;
  _Atomic uintptr_t *known = &pages[page % 4096];
  uintptr_t entry = atomic_load_explicit(known, memory_order_relaxed);
  if (entry >> 1 == page) return entry & 1;
  Dl_info info;
  int is_found = dladdr(code, &info) && info.dli_fname && is_chosen(info.dli_fname);
  atomic_store_explicit(known, page << 1 | is_found, memory_order_relaxed);
  return is_found;
}

static int fails(void *caller) {
  if (!libraries || !is_of_library(caller)) return 0;
  long number = atomic_fetch_add(&count, 1) + 1;
  if (number < first || number > last) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t number, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

// The library of C would allocate them itself.

char *strdup(const char *text) {
  if (!keeps_strings && fails(__builtin_return_address(0))) return NULL;
  size_t size = strlen(text) + 1;
  char *copy = __libc_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

char *strndup(const char *text, size_t limit) {
  if (!keeps_strings && fails(__builtin_return_address(0))) return NULL;
  size_t length = strnlen(text, limit);
  char *copy = __libc_malloc(length + 1);
  if (!copy) return NULL;
  copy[length] = 0;
  return memcpy(copy, text, length);
}
