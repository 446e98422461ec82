#!/bin/sh
# Compiles the directories of .proto files into the descriptor sets that WellKnownSchemas embeds.
#
#   generate.sh [OUTDIR]     default: this directory (the committed files are replaced)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out"
set=$(mktemp)
trap 'rm -f "$set"' EXIT

# encode DIRECTORY NAME FILE PACK [OPTION…]: a property that holds the set in base64, after the command PACK
encode() {
  (cd "$here/$1" && find . -name '*.proto' | sed 's|^\./||' | LC_ALL=C sort |
    xargs protoc -I. -I"$here/protos" -I"$here/options" --descriptor_set_out="$set" ${5-})
  {
    echo "// Made by generate.sh from $1/. Do not edit."
    echo "// swift-format-ignore-file"
    echo
    echo "extension WellKnownSchemas {"
    echo "  /// The serialized set, in base64."
    echo "  static let $2 = \"\"\""
    $4 < "$set" | base64 -w 96 | sed -e 's/^/    /' -e 's/$/\\/'
    printf '    \n    """\n'
    echo "}"
  } > "$out/$3"
}

encode protos encoded WellKnownData.swift cat --include_imports
encode options encodedOptions OptionTypesData.swift cat --include_imports
# Their imports are in protos/ and options/.
encode services encodedServices ServicesData.swift cat
encode common encodedCommon CommonTypesData.swift "gzip -9n"
