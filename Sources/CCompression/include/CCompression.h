/* The system's compression libraries behind one interface, each loaded when it is first needed.
 *
 * Few calls compress, so zlib, zstd, brotli and snappy are not linked: they are opened with dlopen, and a program that
 * does not use them starts without them. With RPCURL_BUILTIN_COMPRESSION zlib and snappy are linked in. Functions may be
 * called on any thread; a codec belongs to one at a time. */
#ifndef CCOMPRESSION_H
#define CCOMPRESSION_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
  CCOMPRESSION_GZIP,   /* RFC 1952 */
  CCOMPRESSION_ZLIB,   /* RFC 1950, which HTTP and gRPC call deflate */
  CCOMPRESSION_ZSTD,   /* RFC 8878 */
  CCOMPRESSION_BROTLI, /* RFC 7932 */
  CCOMPRESSION_SNAPPY, /* the framing format of google/snappy, framing_format.txt */
} ccompression_format;

typedef enum {
  CCOMPRESSION_ENCODE,
  CCOMPRESSION_DECODE,
} ccompression_direction;

typedef enum {
  /* More is to come: the output is full, or the input is used up. */
  CCOMPRESSION_MORE,
  /* The compressed stream is complete. */
  CCOMPRESSION_DONE,
  /* The input is not what the format says. */
  CCOMPRESSION_CORRUPT,
  /* The input asks for a window that is much larger than what was expected. */
  CCOMPRESSION_TOO_LARGE,
  /* The library failed: out of memory. */
  CCOMPRESSION_FAILED,
} ccompression_result;

/* What is left to read and where to write; a step moves both on. */
typedef struct {
  const uint8_t *input;
  size_t input_count;
  uint8_t *output;
  size_t output_count;
} ccompression_buffers;

typedef struct ccompression_codec ccompression_codec;

/* Loads the library. NULL on success, else the reason, which stays valid. */
const char *ccompression_load(ccompression_format format, ccompression_direction direction);

/* A codec whose library was loaded; NULL when there is no memory. A decoder that expects no more than
 * `expected_bytes` of output does not reserve much more for the window that the input asks for. */
ccompression_codec *ccompression_create(
    ccompression_format format, ccompression_direction direction, size_t expected_bytes);

/* Works until the output is full, the input is used up, or the stream is complete. An encoder, and a decoder of
 * snappy, takes the input as all there is. */
ccompression_result ccompression_step(ccompression_codec *codec, ccompression_buffers *buffers);

/* Makes the codec ready for another stream. */
ccompression_result ccompression_reset(ccompression_codec *codec);

void ccompression_destroy(ccompression_codec *codec);

#endif
