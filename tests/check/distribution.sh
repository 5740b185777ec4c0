#!/bin/sh
# Completes the distribution with the gprof that the tests run, and searches the rest for paths of this machine:
# distribution.sh
#
# The tests' gprof has such paths. tests/packages/crates.sh searches a gprof that was built as `make dist` builds it.
set -eu
. tests/check/install.sh
make --no-print-directory gprof gmon-run tools documents GPROF_PROGRAM="$target/debug/gprof" GMON_RUN_PROGRAM="$target/debug/gmon-run"
sh tests/packages/paths.sh "$target/dist/lib" "$target/dist/include" "$target/dist/share"
