#!/bin/sh
# Compiles the directories of .proto files into the descriptor sets that WellKnownSchemas embeds.
#
#   generate.sh [OUTDIR]     default: Sources/CSchemas/files (the committed files are replaced)
#
# The files of options/ and common/ need a newer protoc than that of Debian 12: PYTHON has grpcio-tools.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../CSchemas/files}
python=${PYTHON:-$here/../../../.build/servers/venv/bin/python}
mkdir -p "$out"
set=$(mktemp)
trap 'rm -f "$set"' EXIT

# encode DIRECTORY FOLDERS FILE PACK COMMAND…: the file that holds the set of the folders, after the command PACK
encode() {
  directory=$1 folders=$2 file=$3 pack=$4
  shift 4
  (cd "$here/$directory" && find $folders -name '*.proto' | sed 's|^\./||' | LC_ALL=C sort |
    xargs "$@" -I. --descriptor_set_out="$set")
  $pack < "$set" > "$out/$file"
}

newer="$python -m grpc_tools.protoc"
encode protos . well_known.binpb cat protoc --include_imports
encode options . options.binpb cat $newer --include_imports
# Their imports are in protos/ and options/.
encode services . services.binpb cat protoc "-I$here/protos" "-I$here/options"
# In groups, so that a file that imports one needs only a part. Their imports are in options/ and services/ too. Most files import
# some of the first group, which is not compressed.
encode common google/protobuf protobuf.binpb cat $newer "-I$here/options"
common() { encode common "$1" "$2" "gzip -9n" $newer "-I$here/options"; }
common "google/api google/iam google/logging google/longrunning google/rpc google/type" google.binpb.gz
common "buf validate" rules.binpb.gz
common "gogoproto grpc openapiv3 protoc-gen-openapiv2 udpa xds" others.binpb.gz
