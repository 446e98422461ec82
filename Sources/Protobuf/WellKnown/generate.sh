#!/bin/sh
# Compiles protos/, options/ and services/ into the descriptor sets that WellKnownSchemas embeds.
#
#   generate.sh [OUTDIR]     default: this directory (the committed files are replaced)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out"
set=$(mktemp)
trap 'rm -f "$set"' EXIT

# encode DIRECTORY NAME FILE [OPTION…]: a property that holds the set in base64
encode() {
  (cd "$here/$1" && find . -name '*.proto' | sed 's|^\./||' | LC_ALL=C sort |
    xargs protoc -I. -I"$here/protos" --descriptor_set_out="$set" ${4-})
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

encode protos encoded WellKnownData.swift --include_imports
encode options encodedOptions OptionTypesData.swift --include_imports
# Their imports are in protos/.
encode services encodedServices ServicesData.swift
