/* Two random numbers for the hashes of names: a schema must not be able to contain many names with the same hash.
 *
 * It is C, as a Swift global with a value that is not constant is checked for its initialization at each use. */
#ifndef RPCURL_NAME_HASH_H
#define RPCURL_NAME_HASH_H

#include <stdint.h>

/* Set before `main`, and constant from then on. */
extern uint64_t rpcurl_name_hash_secrets[2];

/* The hash of an empty name. */
static inline uint64_t rpcurl_name_hash_seed(void) { return rpcurl_name_hash_secrets[0]; }

/* What words of names are combined with, so that no name contains a factor of zero. */
static inline uint64_t rpcurl_name_hash_mask(void) { return rpcurl_name_hash_secrets[1]; }

#endif
