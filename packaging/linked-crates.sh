#!/bin/sh
# Lists the crates of other projects that are linked into gprof on any supported system: a line NAME VERSION for each.
set -eu
cd "$(dirname "$0")/.."
set --
for target in x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu x86_64-unknown-freebsd \
    aarch64-unknown-freebsd x86_64-unknown-openbsd aarch64-unknown-openbsd; do
    set -- "$@" --target "$target"
done
tree=$("${CARGO:-cargo}" tree --frozen --package gprof --edges normal,no-proc-macro --prefix none --format '{p}' "$@")
crates=$(printf '%s\n' "$tree" |
    sed -n -e '/ (\//d' -e 's/^\([^ ]*\) v\([^ ]*\).*/\1 \2/p' | LC_ALL=C sort -u)
[ -n "$crates" ] || { echo "linked-crates: cargo tree lists no crates" >&2; exit 1; }
printf '%s\n' "$crates"
