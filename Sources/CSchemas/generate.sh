#!/bin/sh
# Generates the C code of the schemas that are known at build time.
#
#   generate.sh [OUTDIR]     default: this directory (the committed files are replaced)
#
# CI runs it with a temporary OUTDIR and compares.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out/include"
(cd "$here/protos" && protoc-c --c_out="$out" ./*.proto)
mv "$out"/*.pb-c.h "$out/include/"
