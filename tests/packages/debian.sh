#!/bin/sh
# Tests the Debian packages in a directory (`make check-deb`):
#
#     debian.sh PACKAGES
#
# The rules must keep the user's files, and must refuse what they cannot build. lintian must find no errors. In a fresh
# minimal Debian system, the script installs the packages, compiles and profiles programs with them, and purges the
# packages; then the system must be as before. The script needs root for the system, and lintian and mmdebstrap, which
# the script installs as `make check` does. The script writes into PACKAGES. The archive of the minimal system stays
# there for later runs; without this archive, the script needs a network.
set -eu
packages=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
skip() { echo "check-deb: SKIPPED: $*"; exit 0; }
step() { printf '\n== %s\n' "$*"; }
fail() { echo "check-deb: $*" >&2; exit 1; }

# update: downloads the lists of packages, which also shows whether there is a network.
update() { apt-get -q -o APT::Update::Error-Mode=any update || skip "the lists of Debian's packages cannot be downloaded"; }

[ "$(id -u)" = 0 ] || skip "only root can make a Debian system"
missing=
for tool in lintian mmdebstrap; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    [ "${INSTALL:-yes}" = yes ] || skip "not found:$missing"
    sh tests/check/packages.sh check-deb
fi
work=$packages/check-deb
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
version=$(dpkg-parsechangelog -S Version)
architecture=$(dpkg --print-architecture)
debs="$packages/gmon-tools_${version}_$architecture.deb $packages/libgmon-dev_${version}_$architecture.deb"

step "the rules"
copy=$work/copy
sh tests/packages/copy-tree.sh "$copy"
touch "$copy/notes~" "$copy/format.orig" "$copy/own-stamp"
rules() { (cd "$copy" && env -u MAKEFLAGS "$@") >"$work/rules" 2>&1; } # rules [VARIABLE=VALUE]... debian/rules GOAL...
rules debian/rules clean || { cat "$work/rules"; fail "debian/rules clean fails"; }
ls "$copy/notes~" "$copy/format.orig" "$copy/own-stamp" >/dev/null || fail "debian/rules clean removes files of the user"
other=arm64
[ "$architecture" != arm64 ] || other=amd64
! rules DEB_HOST_ARCH=$other debian/rules build || fail "the rules build packages for $other on $architecture"
grep -q "must be built on $other" "$work/rules" || { cat "$work/rules"; fail "the rules do not say that they build no packages for $other"; }
share=$copy/debian/tmp/usr/share
mkdir -p "$share/zsh/site-functions" "$share/man/man3" "$share/doc/gmon-tools"
touch "$share/man/man3/gmon.3"
! rules debian/rules override_dh_auto_install GMON=: || fail "the rules build packages without the licenses of Rust's library"
grep -q "need the licenses of Rust's library" "$work/rules" || { cat "$work/rules"; fail "the rules do not say that the licenses are missing"; }

step "lintian"
lintian --allow-root --fail-on error --tag-display-limit 0 $debs

step "paths of this machine"
for deb in $debs; do
    dpkg-deb --extract "$deb" "$work/content"
done
sh tests/packages/paths.sh "$work/content"

step "a minimal system"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
system=$packages/debian-$suite.tar
# manpages-dev and bash-completion have files in the same directories as the packages.
[ -f "$system" ] || {
    update
    mmdebstrap --quiet --format=tar --variant=minbase --include=gcc,libc6-dev,pkg-config,man-db,manpages-dev,bash-completion "$suite" "$system.new"
    mv "$system.new" "$system"
}
root=$work/system
mkdir "$root"
tar --extract --file="$system" --directory="$root" --exclude='./dev/*'
inside() { # inside COMMAND...: runs a command in the system, which sees only its own files and processes
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && shift && exec chroot "$@"' \
        sh "$root" "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}

# What is in the system: all files with contents, but only the names in dpkg's own directory, and no caches, logs and
# old versions.
listing() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./tmp -o -path ./var/cache -o -path ./var/log \) -prune -o \
        -path './var/lib/dpkg/*' -printf '%p %y\n' -o -type f -printf '%p %m %u %s ' -exec sha256sum {} \; -o \
        -printf '%p %m %u %y %l\n' | grep -v -E '^\./var/lib/dpkg/([a-z]*-old|triggers/.*|lock.*) ' | LC_ALL=C sort)
}

step "install"
listing >"$work/before"
mkdir -p "$root/tmp/packages"
cp $debs "$root/tmp/packages/"
inside sh -c 'dpkg --install /tmp/packages/*.deb'
listing >"$work/installed"
# Files of other packages are as they were.
grep -v -F './var/lib/dpkg/status' "$work/before" >"$work/others"
grep -v -x -F -f "$work/installed" "$work/others" >"$work/changed" || true
# The listing has no modification times, because the installation changes the times of directories.
[ ! -s "$work/changed" ] || { cat "$work/changed"; fail "the installation changed these files"; }
inside dpkg --listfiles gmon-tools libgmon-dev | sort -u >"$work/files"
inside dpkg --verify

step "compile and profile"
mkdir -p "$root/tmp/source/tests" "$root/tmp/work" "$root/tmp/lua"
cp -R debian "$root/tmp/source/"
cp -R tests/packages "$root/tmp/source/tests/"
inside env AUTOPKGTEST_TMP=/tmp/work sh -c 'cd /tmp/source && sh debian/tests/profile'
# A real program: Lua, whose sources come with the crate lua-src.
lua=$("${CARGO:-cargo}" metadata --format-version 1 | grep -o '"manifest_path":"[^"]*/lua-src-[^"]*/Cargo.toml"' | head -n 1 | cut -d '"' -f 4)
cp "${lua%/Cargo.toml}"/lua-5.4*/*.[ch] tests/benches/contexts/lua.c "$root/tmp/lua/"
inside sh -c 'cd /tmp/lua && gmon-cc -O2 -g -DLUA_USE_POSIX -o lua *.c -lm && ./lua &&
    gmon-gprof -b -p lua gmon.out >flat.txt && gmon-gprof -o profile.html lua gmon.out'
head -n 12 "$root/tmp/lua/flat.txt"
awk '$3 > 0 { sampled = 1 } $NF == "luaV_execute" && $4 > 0 { run = 1 } $NF == "luaL_newstate" && $4 == 1 { made = 1 }
    END { exit !(sampled && run && made) }' "$root/tmp/lua/flat.txt" || fail "the flat profile of Lua is wrong"
[ -s "$root/tmp/lua/profile.html" ] || fail "gmon-gprof -o profile.html wrote no page for Lua"

step "manual pages and completions"
inside man -w gmon-gprof gmon-cc gmon-c++ gmon-fortran gmon-run gmon 3gmon profil monstartup
# man finds the page of gmon-gprof for gprof if /usr/lib/gmon/bin is first in PATH.
case $(inside env PATH=/usr/lib/gmon/bin:/usr/bin:/bin man -w gprof) in
    */gmon-gprof.1.gz|/usr/lib/gmon/*) ;;
    *) fail "man does not find the page of /usr/lib/gmon/bin/gprof" ;;
esac
case $(inside man -w gprof) in
    /usr/share/man/man1/gprof.1.gz) ;;
    *) fail "man does not find the page of binutils' gprof" ;;
esac
for name in gmon-gprof gmon-run; do
    inside bash -c ". /usr/share/bash-completion/bash_completion && _completion_loader $name; complete -p $name"
done

step "purge"
inside dpkg --purge gmon-tools libgmon-dev
rm -rf "$root/tmp/packages" "$root/tmp/source" "$root/tmp/work" "$root/tmp/lua"
listing >"$work/after"
diff "$work/before" "$work/after" || fail "the system is not as it was before the installation"
# The listing has no contents of dpkg's directory: the packages must be unknown there, and their files gone.
! inside dpkg --status gmon-tools libgmon-dev >/dev/null 2>&1 || fail "dpkg still knows the packages"
while read -r file; do
    [ -e "$root$file" ] || [ -h "$root$file" ] || continue
    grep -q -F ".$file " "$work/before" || [ "$file" = /. ] || fail "$file is left"
done <"$work/files"
echo "Nothing is left of $(wc -l <"$work/files") files and directories."
