#ifndef CSYSTEM_H
#define CSYSTEM_H

/* For the clock, the locks, the buffers and the mathematics of parts that do no I/O, which import no module of the C library. */
#include "hdr/hdr_histogram.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

/* Creates a pipe whose two ends no program inherits that another thread starts at the same time: pipe2(2) with O_CLOEXEC,
 * which Swift's module of the C library lacks.
 *
 * Writes the descriptors to `ends`, the one to read from first. Returns 0; or -1, and sets `errno`. */
int csystem_pipe(int ends[2]);

/* Makes a socket of a connection that does not block and that no program inherits. Returns -1, and sets `errno`, on failure. */
int csystem_stream_socket(int family);

/* send(2), without SIGPIPE, on a socket of `csystem_stream_socket`. */
ssize_t csystem_send(int socket, const void *bytes, size_t count);

/* F_OFD_GETLK and F_OFD_SETLK of fcntl(2), and POSIX_SPAWN_SETSID, which headers declare only for _GNU_SOURCE. */
extern const int csystem_get_lock, csystem_set_lock, csystem_new_session;

/* The variables of the environment, each `NAME=VALUE`, and NULL. */
char **csystem_environment(void);

/* A number of the calling thread, which no other one has while it runs; never 0. `pthread_t` is a number or a pointer. */
static inline uintptr_t csystem_thread(void) { return (uintptr_t)pthread_self(); }

/* Starts a thread. Returns its number; 0, and sets `errno`, on failure. */
uintptr_t csystem_start_thread(void *(*body)(void *), void *context);
void csystem_join(uintptr_t thread);
void csystem_detach(uintptr_t thread);

/* Gives freed memory back to the system, where the allocator keeps it. */
void csystem_give_back_memory(void);

/* Writes the hash SHA-256 of `prefix_count` bytes, followed by `count` others, to `digest`. */
void csystem_sha256(const void *prefix, size_t prefix_count, const void *content, size_t count, uint8_t digest[32]);

#endif
