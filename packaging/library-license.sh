#!/bin/sh
# Copies the licenses of Rust's library into a directory: library-license.sh DIRECTORY. Each compiler has the file for
# its own library, so the script looks only where the compiler is: another compiler's library may have other licenses.
set -eu
documents=$("${RUSTC:-rustc}" --print sysroot)/share/doc
for file in "$documents/rust/COPYRIGHT-library.html" "$documents"/libstd-rust*-dev/copyright; do
    if [ -f "$file" ]; then
        name=${file##*/}
        # Debian's package of the library has the same licenses in a file with this name.
        [ "$name" != copyright ] || name=COPYRIGHT-library
        cp -f "$file" "$1/$name"
        exit
    fi
done
echo "library-license: this Rust has no file with the licenses of its library; the license is MIT OR Apache-2.0" >&2
