#!/bin/sh
# Generates the C code of the plugin's schema.
#
#   generate.sh [OUTDIR]     default: this directory (the committed files are replaced)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
protoc-c --c_out="${1:-$here}" redact.proto
