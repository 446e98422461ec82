// What static libraries of the build machine use of a C library newer than 2.31 (scripts/glibc).

// 0: the process may have more than one thread, which libstdc++ assumes if it cannot find out.
char __libc_single_threaded = 0;

// libgcc calls this to find the unwind tables of an address. The installed program has no such tables, and libraries that
// throw exceptions bring their own libgcc: there is nothing to find.
int _dl_find_object(void *address, void *result) {
  (void)address;
  (void)result;
  return -1;
}

// Headers since glibc 2.38 name these for programs in C of today. They read binary numbers (0b1) too, which nothing here is given.
// The functions of the older library are declared here: a header would name those above.
long strtol(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
int vsscanf(const char *text, const char *format, __builtin_va_list values);

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }
// `long` has 64 bits on each machine that this is built for.
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtol(text, end, base); }
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoul(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
  __builtin_va_list values;
  __builtin_va_start(values, format);
  int result = vsscanf(text, format, values);
  __builtin_va_end(values);
  return result;
}

// libstdc++ has random numbers of it.
long getrandom(void *bytes, unsigned long count, unsigned flags);
unsigned arc4random(void) {
  unsigned value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) __builtin_trap();
  return value;
}
