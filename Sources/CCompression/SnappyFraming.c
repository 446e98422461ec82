#include "SnappyFraming.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A chunk is a type, the length of its data (3 bytes, little-endian), and the data. In chunks of the stream, the
 * data starts with a checksum of 4 bytes (sections 1, 3 and 4.2). */
#define HEADER_BYTES 4
#define CHECKSUM_BYTES 4
#define LARGEST_BLOCK 65536
/* The maximum size of libsnappy's output for a block: snappy_max_compressed_length. */
#define LARGEST_COMPRESSED_BLOCK (32 + LARGEST_BLOCK + LARGEST_BLOCK / 6)

enum {
  COMPRESSED_CHUNK = 0x00,
  UNCOMPRESSED_CHUNK = 0x01,
  FIRST_SKIPPABLE_CHUNK = 0x80,
  STREAM_IDENTIFIER = 0xFF,
};

static const uint8_t stream_identifier[] = {STREAM_IDENTIFIER, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};

struct snappy_framing {
  snappy_blocks blocks;
  bool is_identified;
  /* Output that does not fit yet. */
  size_t pending_start;
  size_t pending_end;
  uint8_t pending[sizeof stream_identifier + HEADER_BYTES + CHECKSUM_BYTES + LARGEST_COMPRESSED_BLOCK];
};

/* CRC-32C (RFC 3720, section 12.1: Castagnoli's polynomial, bits reversed), eight bytes at a time. */

static uint32_t crc_table[8][256];

static void fill_crc_table(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
    crc_table[0][byte] = crc;
  }
  for (int slice = 1; slice < 8; slice++) {
    for (int byte = 0; byte < 256; byte++) {
      uint32_t crc = crc_table[slice - 1][byte];
      crc_table[slice][byte] = crc >> 8 ^ crc_table[0][crc & 0xFF];
    }
  }
}

static uint32_t little_endian(const uint8_t *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_little_endian(uint8_t *bytes, uint32_t value) {
  for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

/* The checksum of a chunk, masked (section 3). */
static uint32_t checksum(const uint8_t *bytes, size_t count) {
  uint32_t crc = ~UINT32_C(0);
  for (; count >= 8; bytes += 8, count -= 8) {
    uint32_t low = crc ^ little_endian(bytes);
    crc = crc_table[7][low & 0xFF] ^ crc_table[6][low >> 8 & 0xFF] ^ crc_table[5][low >> 16 & 0xFF] ^
          crc_table[4][low >> 24] ^ crc_table[3][bytes[4]] ^ crc_table[2][bytes[5]] ^ crc_table[1][bytes[6]] ^
          crc_table[0][bytes[7]];
  }
  for (; count > 0; bytes++, count--) crc = crc >> 8 ^ crc_table[0][(crc ^ *bytes) & 0xFF];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

/* Both directions */

snappy_framing *snappy_framing_create(const snappy_blocks *blocks) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill_crc_table);
  snappy_framing *framing = malloc(sizeof *framing);
  if (!framing) return NULL;
  framing->blocks = *blocks;
  snappy_framing_reset(framing);
  return framing;
}

void snappy_framing_reset(snappy_framing *framing) {
  framing->is_identified = false;
  framing->pending_start = framing->pending_end = 0;
}

/* Moves pending output to the buffers; false if some is left. */
static bool flush(snappy_framing *framing, ccompression_buffers *buffers) {
  size_t count = framing->pending_end - framing->pending_start;
  if (count > buffers->output_count) count = buffers->output_count;
  memcpy(buffers->output, framing->pending + framing->pending_start, count);
  buffers->output += count;
  buffers->output_count -= count;
  framing->pending_start += count;
  return framing->pending_start == framing->pending_end;
}

static void consume(ccompression_buffers *buffers, size_t count) {
  buffers->input += count;
  buffers->input_count -= count;
}

/* Encoding */

/* Appends a chunk of the first bytes of the input to the pending output. */
static bool encode_chunk(snappy_framing *framing, ccompression_buffers *buffers) {
  size_t count = buffers->input_count < LARGEST_BLOCK ? buffers->input_count : LARGEST_BLOCK;
  uint8_t *chunk = framing->pending + framing->pending_end;
  uint8_t *data = chunk + HEADER_BYTES + CHECKSUM_BYTES;
  size_t length = LARGEST_COMPRESSED_BLOCK;
  snappy_status status =
      framing->blocks.compress((const char *)buffers->input, count, (char *)data, &length);
  if (status != SNAPPY_OK) return false;
  bool is_smaller = length < count;
  if (!is_smaller) {
    memcpy(data, buffers->input, count);
    length = count;
  }
  put_little_endian(chunk, (uint32_t)(length + CHECKSUM_BYTES) << 8 | (is_smaller ? COMPRESSED_CHUNK : UNCOMPRESSED_CHUNK));
  put_little_endian(chunk + HEADER_BYTES, checksum(buffers->input, count));
  framing->pending_end += HEADER_BYTES + CHECKSUM_BYTES + length;
  consume(buffers, count);
  return true;
}

ccompression_result snappy_framing_encode(snappy_framing *framing, ccompression_buffers *buffers) {
  while (flush(framing, buffers)) {
    framing->pending_start = framing->pending_end = 0;
    if (!framing->is_identified) {
      memcpy(framing->pending, stream_identifier, sizeof stream_identifier);
      framing->pending_end = sizeof stream_identifier;
      framing->is_identified = true;
    } else if (buffers->input_count == 0) {
      return CCOMPRESSION_DONE;
    }
    if (buffers->input_count > 0 && !encode_chunk(framing, buffers)) return CCOMPRESSION_FAILED;
  }
  return CCOMPRESSION_MORE;
}

/* Decoding */

/* Makes the content of a chunk pending; false if it is invalid. */
static bool decode_chunk(snappy_framing *framing, uint8_t type, const uint8_t *data, size_t length) {
  if (length < CHECKSUM_BYTES) return false;
  const uint8_t *content = data + CHECKSUM_BYTES;
  length -= CHECKSUM_BYTES;
  size_t count = length;
  if (type == COMPRESSED_CHUNK) {
    const char *block = (const char *)content;
    if (framing->blocks.uncompressed_length(block, length, &count) != SNAPPY_OK || count > LARGEST_BLOCK) return false;
    if (framing->blocks.uncompress(block, length, (char *)framing->pending, &count) != SNAPPY_OK) return false;
  } else {
    if (count > LARGEST_BLOCK) return false;
    memcpy(framing->pending, content, count);
  }
  framing->pending_start = 0;
  framing->pending_end = count;
  return checksum(framing->pending, count) == little_endian(data);
}

ccompression_result snappy_framing_decode(snappy_framing *framing, ccompression_buffers *buffers) {
  while (flush(framing, buffers)) {
    if (buffers->input_count == 0) return framing->is_identified ? CCOMPRESSION_DONE : CCOMPRESSION_CORRUPT;
    if (buffers->input_count < HEADER_BYTES) return CCOMPRESSION_CORRUPT;
    uint32_t header = little_endian(buffers->input);
    uint8_t type = header & 0xFF;
    size_t length = header >> 8;
    const uint8_t *chunk = buffers->input;
    if (length > buffers->input_count - HEADER_BYTES) return CCOMPRESSION_CORRUPT;
    consume(buffers, HEADER_BYTES + length);
    if (type == STREAM_IDENTIFIER) {
      /* It may be repeated: concatenated streams are one stream (section 4.1). */
      if (HEADER_BYTES + length != sizeof stream_identifier) return CCOMPRESSION_CORRUPT;
      if (memcmp(chunk, stream_identifier, sizeof stream_identifier) != 0) return CCOMPRESSION_CORRUPT;
      framing->is_identified = true;
    } else if (!framing->is_identified) {
      return CCOMPRESSION_CORRUPT;
    } else if (type == COMPRESSED_CHUNK || type == UNCOMPRESSED_CHUNK) {
      if (!decode_chunk(framing, type, chunk + HEADER_BYTES, length)) return CCOMPRESSION_CORRUPT;
    } else if (type < FIRST_SKIPPABLE_CHUNK) {
      return CCOMPRESSION_CORRUPT;
    }
  }
  return CCOMPRESSION_MORE;
}
