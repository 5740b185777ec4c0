#!/bin/sh
# Installs Debian's packages that the checks and the packages need: packages.sh linux|bsd|deb|check-deb...
set -eu
. tests/check/install.sh

# The tools without which the parts cannot do.
required=
for part; do
    case $part in
    deb)
        need debhelper dh
        need dpkg-dev dpkg-buildpackage
        required="$required dh dpkg-buildpackage"
        ;;
    check-deb)
        need lintian lintian
        need mmdebstrap mmdebstrap
        required="$required lintian mmdebstrap"
        ;;
    linux)
        need gcc cc gcc
        need g++ c++
        need libc6-dev /usr/include/stdio.h
        need make make
        need clang clang        # clang's way to call mcount
        need gfortran gfortran  # Fortran in the matrices
        need bsdutils script    # creates pseudo-terminals
        need binutils ld ld.gold nm objdump objcopy readelf gprof
        need dwz dwz            # debug files as distributions make and serve them
        need xz-utils xz
        need debuginfod debuginfod debuginfod-find
        need lld ld.lld         # the other linkers
        need mold ld.mold
        need bolt-16 llvm-bolt-16 # reads orders of functions
        need musl-tools musl-gcc
        need mandoc mandoc
        need pkg-config pkg-config
        need cmake cmake        # build systems that use gmon-cc
        need meson meson ninja
        need autoconf,automake autoreconf automake
        need ccache ccache
        # AArch64: 150 MB of compiler and 100 MB of emulator.
        need gcc-aarch64-linux-gnu,g++-aarch64-linux-gnu,libc6-dev-arm64-cross aarch64-linux-gnu-gcc aarch64-linux-gnu-g++
        need qemu-user qemu-aarch64
        need graphviz dot       # draws call graphs
        need chromium chromium  # shows pages: 300 MB
        need valgrind valgrind callgrind_annotate # the test that changes buffers under four threads; a reader of exports
        # Readers of exports: `go tool pprof`, npm for speedscope and Firefox Profiler, and KCachegrind, which needs 130
        # MB and a message bus.
        need golang-go go
        need npm npm
        need kcachegrind,dbus kcachegrind dbus-run-session
        need openmpi-bin,libopenmpi-dev mpirun mpicc # a job of several ranks
        # A machine without Python's modules for virtual environments.
        python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv python3-venv
        required="$required cc ld nm objdump make"
        ;;
    bsd)
        # Rust with the sources of its library, because Debian has no prebuilt `core` for these systems: 770 MB.
        need rustc-web /usr/bin/rustc
        need cargo-web /usr/bin/cargo
        need rust-web-src "/usr/src/rustc-$(/usr/bin/rustc --version 2>/dev/null | awk '{ print $2 }')/library"
        need clang clang
        need lld ld.lld
        need llvm llvm-objcopy llvm-objdump llvm-readelf llvm-nm
        need make make
        # For programs of arm64.
        need qemu-user qemu-aarch64
        python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv python3-venv
        ;;
    *) echo "packages.sh: there is no part $part" >&2; exit 2 ;;
    esac
done
install_packages
status=0
for tool in $required; do
    has "$tool" && continue
    # The package of the tool, as `need` has noted both.
    package=$(printf '%s\n' $packages | sed -n "s/:$tool\$//p")
    echo "packages.sh: cannot do without $tool, from Debian's package $package" >&2
    status=1
done
exit "$status"
