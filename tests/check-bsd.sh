#!/bin/sh
# Runs the tests for the BSDs: `make check-bsd`. The tests need more than a gigabyte of tools, which `make check` does not install.
#
# As root on Debian, the script prints the list of missing packages and then installs the packages. With INSTALL=no the script installs
# nothing. Tests without their tools are skipped, and the last lines of the output list the skipped tests.
set -eu
cd "$(dirname "$0")/.."
# Tests look for English words in the output of tools.
export LC_ALL=C.UTF-8
cargo=${CARGO:-cargo}
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
case ${INSTALL:-yes} in
yes) may_install() { true; } ;;
no) may_install() { false; } ;;
*) echo "check-bsd: INSTALL=$INSTALL is not yes or no" >&2; exit 2 ;;
esac

step() { printf '\n== %s\n' "$*"; }

missing=
need() { # need PACKAGE FILE...: tools or files, and the Debian package that contains the tools or files
    package=$1
    shift
    for file; do
        command -v "$file" >/dev/null 2>&1 || [ -e "$file" ] || { missing="$missing $file" packages="$packages $package"; break; }
    done
}
look() {
    missing= packages=
    # Rust with the sources of its library, because Debian has no prebuilt `core` for these systems: 770 MB.
    need rustc-web /usr/bin/rustc
    need cargo-web /usr/bin/cargo
    need rust-web-src /usr/src/rustc-"$(/usr/bin/rustc --version 2>/dev/null | awk '{ print $2 }')"/library
    need clang clang
    need lld ld.lld
    need llvm llvm-objcopy llvm-objdump llvm-readelf llvm-nm
    need make make
    # For programs of arm64.
    need qemu-user qemu-aarch64
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3" packages="$packages python3-venv"
}

step "tools"
look
if may_install && [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing these Debian packages (INSTALL=no installs nothing):$packages"
    install() { DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"; }
    # If one package does not exist on this system, install the others anyway.
    apt-get update -q
    install $packages || for package in $packages; do install "$package" || true; done
    look
fi
zig=$target/zig
if ! { "$zig/bin/python" -m pip freeze | grep -q -x "$(sed -n 's/^\(ziglang==[0-9.]*\).*/\1/p' tests/zig.txt)"; } 2>/dev/null; then
    { may_install && echo "Installing ziglang into $zig (400 MB)" &&
        python3 -m venv --clear "$zig" &&
        "$zig/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r tests/zig.txt; } ||
        missing="$missing ziglang"
fi
[ -z "$missing" ] || echo "Not found:$missing"

step "the start-up objects and the tools"
make --no-print-directory tools
built=
for machine in freebsd-amd64 freebsd-aarch64 openbsd-amd64 openbsd-aarch64; do
    if make --no-print-directory "runtime-$machine"; then
        built="$built $machine"
    elif [ -z "$missing" ]; then
        echo "check-bsd: cannot build the runtime for $machine" >&2
        exit 1
    fi
done
echo "start-up objects:${built:- none}"

step "the reader"
# Everything in these directories comes from the sources as they are now.
readers=
for system in freebsd openbsd; do
    for machine in x86_64 aarch64; do
        rm -rf "$target/bsd/reader/$machine-unknown-$system"
        # Without a network, cargo's cache may still have the crates that only this system needs.
        ! may_install || "$cargo" fetch --quiet --locked --target "$machine-unknown-$system" || true
        if sh tests/bsd/reader.sh "$machine-unknown-$system" "$machine-$system" "$target/bsd/reader" "$zig/bin/python"; then
            readers="$readers $machine-$system"
        elif [ -z "$missing" ]; then
            echo "check-bsd: cannot build gprof for $system on $machine" >&2
            exit 1
        fi
    done
done
echo "gprof:${readers:- none}"

step "lints"
# Clippy has no library for these systems. The runtime with the folders of one of these systems in the place of Linux's compiles for
# Linux too, as long as nobody links that.
for system in freebsd openbsd; do
    lint=$target/bsd/lint
    rm -rf "$lint"
    mkdir -p "$lint"
    cp -R Cargo.toml Cargo.lock clippy.toml format runtime "$lint/"
    sed -i 's/^members = .*/members = ["format", "runtime"]/' "$lint/Cargo.toml"
    for seam in os entry kernel; do
        sed -i -e "s/^#\[cfg_attr(target_os = \"$system\", \(path = \".*\"\))\]/#[\1]/" -e '/target_os = /d' "$lint/runtime/src/$seam/mod.rs"
    done
    for feature in start runtime; do
        CARGO_TARGET_DIR=$target/bsd/lint-target "$cargo" clippy --quiet --offline --manifest-path "$lint/Cargo.toml" \
            --package gmon-runtime --features $feature -- -D warnings -A dead_code -A unused_imports
    done
done

step "tests"
log=$target/check-bsd.log
tests=
for name in bsd; do
    tests="$tests --test $name"
done
# The same random inputs in each run. PROPTEST_RNG_SEED=NUMBER tries others.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20261123}
# --no-fail-fast: one run shows all failures.
# The workspace and not the package gmon-tests: the crates then have the features of `make check`, and are not compiled again.
if "$cargo" test --workspace $tests --no-fail-fast -- --nocapture >"$log" 2>&1; then
    status=0
else
    status=$?
fi
grep -E '^(test result|     Running)' "$log" || true
if [ "$status" != 0 ]; then
    grep -n -E -A 20 '^(error|---- |failures:|test .* FAILED)|panicked at' "$log" | tail -n 200
    echo "check-bsd: tests failed; the complete output is in $log" >&2
    exit "$status"
fi

# The programs and profiles of the tests take much space. After a failure they stay.
rm -rf "$target/debug/tmp/gmon-tests"
passed=$(awk '/^test result/ { passed += $4 } END { print passed + 0 }' "$log")
if grep -q 'SKIPPED:' "$log" || [ -n "$missing" ]; then
    step "SKIPPED, because this machine lacks something"
    [ -z "$missing" ] || echo "SKIPPED: not found:$missing"
    grep -o 'SKIPPED:.*' "$log" | sort -u || true
fi
echo
echo "$passed passed, 0 failed"
