#!/bin/sh
# Builds the start-up objects, those of several systems side by side: objects.sh linux|bsd...
set -eu
. tests/check/install.sh
make --no-print-directory headers
machines=
for part; do
    case $part in
    linux) machines="$machines Linux" && ! has aarch64-linux-gnu-ld || machines="$machines aarch64" ;;
    bsd) machines="$machines freebsd-amd64 freebsd-aarch64 openbsd-amd64 openbsd-aarch64" ;;
    *) echo "objects.sh: $part is neither linux nor bsd" >&2; exit 2 ;;
    esac
done
pids=
for machine in $machines; do
    make --no-print-directory "runtime-$machine" >"$target/check/$machine.log" 2>&1 &
    pids="$pids $!"
done
failed=
for machine in $machines; do
    pid=${pids# } pid=${pid%% *} pids=${pids#" $pid"}
    wait "$pid" || { failed="$failed $machine" && cat "$target/check/$machine.log"; }
done
[ -n "$failed" ] || { echo "start-up objects:$machines" && exit; }
# Without the tools nothing can be built, and the list of missing tools says so.
grep -q -E '^(/usr/bin/rustc|/usr/bin/cargo|/usr/src/|clang|ld.lld|llvm-)' "$lacking" 2>/dev/null && echo "SKIPPED: start-up objects:$failed" && exit
echo "check: cannot build the runtime for$failed" >&2
exit 1
