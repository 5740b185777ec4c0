#!/bin/sh
# The reader for FreeBSD and OpenBSD: bsd-readers.sh
#
# One target is compiled and linked in each run. The others are checked by the compiler, unless something has changed
# that can differ between systems: the dependencies, the scripts of this check, the sources that name systems, and the
# interfaces of Rust's library that reach the system.
set -eu
. tests/check/install.sh
. tests/check/checked.sh
triples="x86_64-unknown-freebsd aarch64-unknown-freebsd x86_64-unknown-openbsd aarch64-unknown-openbsd"
python=$target/zig/bin/python
"$python" -m ziglang version >/dev/null || { lacks ziglang; echo "check: SKIPPED: the reader for the BSDs: there is no ziglang"; exit; }
/usr/bin/rustc --version || { lacks rustc-web; echo "check: SKIPPED: the reader for the BSDs: there is no /usr/bin/rustc"; exit; }

# What a pattern matches in the sources, sorted: matching PATTERN OPTION... with the options of grep
matching() {
    pattern=$1
    shift
    {
        git grep "$@" -E "$pattern" -- 'gprof/src/*.rs' 'gprof/demangle/src/*.rs' 'format/src/*.rs' 2>/dev/null ||
            grep -r --include='*.rs' "$@" -E "$pattern" gprof/src gprof/demangle/src format/src # no checkout of git
    } | LC_ALL=C sort -u
}
dependent=$(matching 'target_(os|arch|env|family|pointer_width)|cfg\((unix|windows)|signal_hook|terminal_size|rustix' -l)
# Rust's library has the same interfaces on all four systems; their names say what the linker must find there.
interfaces=$(matching '\b(std::os|net|process|thread)::[A-Za-z_:{][A-Za-z_:{}, ]*|std::(os|net|process|thread)\b' -o -h)
linked=$triples
if was_checked bsd-readers Cargo.lock gprof/Cargo.toml gprof/build.rs gprof/demangle/Cargo.toml format/Cargo.toml tests/zig.txt tests/bsd/*.sh \
    tests/check/bsd-readers.sh $dependent - <<END
$interfaces
END
then
    linked=x86_64-unknown-freebsd
fi
for triple in $triples; do
    machine=${triple%%-*} system=${triple##*-} action=check
    case " $linked " in *" $triple "*) action=link ;; esac
    sh tests/bsd/reader.sh "$action" "$triple" "$machine-$system" "$target/bsd/reader" "$python"
    echo "gprof for $triple: $action"
done
[ "$linked" != "$triples" ] || record_check
