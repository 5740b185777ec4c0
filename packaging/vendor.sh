#!/bin/sh
# Makes a directory with the sources of all crates that this workspace needs, and the settings by which cargo takes these sources:
#
#     vendor.sh DIRECTORY     makes DIRECTORY/vendor and DIRECTORY/.cargo/config.toml
set -eu
directory=$1
cd "$(dirname "$0")/.."
rm -rf "$directory"
mkdir -p "$directory/.cargo"
"${CARGO:-cargo}" vendor --quiet --locked --versioned-dirs "$directory/vendor" >/dev/null
# Binaries for Windows, for which nothing here is built: 100 MB.
rm -f "$directory"/vendor/winapi-*-windows-gnu-*/lib/*.a
cat >"$directory/.cargo/config.toml" <<END
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"

[net]
offline = true
END
