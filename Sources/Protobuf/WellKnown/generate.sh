#!/bin/sh
# Compiles protos/ and options/ into the descriptor sets that WellKnownSchemas embeds.
#
#   generate.sh [OUTDIR]     default: this directory (the committed files are replaced)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out"
set=$(mktemp)
trap 'rm -f "$set"' EXIT

# encode DIRECTORY NAME FILE: a property that holds the set in base64
encode() {
  (cd "$here/$1" && find google -name '*.proto' | LC_ALL=C sort |
    xargs protoc -I. --descriptor_set_out="$set" --include_imports)
  {
    echo "// Made by generate.sh from $1/. Do not edit."
    echo "// swift-format-ignore-file"
    echo
    echo "extension WellKnownSchemas {"
    echo "  /// The serialized set, in base64."
    echo "  static let $2 = \"\"\""
    base64 -w 96 "$set" | sed -e 's/^/    /' -e 's/$/\\/'
    printf '    \n    """\n'
    echo "}"
  } > "$out/$3"
}

encode protos encoded WellKnownData.swift
encode options encodedOptions OptionTypesData.swift
