#!/bin/sh
# Prints the options of rustc that keep the paths of this machine out of a program, for the variable
# CARGO_ENCODED_RUSTFLAGS:
#
#     remap.sh TARGET_DIRECTORY
#
# The script runs in the source tree. The messages of panics contain the names of source files. With these options the
# names are the same in every directory and for every user. cargo splits this variable at the character 037, so paths
# may contain blanks. The options in the variables RUSTFLAGS and CARGO_ENCODED_RUSTFLAGS come first, because cargo takes
# the options of one variable only.
set -eu
separator=$(printf '\037')
options=
add() { options=$options${options:+$separator}$1; }
set -f
for option in ${RUSTFLAGS:-}; do
    add "$option"
done
set +f
[ -z "${CARGO_ENCODED_RUSTFLAGS:-}" ] || add "$CARGO_ENCODED_RUSTFLAGS"

rustc=${RUSTC:-rustc}
home=${CARGO_HOME:-${HOME:-}/.cargo}
about=$("$rustc" -vV)
fact() { printf '%s\n' "$about" | sed -n "s/^$1: //p"; }
remap() { add "--remap-path-prefix=$1=$2"; }

# The name of the directory with the crates' sources depends on the registry, and only exists when cargo has fetched
# crates.
[ -d "$home/registry/src" ] || "${CARGO:-cargo}" fetch --locked --quiet --target "$(fact host)" || true

# rustc takes the last option whose path matches.
remap "$(pwd -P)" gmon
remap "$1" target
remap "$home" cargo
for registry in "$home"/registry/src/*; do
    [ ! -d "$registry" ] || remap "$registry" crates
done
# Where Rust's own sources are installed, rustc names them by their real paths.
remap "$("$rustc" --print sysroot)/lib/rustlib/src/rust" "/rustc/$(fact commit-hash)"
printf '%s\n' "$options"
