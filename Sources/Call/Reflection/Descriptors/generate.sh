#!/bin/sh
# Compiles the descriptors of both versions of the reflection service for ReflectionVersion. CSchemas contains the
# messages for protobuf-c.
#
#   generate.sh [OUTDIR]     default: this directory (the committed file is replaced)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for version in v1 v1alpha; do
  mkdir -p "$work/grpc/reflection/$version"
  {
    sed "s/^package .*/package grpc.reflection.$version;/" "$here/../../../CSchemas/protos/reflection.proto"
    echo
    echo "service ServerReflection {"
    echo "  rpc ServerReflectionInfo(stream ServerReflectionRequest) returns (stream ServerReflectionResponse);"
    echo "}"
  } > "$work/grpc/reflection/$version/reflection.proto"
done
(cd "$work" && protoc -I. --descriptor_set_out=set grpc/reflection/v1/reflection.proto \
  grpc/reflection/v1alpha/reflection.proto)
{
  echo "// Made by generate.sh. Do not edit."
  echo "// swift-format-ignore-file"
  echo
  echo "extension ReflectionVersion {"
  echo "  /// The serialized descriptor set, in base64."
  echo '  static let encodedDescriptors = """'
  base64 -w 96 "$work/set" | sed -e 's/^/    /' -e 's/$/\\/'
  printf '    \n    """\n'
  echo "}"
} > "$out/ReflectionDescriptorData.swift"
