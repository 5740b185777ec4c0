#!/bin/sh
# Puts Debian's packages of Rust 1.85, the oldest Rust for the library gmon, into a directory: oldest-rust.sh DIRECTORY.
# The script does not change the system. The script downloads 96 MB, which take 440 MB when unpacked.
set -eu
place=$(mkdir -p "$1" && cd "$1" && pwd)
work=$place/work
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
version=$(apt-cache madison rustc-web | awk '$3 ~ /^1\.85\./ { print $3; exit }')
[ -n "$version" ] || { echo "oldest-rust.sh: no package rustc-web 1.85" >&2; exit 1; }
# The libraries are those that the compiler and cargo need and that few systems have.
(
    cd "$work"
    apt-get -q -o APT::Sandbox::User=root download "rustc-web=$version" "cargo-web=$version" "libstd-rust-web-dev=$version" \
        "libstd-rust-web-1.85=$version" libllvm19 libpcre3 libhttp-parser2.9 libssh2-1 libz3-4 libxml2 libedit2 >log 2>&1
) || { cat "$work/log" >&2; exit 1; }
for package in "$work"/*.deb; do
    dpkg -x "$package" "$place"
done
# The command gets its name when it works.
cat >"$place/run.new" <<END
#!/bin/sh
# run COMMAND...: runs a command with this Rust.
for directory in "$place"/usr/lib/*-linux-gnu "$place"/lib/*-linux-gnu; do
    LD_LIBRARY_PATH=\$directory\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH RUSTC="$place/usr/bin/rustc"
exec "\$@"
END
chmod 755 "$place/run.new"
"$place/run.new" "$place/usr/bin/cargo" --version
mv "$place/run.new" "$place/run"
