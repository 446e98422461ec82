#!/bin/sh
# Compiles the directories of .proto files into the descriptor sets that WellKnownSchemas embeds.
#
#   generate.sh [OUTDIR]     default: this directory (the committed files are replaced)
#
# The files of options/ and common/ need a newer protoc than that of Debian 12: PYTHON has grpcio-tools.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
python=${PYTHON:-$here/../../../.build/servers/venv/bin/python}
mkdir -p "$out"
set=$(mktemp)
trap 'rm -f "$set"' EXIT

# encode DIRECTORY FOLDERS NAME FILE PACK COMMAND…: a property that holds the set of the folders in base64, after the command PACK
encode() {
  directory=$1 folders=$2 name=$3 file=$4 pack=$5
  shift 5
  (cd "$here/$directory" && find $folders -name '*.proto' | sed 's|^\./||' | LC_ALL=C sort |
    xargs "$@" -I. --descriptor_set_out="$set")
  {
    echo "// Made by generate.sh from $directory/. Do not edit."
    echo "// swift-format-ignore-file"
    echo
    echo "extension WellKnownSchemas {"
    echo "  /// The serialized set, in base64."
    echo "  static let $name = \"\"\""
    $pack < "$set" | base64 -w 96 | sed -e 's/^/    /' -e 's/$/\\/'
    printf '    \n    """\n'
    echo "}"
  } > "$out/$file"
}

encode protos . encoded WellKnownData.swift cat protoc --include_imports
encode options . encodedOptions OptionTypesData.swift cat "$python" -m grpc_tools.protoc --include_imports
# Their imports are in protos/ and options/.
encode services . encodedServices ServicesData.swift cat protoc "-I$here/protos" "-I$here/options"
# In groups, so that a file that imports one needs only a part. Their imports are in options/ and services/ too.
common() { encode common "$1" "$2" "$3" "gzip -9n" "$python" -m grpc_tools.protoc "-I$here/options"; }
common google/protobuf encodedProtobufFiles ProtobufFilesData.swift
common "google/api google/iam google/logging google/longrunning google/rpc google/type" encodedGoogleFiles GoogleFilesData.swift
common "buf validate" encodedRuleFiles RuleFilesData.swift
common "gogoproto grpc openapiv3 protoc-gen-openapiv2 udpa xds" encodedOtherFiles OtherFilesData.swift
