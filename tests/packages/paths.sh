#!/bin/sh
# Checks that no file in the directories contains a path of this machine: the source tree, the target directory, cargo's
# and rustup's directories, and the directory of Rust's libraries:
#
#     paths.sh DIRECTORY...
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
{
    echo "$root"
    (cd "$root" && cd "${CARGO_TARGET_DIR:-.}" && pwd -P)
    echo "${CARGO_HOME:-${HOME:-}/.cargo}"
    echo "${RUSTUP_HOME:-${HOME:-}/.rustup}"
    # The compiler's own files, because the directory of a distribution's compiler is /usr, which documents name.
    echo "$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib"
} | sort -u >"$work/paths"
# A path in a longer path (/src in /usr/src) is another path.
sed -e 's/[][\.*^$+?(){}|]/\\&/g' -e 's,.*,(^|[^A-Za-z0-9_./-])&/,' "$work/paths" >"$work/patterns"
contains() { LC_ALL=C grep -r -l -a -E -f "$work/patterns" "$@"; }

# The search must find what it looks for.
while read -r path; do
    printf '\0%s/file\0' "$path" >"$work/example"
    contains "$work/example" >"$work/found" || { echo "paths: the search does not find $path" >&2; exit 1; }
done <"$work/paths"
for directory; do
    [ -n "$(find "$directory" -type f -print -quit)" ] || { echo "paths: no files in $directory" >&2; exit 1; }
done
if contains "$@" >"$work/found"; then
    echo "paths: these files contain paths of this machine:" >&2
    cat "$work/found" >&2
    exit 1
fi
echo "no file in $* contains a path of this machine"
