#ifndef CSYSTEM_H
#define CSYSTEM_H

/* For the clock, the locks, the buffers and the mathematics of parts that do no I/O, which import no module of the C library. */
#include "hdr/hdr_histogram.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Creates a pipe whose two ends no program inherits that another thread starts at the same time: pipe2(2) with O_CLOEXEC,
 * which Swift's module of the C library lacks.
 *
 * Writes the descriptors to `ends`, the one to read from first. Returns 0; or -1, and sets `errno`. */
int csystem_pipe(int ends[2]);

/* Writes the hash SHA-256 of `prefix_count` bytes, followed by `count` others, to `digest`. */
void csystem_sha256(const void *prefix, size_t prefix_count, const void *content, size_t count, uint8_t digest[32]);

#endif
