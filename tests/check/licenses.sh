#!/bin/sh
# Checks the licenses and the sources of the crates: licenses.sh
#
# cargo-deny and cargo-bundle-licenses compile for minutes. So they run only if a file that they read has changed since
# they last ran with success: tests/check/checked has the digest of these files. In each run, a look at the dependencies
# checks that LICENSES.thirdparty names each linked crate, and that deny.toml permits its license and its source.
set -eu
. tests/check/install.sh
. tests/check/checked.sh
cargo=${CARGO:-cargo}
mkdir -p "$target/tools"

# Without optimization, these tools compile in one minute and in 20 seconds. Both need no network when they run.
tool() { # tool NAME VERSION DIRECTORY
    "$cargo" install --quiet --debug --locked --version "$2" --root "$3" --target-dir "$3/build" "$1" && rm -rf "$3/build"
}
state=complete
if was_checked licenses Cargo.lock deny.toml LICENSES.thirdparty packaging/licenses.sh packaging/linked-crates.sh tests/examples/licenses.rs; then
    state=needless
elif ! keep tools/cargo-deny 0.20.2 attempt tool cargo-deny 0.20.2 || ! keep tools/cargo-bundle-licenses 5.0.0 attempt tool cargo-bundle-licenses 5.0.0; then
    state=missing
fi

"$cargo" fetch --quiet --locked || true
sh packaging/linked-crates.sh >"$target/tools/linked"
while read -r name version; do
    grep -q -E "(^|, )$name $version(,|:)" LICENSES.thirdparty ||
        { echo "check: LICENSES.thirdparty lacks $name $version: run make licenses" >&2; exit 1; }
done <"$target/tools/linked"
sh tests/check/permitted-crates.sh
case $state in
needless) echo "cargo-deny and cargo-bundle-licenses have checked these files before: tests/check/checked" ;;
missing) echo "check: SKIPPED: cargo-deny or cargo-bundle-licenses cannot be installed" ;;
complete)
    PATH=$target/tools/cargo-deny/bin:$PATH "$cargo" deny --offline --log-level warn check licenses bans sources
    sh packaging/licenses.sh >"$target/tools/LICENSES.thirdparty"
    diff LICENSES.thirdparty "$target/tools/LICENSES.thirdparty" ||
        { echo "check: LICENSES.thirdparty differs from the sources of the crates: run make licenses" >&2; exit 1; }
    record_check
    ;;
esac
