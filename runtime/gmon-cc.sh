#!/bin/sh
# gmon-cc: compiles and links as the compiler does, with profiling.
#
#     gmon-cc [what the compiler takes]...
#
# The compiler is $GMON_CC or $CC, with its options if it has any there, or cc; and cc as well where that variable names
# gmon-cc itself, as with `make CC=gmon-cc`. What gmon-cc adds is -pg, and at the link our start-up object: by -B where the
# compiler looks for gcrt1.o, as a further object where it does not (musl-gcc). Our files are found from where this script
# is.
set -eu

host=@HOST@ # the machine that lib/gmon itself is for; others have a directory each in it

fail() {
    echo "gmon-cc: $*" >&2
    exit 1
}

self=$(command -v -- "$0") || fail "cannot find gmon-cc: run it by its path"
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

# Whether a word is the name of this program, of a link to this program, or of another copy of this program.
is_self() {
    [ "${1##*/}" != gmon-cc ] || return 0
    found=$(command -v -- "$1") && [ "$found" -ef "$self" ]
}

# The path of cc, where the first cc of $PATH is a link to this program.
next_cc() {
    IFS=:
    for directory in $PATH; do
        if [ -x "$directory/cc" ] && ! [ "$directory/cc" -ef "$self" ]; then
            echo "$directory/cc"
            return
        fi
    done
    fail "every cc in PATH is gmon-cc itself: set GMON_CC to the compiler"
}

# A compiler that runs gmon-cc would do so for ever.
[ -z "${GMON_CC_RUNS:-}" ] || fail "the compiler, $GMON_CC_RUNS, runs gmon-cc again: set GMON_CC to the compiler itself"

# The words of $CC are words only: no pattern, and with blanks between. make, CMake and Meson hand $CC on: what stands around
# gmon-cc in it (ccache gmon-cc -m32) has been run, or is among the arguments already.
set -f
compiler=${GMON_CC:-${CC:-cc}}
for word in $compiler; do
    if is_self "$word"; then
        compiler=cc
        break
    fi
done
# Of "ccache gmon-cc" CMake leaves the first word in $CC, which is no compiler.
case ${compiler##*/} in
    ccache|sccache|distcc|icecc|buildcache) compiler=cc ;;
esac
if [ "$compiler" = cc ] && is_self cc; then
    compiler=$(next_cc) || exit 1
fi
command -v ${compiler%% *} >/dev/null || fail "cannot find the compiler, $compiler: set CC"
export GMON_CC_RUNS="$compiler"

# Where there is nothing to compile or to link (--version, -v, no argument at all), the compiler only answers a question.
is_question=yes
for argument; do
    case $argument in
        -l*|-Wl,*|-Xlinker|-|-print*|--print*) is_question=no ;;
        -*) ;;
        *) is_question=no ;;
    esac
done
[ $is_question = no ] || exec $compiler "$@"

# The first of several questions is the one that gcc answers.
machine=$($compiler -dumpmachine "$@" 2>/dev/null </dev/null) || machine=$host
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
    yes*musl*) fail "cannot link a static PIE with musl: compile with -pg, then link without -pg and with $library/gmon.o" ;;
esac

# Would it link a program, and with our gcrt1.o?
case $($compiler -### "$@" 2>&1 </dev/null) in
    *gcrt1.o*|*grcrt1.o*) ;;
    */crt1.o*|*Scrt1.o*|*rcrt1.o*) set -- "$library/gmon.o" "$@" ;;
esac
exec $compiler "$@"
