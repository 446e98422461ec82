#include "built_in.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char well_known[] = {
#embed "files/well_known.binpb"
};
static const unsigned char options[] = {
#embed "files/options.binpb"
};
static const unsigned char services[] = {
#embed "files/services.binpb"
};
static const unsigned char protobuf[] = {
#embed "files/protobuf.binpb"
};
static const unsigned char google[] = {
#embed "files/google.binpb.gz"
};
static const unsigned char rules[] = {
#embed "files/rules.binpb.gz"
};
static const unsigned char others[] = {
#embed "files/others.binpb.gz"
};

#define FILES(name) {name, sizeof name}

const struct rpcurl_built_in_sets rpcurl_built_in = {
    FILES(well_known), FILES(options), FILES(services), FILES(protobuf), FILES(google), FILES(rules), FILES(others),
};
