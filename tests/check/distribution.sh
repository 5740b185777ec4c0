#!/bin/sh
# Stages the distribution, with a gprof that is not optimized as a whole, and searches it for paths of this machine: distribution.sh
set -eu
. tests/check/install.sh
make --no-print-directory dist GPROF_PROFILE=quick
sh tests/packages/paths.sh "$target/dist"
