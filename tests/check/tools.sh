#!/bin/sh
# Installs tools that are no packages of this system, in fixed versions: tools.sh linux|bsd... The tools of all
# checkouts are in one directory (tests/check/install.sh), and target/ has links to them. Downloads run side by side.
set -eu
. tests/check/install.sh
cargo=${CARGO:-cargo}

# Each function fills a directory.
virtual_environment() { # virtual_environment REQUIREMENTS DIRECTORY [OPTION]
    python3 -m venv --clear "$2" && "$2/bin/python" -m pip install -q --disable-pip-version-check ${3:-} -r "$1"
}
with_hashes() { virtual_environment "$1" "$2" --require-hashes; }
npm_packages() { # npm_packages PACKAGE... DIRECTORY
    eval "place=\${$#}"
    packages=
    while [ $# -gt 1 ]; do packages="$packages $1" && shift; done
    npm install --silent --no-fund --no-audit --prefix "$place" $packages
}
# inferno's license is the CDDL: tests run its command, and nothing links it. Without optimization it compiles in half a
# minute.
inferno() {
    "$cargo" install --quiet --debug --locked --version 0.12.3 --no-default-features --features cli --bin inferno-flamegraph \
        --root "$1" --target-dir "$1/build" inferno && rm -rf "$1/build"
}
rust_library() { # rust_library TARGET
    [ -d "$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/$1" ] ||
        { may_install && echo "Installing Rust's library for $1" && rustup target add "$1" 2>/dev/null; } || lacks "rust-std for $1"
}

linux() {
    # AArch64 also needs Rust's library for AArch64 (150 MB), and musl for AArch64 (1 MB), which no package for this
    # machine has.
    rust_library aarch64-unknown-linux-gnu
    # A target without std.
    rust_library x86_64-unknown-none
    # Rust programs for musl.
    rust_library x86_64-unknown-linux-musl
    keep musl-aarch64 1 attempt sh tests/musl-aarch64.sh &
    # GNU gprof for images of other machines and systems, beside the system's own.
    keep multiarch 1 attempt sh tests/multiarch-gprof.sh &
    # Debian's Rust 1.85, the oldest for the library: 440 MB.
    keep rust-1.85 1 attempt sh tests/oldest-rust.sh &
    # A program that reads our text.
    keep gprof2dot "$(digest tests/gprof2dot.txt)" attempt with_hashes tests/gprof2dot.txt &
    # Readers of exports. Firefox Profiler needs Node 24, which the package node downloads when it is installed.
    keep exports/python "$(digest tests/clients/python.txt)" attempt virtual_environment tests/clients/python.txt &
    keep exports/npm speedscope-1.25.0 attempt npm_packages speedscope@1.25.0 &
    keep exports/firefox profiler-0.10.0-node-24.21.0 attempt npm_packages @firefox-devtools/profiler-cli@0.10.0 node@24.21.0 &
    keep exports/inferno 0.12.3 attempt inferno &
    wait
}

bsd() {
    keep zig "$(digest tests/zig.txt)" attempt with_hashes tests/zig.txt || true
    # Without a network, cargo's cache may still have the crates that only these systems need.
    for triple in x86_64-unknown-freebsd aarch64-unknown-freebsd x86_64-unknown-openbsd aarch64-unknown-openbsd; do
        ! may_install || "$cargo" fetch --quiet --locked --target "$triple" || true
    done
}

for part; do
    "$part"
done
