/* The framing format of snappy (framing_format.txt of google/snappy), around the blocks that libsnappy compresses.
 *
 * libsnappy has blocks only. gRPC's implementations mean the framing format by the name `snappy`. */
#ifndef SNAPPY_FRAMING_H
#define SNAPPY_FRAMING_H

#include "CCompression.h"

#include <snappy-c.h>

/* The functions of libsnappy that the framing needs. */
typedef struct {
  __typeof__(&snappy_compress) compress;
  __typeof__(&snappy_uncompress) uncompress;
  __typeof__(&snappy_uncompressed_length) uncompressed_length;
} snappy_blocks;

/* A stream that is being encoded or decoded. Its memory does not depend on the input. */
typedef struct snappy_framing snappy_framing;

/* Fills the table of the checksum. Called once, before any other function. */
void snappy_framing_load(void);

/* A stream; NULL when there is no memory. */
snappy_framing *snappy_framing_create(const snappy_blocks *blocks);

/* Prepares for another stream. */
void snappy_framing_reset(snappy_framing *framing);

/* Both take the input as the whole rest of the stream: the format has no end but that of the input. */
ccompression_result snappy_framing_encode(snappy_framing *framing, ccompression_buffers *buffers);
ccompression_result snappy_framing_decode(snappy_framing *framing, ccompression_buffers *buffers);

#endif
