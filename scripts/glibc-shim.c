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
