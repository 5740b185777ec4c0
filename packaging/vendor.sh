#!/bin/sh
# Makes a directory with the sources of all crates that this workspace needs, and the settings by which cargo takes
# these sources:
#
#     vendor.sh DIRECTORY     makes DIRECTORY/vendor and DIRECTORY/.cargo/config.toml
set -eu
directory=$1
cd "$(dirname "$0")/.."
rm -rf "$directory"
mkdir -p "$directory/.cargo"
"${CARGO:-cargo}" vendor --quiet --locked --versioned-dirs "$directory/vendor" >/dev/null
# 100 MB of binaries for Windows. No program of this project is built for Windows.
rm -f "$directory"/vendor/winapi-*-windows-gnu-*/lib/*.a
cat >"$directory/.cargo/config.toml" <<END
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"

[net]
offline = true
END
