// Loaded files in memory.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "guard_private.h"

struct search {
  uintptr_t address, begin, end;
  bool is_found;
};

static int look(struct dl_phdr_info *info, size_t size, void *argument) {
  struct search *search = argument;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  (void)size;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
    if (segment->p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + segment->p_vaddr;
    if (start < begin) begin = start;
    if (start + segment->p_memsz > end) end = start + segment->p_memsz;
  }
  if (search->address < begin || search->address >= end) return 0;
  search->begin = begin;
  search->end = end;
  search->is_found = true;
  return 1;
}

bool plugin_guard_find_object(const void *address, uintptr_t *begin, uintptr_t *end) {
  struct search search = {.address = (uintptr_t)address};
  dl_iterate_phdr(look, &search);
  *begin = search.begin;
  *end = search.end;
  return search.is_found;
}

int plugin_guard_memory_file(const char *name) {
  int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // Some kernels allow only files without execute permission (vm.memfd_noexec=2), which the dynamic loader
  // does not need: MFD_NOEXEC_SEAL, since Linux 6.3.
  if (descriptor < 0 && errno == EACCES) descriptor = memfd_create(name, MFD_CLOEXEC | 8U);
  return descriptor;
}

int plugin_guard_seal(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}
