#!/bin/sh
# Fails, with the lines, if the file has lines that tests/may-be-missing.txt does not permit: permitted.sh FILE
set -eu
sed -n -e '/^#/d' -e 's/ *|.*//p' tests/may-be-missing.txt >"$1.permitted"
# An empty list permits nothing.
if [ -s "$1.permitted" ]; then
    grep -v -F -f "$1.permitted" "$1" >"$1.refused" || true
else
    cat "$1" >"$1.refused"
fi
[ ! -s "$1.refused" ] || {
    echo "check: CI=true, and tests/may-be-missing.txt does not permit that these are missing or skipped:" >&2
    cat "$1.refused" >&2
    exit 1
}
