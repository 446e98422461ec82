/* The system's compression libraries with one interface; each is loaded on first use.
 *
 * Few calls compress, so zlib, zstd, brotli and snappy are not linked: they are opened with dlopen, and a program that
 * does not use them starts without them. With RPCURL_BUILTIN_COMPRESSION zlib and snappy are linked in. Functions may be
 * called on any thread; a codec may be used by one thread at a time. */
#ifndef CCOMPRESSION_H
#define CCOMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  CCOMPRESSION_GZIP,   /* RFC 1952 */
  CCOMPRESSION_ZLIB,   /* RFC 1950: deflate in HTTP and gRPC */
  CCOMPRESSION_ZSTD,   /* RFC 8878 */
  CCOMPRESSION_BROTLI, /* RFC 7932 */
  CCOMPRESSION_SNAPPY, /* the framing format of google/snappy, framing_format.txt */
} ccompression_format;

typedef enum {
  CCOMPRESSION_ENCODE,
  CCOMPRESSION_DECODE,
} ccompression_direction;

typedef enum {
  /* Incomplete: the output is full, or the input is used up. */
  CCOMPRESSION_MORE,
  /* The compressed stream is complete. */
  CCOMPRESSION_DONE,
  /* The input is invalid. */
  CCOMPRESSION_CORRUPT,
  /* The input requires a window much larger than expected. */
  CCOMPRESSION_TOO_LARGE,
  /* The library failed: out of memory. */
  CCOMPRESSION_FAILED,
} ccompression_result;

/* The rest of the input and the room for output; a step advances both. */
typedef struct {
  const uint8_t *input;
  size_t input_count;
  uint8_t *output;
  size_t output_count;
} ccompression_buffers;

typedef struct ccompression_codec ccompression_codec;

/* Loads the library. Returns NULL on success, else the reason, which stays valid. */
const char *ccompression_load(ccompression_format format, ccompression_direction direction);

/* Whether the library is part of the program, or its file is in the directory of the C library; it is not loaded. False if
 * LD_LIBRARY_PATH is set or the file is elsewhere: then only ccompression_load shows it. */
bool ccompression_is_installed(ccompression_format format, ccompression_direction direction);

/* Makes a codec of a loaded library; NULL if out of memory. A decoder that expects no more than `expected_bytes`
 * of output does not reserve much more for the input's window. */
ccompression_codec *ccompression_create(
    ccompression_format format, ccompression_direction direction, size_t expected_bytes);

/* Runs until the output is full, the input is used up, or the stream is complete. An encoder, and a decoder of
 * snappy, needs the whole input at once. */
ccompression_result ccompression_step(ccompression_codec *codec, ccompression_buffers *buffers);

/* Resets the codec for the next stream. */
ccompression_result ccompression_reset(ccompression_codec *codec);

void ccompression_destroy(ccompression_codec *codec);

#endif
