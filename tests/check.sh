#!/bin/sh
# Runs every check that a change must pass (`make check`).
#
# As root on Debian, the script installs the packages that the tests need and prints their names first. With INSTALL=no
# the script installs nothing. Tests that lack something skip themselves, and the last lines of the output list them.
set -eu
cd "$(dirname "$0")/.."
# Tests look for English words in the output of tools.
export LC_ALL=C.UTF-8
cargo=${CARGO:-cargo}
case ${INSTALL:-yes} in
yes) may_install() { true; } ;;
no) may_install() { false; } ;;
*) echo "check: INSTALL=$INSTALL is neither yes nor no" >&2; exit 2 ;;
esac

step() { printf '\n== %s\n' "$*"; }

missing=
need() { # need PACKAGE TOOL...: notes a missing tool and the Debian package that provides it
    package=$1
    shift
    for tool; do
        command -v "$tool" >/dev/null 2>&1 || { missing="$missing $tool" packages="$packages $package"; break; }
    done
}
look() {
    missing= packages=
    need gcc cc gcc
    need g++ c++
    need make make
    need clang clang       # clang's way to call mcount
    need gfortran gfortran # Fortran in the matrices
    need bsdutils script    # creates pseudo-terminals
    need binutils ld ld.gold nm objdump objcopy readelf gprof
    need lld ld.lld        # the other linkers
    need mold ld.mold
    need bolt-16 llvm-bolt-16 # reads orders of functions
    need musl-tools musl-gcc
    need mandoc mandoc
    need pkg-config pkg-config
    need cmake cmake        # build systems that use gmon-cc
    need meson meson ninja
    need "autoconf automake" autoreconf automake
    need ccache ccache
    # AArch64: 150 MB of compiler and 100 MB of emulator.
    need "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" aarch64-linux-gnu-gcc
    need qemu-user qemu-aarch64
    # Debian's Python comes without the modules that virtual environments need.
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3" packages="$packages python3-venv"
    need graphviz dot       # draws call graphs
    need chromium chromium # shows pages: 300 MB
    need valgrind valgrind callgrind_annotate # the test that changes buffers under four threads; a reader of exports
    # Readers of exports: `go tool pprof`, npm for speedscope and Firefox Profiler, and KCachegrind, which needs 130 MB and a
    # message bus.
    need golang-go go
    need npm npm
    need "kcachegrind dbus" kcachegrind dbus-run-session
    need "openmpi-bin libopenmpi-dev" mpirun mpicc # a job of several ranks
}

step "what the machine has"
look
if may_install && [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing these Debian packages (INSTALL=no installs nothing):$packages libc6-dev"
    install() { DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"; }
    # One package that this system lacks must not prevent the installation of the others.
    apt-get update -q
    install $packages libc6-dev || for package in $packages; do install "$package" || true; done
    look
fi
[ -z "$missing" ] || echo "Not found:$missing"
for tool in cc ld nm objdump; do
    case " $missing " in *" $tool "*) echo "check: cannot do without $tool" >&2; exit 1 ;; esac
done
# AArch64 also needs Rust's library for AArch64 (150 MB), and musl for AArch64 (1 MB), which no package for this machine has.
target=aarch64-unknown-linux-gnu
has_library() { [ -d "$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/$1" ]; }
if ! has_library "$target"; then
    { may_install && echo "Installing Rust's library for $target" && rustup target add "$target" 2>/dev/null; } || missing="$missing rust-std for $target,"
fi
musl=${CARGO_TARGET_DIR:-target}/musl-aarch64
if ! [ -x "$musl/aarch64-musl-gcc" ]; then
    may_install && { command -v aarch64-linux-gnu-gcc && command -v apt-get && command -v dpkg; } >/dev/null 2>&1 &&
        echo "Installing musl for AArch64 into $musl" &&
        sh tests/musl-aarch64.sh "$musl" || missing="$missing musl for aarch64"
fi
# GNU gprof for images of other machines and systems, beside the system's own.
multiarch=${CARGO_TARGET_DIR:-target}/multiarch
if ! [ -x "$multiarch/gprof" ]; then
    may_install && command -v apt-get >/dev/null 2>&1 && echo "Installing GNU gprof for other machines into $multiarch" &&
        sh tests/multiarch-gprof.sh "$multiarch" || missing="$missing GNU gprof for other machines"
fi
cc --version | head -n 1
command -v gprof >/dev/null 2>&1 && gprof --version | head -n 1

step "gprof2dot"
# A program that reads our text, in a fixed version and in its own virtual environment.
drawer=${CARGO_TARGET_DIR:-target}/gprof2dot
if ! { "$drawer/bin/python" -m pip freeze | grep -q -x "$(sed -n 's/^\(gprof2dot==[0-9.]*\).*/\1/p' tests/gprof2dot.txt)"; } 2>/dev/null; then
    may_install && echo "Installing gprof2dot into $drawer" &&
        python3 -m venv --clear "$drawer" &&
        "$drawer/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r tests/gprof2dot.txt ||
        echo "check: gprof2dot cannot be installed; the tests that need it say SKIPPED"
fi

step "readers of exports"
# Each reader has a fixed version. Python's packages are in a virtual environment, and others are packages of npm.
readers=${CARGO_TARGET_DIR:-target}/exports
has_readers() { # whether Python has all packages
    frozen=$("$readers/python/bin/python" -m pip freeze 2>/dev/null) || return 1
    sed '/^#/d' tests/clients/python.txt | while read -r package; do
        printf '%s\n' "$frozen" | grep -q -x -F "$package" || return 1
    done
}
if ! has_readers; then
    may_install && echo "Installing readers of exports into $readers" && mkdir -p "$readers" &&
        python3 -m venv --clear "$readers/python" &&
        "$readers/python/bin/python" -m pip install -q --disable-pip-version-check -r tests/clients/python.txt ||
        echo "check: readers of exports cannot be installed; the tests that need them say SKIPPED"
fi
if ! [ -d "$readers/npm/node_modules/speedscope" ]; then
    may_install && command -v npm >/dev/null 2>&1 &&
        npm install --silent --no-fund --no-audit --prefix "$readers/npm" speedscope@1.25.0 ||
        echo "check: speedscope cannot be installed; the tests that need it say SKIPPED"
fi
# inferno's license is the CDDL: tests run its command, and nothing links it. Without optimization it compiles in half a minute.
if ! [ -x "$readers/inferno/bin/inferno-flamegraph" ]; then
    may_install && "$cargo" install --quiet --debug --locked --version 0.12.3 --no-default-features --features cli \
        --bin inferno-flamegraph --root "$readers/inferno" --target-dir "$readers/inferno/build" inferno &&
        rm -rf "$readers/inferno/build" ||
        echo "check: inferno cannot be installed; the test that needs it says SKIPPED"
fi
# Firefox Profiler needs Node 24, which the package node downloads when it is installed.
if ! [ -d "$readers/firefox/node_modules/@firefox-devtools" ]; then
    may_install && command -v npm >/dev/null 2>&1 &&
        npm install --silent --no-fund --no-audit --prefix "$readers/firefox" @firefox-devtools/profiler-cli@0.10.0 node@24.21.0 ||
        echo "check: Firefox Profiler cannot be installed; the test that needs it says SKIPPED"
fi

step "licenses and sources of the crates"
# Without optimization, these tools compile in one minute and in 20 seconds. Both need no network when they run.
tools=$(mkdir -p "${CARGO_TARGET_DIR:-target}/tools/bin" && cd "${CARGO_TARGET_DIR:-target}/tools" && pwd)
has_tool() { # has_tool NAME VERSION: installs this version of the tool if it is missing. Other versions may give other results
    "$tools/bin/$1" --version 2>/dev/null | grep -q -w -F "$2" || {
        may_install && echo "Installing $1 into $tools" &&
            "$cargo" install --quiet --debug --locked --version "$2" --root "$tools" --target-dir "$tools/build" "$1" &&
            rm -rf "$tools/build"
    } || {
        missing="$missing $1 $2,"
        echo "check: $1 $2 cannot be installed; its check is SKIPPED"
        return 1
    }
}
"$cargo" fetch --quiet --locked || true
if has_tool cargo-deny 0.20.2; then
    PATH=$tools/bin:$PATH "$cargo" deny --offline --log-level warn check licenses bans sources
fi
# LICENSES.thirdparty must name each crate that is linked. With cargo-bundle-licenses, the texts are compared too.
sh packaging/linked-crates.sh >"$tools/linked"
while read -r name version; do
    grep -q -E "(^|, )$name $version(,|:)" LICENSES.thirdparty ||
        { echo "check: LICENSES.thirdparty lacks $name $version: run make licenses" >&2; exit 1; }
done <"$tools/linked"
if has_tool cargo-bundle-licenses 5.0.0; then
    sh packaging/licenses.sh >"$tools/LICENSES.thirdparty"
    diff LICENSES.thirdparty "$tools/LICENSES.thirdparty" ||
        { echo "check: LICENSES.thirdparty differs from the sources of the crates: run make licenses" >&2; exit 1; }
fi

step "formatting and lints"
"$cargo" fmt --all --check
"$cargo" clippy --workspace --all-targets -- -D warnings
# The other configurations: the layout alone, and the runtime with and without its start-up code.
"$cargo" clippy --package gmon --no-default-features -- -D warnings
"$cargo" clippy --package gmon-runtime --features start -- -D warnings
"$cargo" clippy --package gmon-runtime --features runtime -- -D warnings
# Types of the system differ between machines, and with them what clippy says.
if has_library "$target"; then
    for features in start runtime; do
        "$cargo" clippy --package gmon-runtime --target "$target" --features "$features" -- -D warnings
    done
fi
# The fuzz targets are a workspace of their own. clippy links nothing, so a path that does not exist saves the compilation of libFuzzer.
fuzz=tests/fuzz/targets/Cargo.toml
CUSTOM_LIBFUZZER_PATH=/nonexistent/libFuzzer.a "$cargo" clippy --manifest-path "$fuzz" --locked --quiet \
    --target-dir "${CARGO_TARGET_DIR:-target}" -- -D warnings || {
    # Without its crates the workspace cannot be checked.
    "$cargo" fetch --manifest-path "$fuzz" --locked 2>/dev/null && exit 1
    missing="$missing the crates that the fuzz targets need,"
    echo "check: SKIPPED: the fuzz targets are not checked"
}

step "documentation"
export RUSTDOCFLAGS="-D warnings"
"$cargo" doc --workspace --no-deps --quiet
# The runtime has only private items.
"$cargo" doc --package gmon-runtime --features start --no-deps --document-private-items --quiet
"$cargo" doc --package gmon-profil --no-deps --document-private-items --quiet

step "the distribution"
make --no-print-directory dist
sh tests/packages/paths.sh "${CARGO_TARGET_DIR:-target}/dist"

step "the packages of the crates"
oldest=${CARGO_TARGET_DIR:-target}/rust-1.85
if ! [ -x "$oldest/run" ]; then
    { may_install && command -v apt-get && command -v dpkg; } >/dev/null 2>&1 &&
        echo "Installing Debian's Rust 1.85 into $oldest (440 MB)" &&
        sh tests/oldest-rust.sh "$oldest" || { missing="$missing Rust 1.85,"; oldest=; }
fi
if "$cargo" fetch --quiet --locked 2>/dev/null; then
    sh tests/packages/crates.sh "${CARGO_TARGET_DIR:-target}/crates" "$oldest"
else
    missing="$missing the sources of all crates,"
    echo "check: SKIPPED: the packages of the crates are not built"
fi

step "tests"
log=${CARGO_TARGET_DIR:-target}/check.log
# The same random inputs in each run. PROPTEST_RNG_SEED=NUMBER tries others.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20261123}
# --no-fail-fast: one run shows all failures.
if "$cargo" test --workspace --no-fail-fast -- --nocapture >"$log" 2>&1; then
    status=0
else
    status=$?
fi
grep -E '^(test result|     Running|   Doc-tests)' "$log" || true
if [ "$status" != 0 ]; then
    grep -n -E -A 20 '^(error|---- |failures:|test .* FAILED)|panicked at' "$log" | tail -n 200
    echo "check: tests failed; their output is in $log" >&2
    exit "$status"
fi

# The programs and profiles of the tests take a gigabyte. After a failure they stay.
rm -rf "${CARGO_TARGET_DIR:-target}/debug/tmp/gmon-tests"
passed=$(awk '/^test result/ { passed += $4 } END { print passed + 0 }' "$log")
if grep -q 'SKIPPED:' "$log" || [ -n "$missing" ]; then
    step "SKIPPED, because this machine lacks something"
    [ -z "$missing" ] || echo "SKIPPED: not found:$missing"
    grep -o 'SKIPPED:.*' "$log" | sort -u || true
fi
echo
echo "$passed passed, 0 failed"
