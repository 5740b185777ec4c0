#!/bin/sh
# Puts musl for AArch64 and a compiler wrapper for it into a directory, from Debian's packages for that machine and the
# cross compiler. The script does not change the system; it downloads 1 MB and the package lists.
#
#     musl-aarch64.sh DIRECTORY
set -eu
place=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
chmod 755 "$work"
mkdir -p "$work/lists/partial" "$work/archives/partial"
apt() {
    apt-get -q -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o Dir::State::lists="$work/lists" \
        -o Dir::Cache="$work" -o APT::Sandbox::User=root "$@"
}
apt update >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
(cd "$work" && apt download musl:arm64 musl-dev:arm64 >"$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }
for package in "$work"/*.deb; do
    dpkg -x "$package" "$work/root"
done
# The link to the C library points to the place where Debian would install the library.
library=$work/root/usr/lib/aarch64-linux-musl
rm -f "$library/libc.so"
cp "$work/root/lib/aarch64-linux-musl/libc.so" "$library/"
ln -sf ../usr/lib/aarch64-linux-musl/libc.so "$work/root/lib/ld-musl-aarch64.so.1"
sed -i "s,/usr/\(lib\|include\)/aarch64-linux-musl,$place/usr/\1/aarch64-linux-musl,g" "$library/musl-gcc.specs"
# Outline atomics make the cross compiler's library ask glibc for the processor's features.
cat >"$work/root/aarch64-musl-gcc" <<END
#!/bin/sh
exec aarch64-linux-gnu-gcc -mno-outline-atomics "\$@" -specs "$place/usr/lib/aarch64-linux-musl/musl-gcc.specs"
END
chmod 755 "$work/root/aarch64-musl-gcc"
cp -R "$work/root/." "$place/"
