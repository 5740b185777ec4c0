#!/bin/sh
# Checks that deny.toml permits the license of each crate of the workspace, and that all other crates come from
# crates.io: permitted-crates.sh. This is the part of cargo-deny's work that needs nothing but cargo. A test runs the
# script with other words in place of `cargo`.
set -eu
allowed=$(sed -n 's/^allow = \[\(.*\)\]$/\1/p' deny.toml | tr -d '",')
[ -n "$allowed" ] || { echo "permitted-crates: deny.toml allows no license" >&2; exit 1; }
# The systems that deny.toml names.
set --
for triple in $(sed -n '/^targets = \[/,/^\]/s/^ *"\(.*\)",$/\1/p' deny.toml); do
    set -- "$@" --target "$triple"
done
[ $# != 0 ] || { echo "permitted-crates: deny.toml names no targets" >&2; exit 1; }
"${CARGO:-cargo}" tree --frozen --workspace --edges normal,build,dev --prefix none --format '{p}|{l}|' "$@" | sort -u |
    awk -F '|' -v allowed="$allowed" '
        BEGIN { for (count = split(allowed, names, " "); count > 0; count--) is_allowed[names[count]] = 1 }
        # A license is an expression such as (MIT OR Apache-2.0) AND Unicode-3.0: each part joined by AND needs a
        # permitted alternative.
        function permits(expression, parts, choices, at, choice, found) {
            gsub(/[()]/, "", expression)
            gsub(/\//, " OR ", expression)
            for (at = split(expression, parts, " AND "); at > 0; at--) {
                found = 0
                for (choice = split(parts[at], choices, " OR "); choice > 0; choice--) {
                    gsub(/^ +| +$/, "", choices[choice])
                    if (choices[choice] in is_allowed) found = 1
                }
                if (!found) return 0
            }
            return 1
        }
        $1 ~ / \(\// { next } # a crate of this workspace
        { crates++ }
        $1 ~ /:\/\// { print "permitted-crates: " $1 " is not from crates.io"; failed = 1 }
        !permits($2) { print "permitted-crates: deny.toml does not permit the license \"" $2 "\" of " $1; failed = 1 }
        END {
            if (crates == 0) { print "permitted-crates: cargo tree lists no crates"; failed = 1 }
            if (failed) exit 1
            print crates " crates have permitted licenses and sources"
        }' || exit 1
