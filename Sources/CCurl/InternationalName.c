#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#ifdef __linux__
#define LIBIDN2 "libidn2.so.0"
#else
#define LIBIDN2 "libidn2.0.dylib"
#endif

/* Flags of idn2.h, which need not be installed. */
enum { NFC_INPUT = 1, TRANSITIONAL = 4, NONTRANSITIONAL = 8 };

static struct {
  pthread_once_t once;
  int (*lookup)(const uint8_t *name, uint8_t **ascii, int flags);
  const char *(*error)(int code);
  void (*free)(void *name);
} idn2 = {.once = PTHREAD_ONCE_INIT};

static void load(void) {
  void *library = dlopen(LIBIDN2, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return;
  *(void **)&idn2.error = dlsym(library, "idn2_strerror");
  *(void **)&idn2.free = dlsym(library, "idn2_free");
  if (idn2.error && idn2.free) *(void **)&idn2.lookup = dlsym(library, "idn2_lookup_u8");
}

const char *ccurl_ascii_name(const char *name, char **ascii) {
  pthread_once(&idn2.once, load);
  if (!idn2.lookup) return "it is not ASCII, which requires libidn2 (package libidn2-0)";
  uint8_t *result = NULL;
  int code = idn2.lookup((const uint8_t *)name, &result, NFC_INPUT | NONTRANSITIONAL);
  /* As curl does: names that only the older rules allow. */
  if (code) code = idn2.lookup((const uint8_t *)name, &result, NFC_INPUT | TRANSITIONAL);
  if (code) return idn2.error(code);
  *ascii = (char *)result;
  return NULL;
}

void ccurl_ascii_name_free(char *ascii) { idn2.free(ascii); }
