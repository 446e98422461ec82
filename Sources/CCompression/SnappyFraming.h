/* The framing format of snappy (framing_format.txt of google/snappy), around the blocks that libsnappy compresses.
 *
 * libsnappy supports blocks only. gRPC's implementations use the framing format for `snappy`. */
#ifndef SNAPPY_FRAMING_H
#define SNAPPY_FRAMING_H

#include "CCompression.h"

#include <snappy-c.h>

/* The functions of libsnappy for blocks. */
typedef struct {
  __typeof__(&snappy_compress) compress;
  __typeof__(&snappy_uncompress) uncompress;
  __typeof__(&snappy_uncompressed_length) uncompressed_length;
} snappy_blocks;

/* A stream being encoded or decoded. Its size does not depend on the input. */
typedef struct snappy_framing snappy_framing;

/* Makes a stream; NULL if out of memory. */
snappy_framing *snappy_framing_create(const snappy_blocks *blocks);

/* Prepares for the next stream. */
void snappy_framing_reset(snappy_framing *framing);

/* Both need the whole rest of the stream as input: the format has no end marker. */
ccompression_result snappy_framing_encode(snappy_framing *framing, ccompression_buffers *buffers);
ccompression_result snappy_framing_decode(snappy_framing *framing, ccompression_buffers *buffers);

#endif
