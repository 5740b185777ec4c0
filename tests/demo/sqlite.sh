#!/bin/sh
# Compiles SQLite with -pg into a directory, once, and prints the directory of its sources: sqlite.sh DIRECTORY.
# SQLite's source comes with the crate libsqlite3-sys, in cargo's registry.
set -eu
cc=${CC:-cc}
build=$1
mkdir -p "$build"
manifest=$("${CARGO:-cargo}" metadata --format-version 1 |
    grep -o '"manifest_path":"[^"]*/libsqlite3-sys-[^"]*/Cargo.toml"' | head -n 1 | cut -d '"' -f 4)
sqlite=$(dirname "$manifest")/sqlite3
if [ ! -f "$sqlite/sqlite3.c" ]; then
    echo "demo: no sqlite3.c in the crate libsqlite3-sys ($sqlite)" >&2
    exit 1
fi
if [ ! -f "$build/sqlite3.o" ] || [ "$sqlite/sqlite3.c" -nt "$build/sqlite3.o" ]; then
    echo "compiling SQLite ($(wc -l <"$sqlite/sqlite3.c") lines) with -pg, once; this takes a while" >&2
    "$cc" -O1 -g -pg -w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -c "$sqlite/sqlite3.c" -o "$build/sqlite3.o.new"
    mv "$build/sqlite3.o.new" "$build/sqlite3.o"
fi
printf '%s\n' "$sqlite"
