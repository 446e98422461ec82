#!/bin/sh
# Compiles protos/ into the descriptor set that WellKnownSchemas embeds.
#
#   generate.sh [OUTDIR]     default: this directory (the committed file is replaced)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out"
set=$(mktemp)
trap 'rm -f "$set"' EXIT
(cd "$here/protos" && find google -name '*.proto' | LC_ALL=C sort |
  xargs protoc -I. --descriptor_set_out="$set" --include_imports)
{
  echo "// Made by generate.sh from protos/. Do not edit."
  echo "// swift-format-ignore-file"
  echo
  echo "extension WellKnownSchemas {"
  echo "  /// The serialized set, in base64."
  echo '  static let encoded = """'
  base64 -w 96 "$set" | sed -e 's/^/    /' -e 's/$/\\/'
  printf '    \n    """\n'
  echo "}"
} > "$out/WellKnownData.swift"
