#include "CArguments.h"

static int argument_count;
static char **arguments;

/* The C library passes to each function of .init_array what it passes to `main`. */
__attribute__((constructor)) static void keep(int count, char **values) {
  argument_count = count;
  arguments = values;
}

char **__wrap__swift_stdlib_getUnsafeArgvArgc(int *count) {
  *count = argument_count;
  return arguments;
}
