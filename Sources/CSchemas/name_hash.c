#define _DEFAULT_SOURCE /* getentropy */
#include "name_hash.h"

#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

/* The values remain if there is no source of random numbers. */
uint64_t rpcurl_name_hash_secrets[2] = {0xcbf29ce484222325, 0xe7037ed1a0b428db};

__attribute__((constructor)) static void choose_secrets(void) {
  uint64_t secrets[2];
  if (getentropy(secrets, sizeof secrets) != 0) return;
  rpcurl_name_hash_secrets[0] = secrets[0];
  rpcurl_name_hash_secrets[1] = secrets[1];
}
