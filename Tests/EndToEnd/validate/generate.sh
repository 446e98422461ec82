#!/bin/sh
# Compiles the .proto files into the embedded descriptor set of the unit tests. Requires a protoc:
#
#   PROTOC="python -m grpc_tools.protoc" generate.sh
set -eu
cd "$(dirname "$0")"
set=$(mktemp)
trap 'rm -f "$set"' EXIT
builtin=../../../Sources/Protobuf/WellKnown
${PROTOC:-protoc} -I. -I$builtin/common --descriptor_set_out="$set" rules.proto predefined.proto older.proto
{
  echo "// Made by Tests/EndToEnd/validate/generate.sh from the .proto files. Do not edit."
  echo "// swift-format-ignore-file"
  echo
  echo "package enum RuleSchemaData {"
  echo '  package static let encoded = """'
  base64 -w 96 "$set" | sed -e 's/^/    /' -e 's/$/\\/'
  printf '    \n    """\n'
  echo "}"
} > ../../ChainSupport/RuleSchemaData.swift
