#!/bin/sh
# Compiles protos/ into the descriptor set that the benchmark embeds:
#
#   PROTOC="python -m grpc_tools.protoc" generate.sh
set -eu
cd "$(dirname "$0")"
set=$(mktemp)
trap 'rm -f "$set"' EXIT
wellknown=../../../Sources/Protobuf/WellKnown/protos
(cd protos && ${PROTOC:-protoc} -I. -I"../$wellknown" --descriptor_set_out="$set" --include_imports ./*.proto)
{
  echo "// Made by generate.sh from protos/. Do not edit."
  echo "// swift-format-ignore-file"
  echo
  echo "enum BenchmarkSchema {"
  echo '  static let encoded = """'
  base64 -w 96 "$set" | sed -e 's/^/    /' -e 's/$/\\/'
  printf '    \n    """\n'
  echo "}"
} > BenchmarkSchema.swift
