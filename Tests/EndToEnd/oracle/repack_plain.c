/* Reads serialized messages of plain.All, each behind its length in four bytes, unpacks them with protobuf-c, packs
 * them again and writes them in the same way. */
#include <stdio.h>
#include <stdlib.h>

#include "plain.pb-c.h"

int main(void) {
  uint32_t size;
  while (fread(&size, sizeof size, 1, stdin) == 1) {
    uint8_t *bytes = malloc(size + 1);
    if (!bytes || fread(bytes, 1, size, stdin) != size) return 2;
    Plain__All *message = plain__all__unpack(NULL, size, bytes);
    if (!message) return 1;
    size = plain__all__get_packed_size(message);
    uint8_t *packed = malloc(size + 1);
    if (!packed) return 2;
    plain__all__pack(message, packed);
    fwrite(&size, sizeof size, 1, stdout);
    fwrite(packed, 1, size, stdout);
    plain__all__free_unpacked(message, NULL);
    free(packed);
    free(bytes);
  }
  return 0;
}
