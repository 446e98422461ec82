#!/bin/sh
# Compiles protos/ into the embedded descriptor set of the tests, and reads its options with Python. Requires a protoc
# with support for editions, and a Python with protobuf:
#
#   PROTOC="python -m grpc_tools.protoc" PYTHON=python generate.sh
set -eu
cd "$(dirname "$0")"
set=$(mktemp)
trap 'rm -f "$set"' EXIT
wellknown=../../Sources/Protobuf/WellKnown/protos
(cd protos && ${PROTOC:-protoc} -I. -I"../$wellknown" --descriptor_set_out="$set" --include_imports ./*.proto)
{
  echo "// Made by generate.sh from protos/. Do not edit."
  echo "// swift-format-ignore-file"
  echo
  echo "package enum FixtureData {"
  echo '  package static let encoded = """'
  base64 -w 96 "$set" | sed -e 's/^/    /' -e 's/$/\\/'
  printf '    \n    """\n'
  echo
  echo "  /// The options of the declarations of the package testopt, as Python reads them."
  echo '  package static let options = #"""'
  "${PYTHON:-python3}" protos/options.py "$set" | sed -e 's/^/    /'
  echo '    """#'
  echo "}"
} > FixtureData.swift
