#!/bin/sh
# gmon-cc: compiles and links as the compiler does, with profiling.
#
#     gmon-cc [what the compiler takes]...
#
# The compiler is $CC, with its options if it has any there, or cc. What gmon-cc adds is -pg, and at the link our
# start-up object: by -B where the compiler looks for gcrt1.o, as a further object where it does not (musl-gcc). Our
# files are found from where this script is.
set -eu

host=@HOST@ # the machine that lib/gmon itself is for; others have a directory each in it

fail() {
    echo "gmon-cc: $*" >&2
    exit 1
}

self=$(command -v -- "$0") || fail "cannot find myself: call me by a path"
while [ -h "$self" ]; do
    link=$(readlink "$self")
    case $link in
        /*) self=$link ;;
        *) self=${self%/*}/$link ;;
    esac
done
case $self in
    */*) ;;
    *) self=./$self ;;
esac
prefix=$(CDPATH="" cd -P -- "${self%/*}/.." && pwd)
library=$prefix/lib/gmon

compiler=${CC:-cc}
command -v ${compiler%% *} >/dev/null || fail "cannot find the compiler, $compiler: set CC"
machine=$($compiler "$@" -dumpmachine 2>/dev/null) || machine=$host
case $machine in
    "$host"*) ;;
    *) library=$library/${machine%%-*} ;;
esac
[ -f "$library/gcrt1.o" ] || fail "no start-up objects for ${machine%%-*}: there is no $library/gcrt1.o"

# In reverse order, as each goes before those that are there. A static PIE wants another gcrt1.o: only gcc knows that
# by itself.
static_pie=no
for argument; do
    [ "$argument" != -static-pie ] || static_pie=yes
done
set -- "-I$prefix/include" "$@"
set -- "-B$library" "$@"
[ $static_pie = no ] || set -- "-B$library/static-pie" "$@"
set -- -pg "$@"

case $static_pie$machine in
    # musl leaves its relocation to its own rcrt1.o, which -pg would replace.
    yes*musl*) fail "a static PIE with musl: compile it with -pg, and link it without and with $library/gmon.o" ;;
esac

# Would it link a program, and with our gcrt1.o?
case $($compiler -### "$@" 2>&1) in
    *gcrt1.o*|*grcrt1.o*) ;;
    */crt1.o*|*Scrt1.o*|*rcrt1.o*) set -- "$library/gmon.o" "$@" ;;
esac
exec $compiler "$@"
