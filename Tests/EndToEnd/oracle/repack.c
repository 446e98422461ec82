/* Reads a serialized demo.v1.AllTypes, unpacks it with protobuf-c, packs it again and writes that: an encoder
 * that shares nothing with rpcurl's. */
#include <stdio.h>
#include <stdlib.h>

#include "demo.pb-c.h"

int main(void) {
  size_t size = 0, capacity = 1 << 20;
  uint8_t *bytes = malloc(capacity);
  size = fread(bytes, 1, capacity, stdin);
  Demo__V1__AllTypes *message = demo__v1__all_types__unpack(NULL, size, bytes);
  if (!message) return 1;
  uint8_t *packed = malloc(demo__v1__all_types__get_packed_size(message) + 1);
  fwrite(packed, 1, demo__v1__all_types__pack(message, packed), stdout);
  return 0;
}
