/* The descriptor sets of the built-in files (Sources/Protobuf/WellKnown/generate.sh), of which those of the last three are
 * compressed with gzip. In C they are constants that no start decodes. */
#ifndef RPCURL_BUILT_IN_H
#define RPCURL_BUILT_IN_H

#include <stddef.h>

struct rpcurl_built_in_set {
  const void *bytes;
  size_t count;
};

extern const struct rpcurl_built_in_sets {
  struct rpcurl_built_in_set well_known, options, services, protobuf, google, rules, others;
} rpcurl_built_in;

#endif
