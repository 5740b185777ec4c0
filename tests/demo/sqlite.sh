#!/bin/sh
# Compiles SQLite into a directory, once with -pg and once with room at the entries of functions, and prints the
# directory of its sources: sqlite.sh DIRECTORY.
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
# The room that gmon-cc --on-demand asks the compiler for.
case $(uname -m) in aarch64) room=4,2 ;; *) room=7,5 ;; esac
for object in sqlite3:-pg sqlite3-room:-fpatchable-function-entry=$room; do
    name=${object%%:*} option=${object#*:}
    if [ ! -f "$build/$name.o" ] || [ "$sqlite/sqlite3.c" -nt "$build/$name.o" ]; then
        echo "compiling SQLite ($(wc -l <"$sqlite/sqlite3.c") lines) with $option, once; this takes a while" >&2
        "$cc" -O1 -g "$option" -w -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -c "$sqlite/sqlite3.c" -o "$build/$name.o.new"
        mv "$build/$name.o.new" "$build/$name.o"
    fi
done
printf '%s\n' "$sqlite"
