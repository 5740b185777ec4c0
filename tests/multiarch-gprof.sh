#!/bin/sh
# Unpacks GNU gprof for images of all machines into a directory, from Debian's package binutils-multiarch (2 MB). The
# package is not installed, because it would replace the system's gprof, nm, and objdump.
#
#     multiarch-gprof.sh DIRECTORY
set -eu
place=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
cd "$work"
apt-get -q -o APT::Sandbox::User=root download binutils-multiarch >log 2>&1 || { cat log >&2; exit 1; }
dpkg-deb -x binutils-multiarch_*.deb root
libraries=$(find root -name 'libbfd-*multiarch*.so*' | head -n 1)
program=$(find root -name '*gprof' -type f | head -n 1)
[ -n "$libraries" ] && [ -n "$program" ] || { echo "multiarch-gprof: the package has no gprof" >&2; exit 1; }
cp -R root/. "$place/"
# The command gets its name when it works.
cat >"$place/gprof.new" <<END
#!/bin/sh
LD_LIBRARY_PATH="$place/$(dirname "${libraries#root/}")" exec "$place/${program#root/}" "\$@"
END
chmod 755 "$place/gprof.new"
"$place/gprof.new" --version >/dev/null
mv "$place/gprof.new" "$place/gprof"
