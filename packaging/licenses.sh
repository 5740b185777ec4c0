#!/bin/sh
# Prints the licenses of the crates that are linked into gprof, for LICENSES.thirdparty.
#
# cargo-bundle-licenses reads the texts in the sources of the crates, so the script needs no network if cargo has the
# sources. cargo-about finds the same texts, but in minutes instead of seconds.
set -eu
cd "$(dirname "$0")/.."
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
PATH=$target/tools/cargo-bundle-licenses/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
command -v cargo-bundle-licenses >/dev/null || { echo "licenses: cargo-bundle-licenses is missing: make check installs it" >&2; exit 1; }
sh packaging/linked-crates.sh >"$work/linked"
(cd gprof && CARGO_NET_OFFLINE=true cargo bundle-licenses --format json --prefer MIT >"$work/bundle" 2>"$work/log") ||
    { cat "$work/log" >&2; exit 1; }
"${CARGO:-cargo}" run --quiet --package gmon-tests --example licenses -- "$work/linked" <"$work/bundle"
