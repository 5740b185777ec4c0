#!/bin/sh
# gmon-cc, gmon-c++, gmon-fortran: run the compiler with profiling.
#
#     gmon-cc|gmon-c++|gmon-fortran [--on-demand] [compiler arguments]...
#
# The three commands are one script: the name by which it is run says which compiler runs, so that one build can have
# several languages.
#
# With --on-demand, the code is not compiled with -pg, but with room at the entries of functions, so that the runtime
# can count calls while somebody asks for that; and the start-up object is a further object in each case. Shared objects
# get an object too, so that the runtime hears when they are loaded.
#
# The compiler is $GMON_CC, $CC or cc, with the options in that variable; for gmon-c++ $GMON_CXX, $CXX or c++; for
# gmon-fortran $GMON_FC, $FC or gfortran. If the variable names one of the three commands, as with `make CC=gmon-cc`,
# the compiler is cc, c++ or gfortran. gmon-cc adds -pg, and adds the start-up object when it links: by -B if the
# compiler looks for gcrt1.o, and as a further object otherwise (musl-gcc). The files of gmon are found relative to this
# script.
set -eu

version=@VERSION@
# The machine and the system of the objects in lib/gmon. Other machines and systems have directories there.
host=@HOST@
host_system=@SYSTEM@
# The start-up objects and the headers, relative to the directory of this script. `make install` writes the directories
# of the installation here.
library_from_here=../lib/gmon
include_from_here=../include

# The language that a name of this script tells: links may have the names of compilers, such as g++.
command=gmon-cc variable=CC default=cc
tell_language() {
    case ${1##*/} in
        *++*) command=gmon-c++ variable=CXX default=c++ ;;
        *fortran*|*flang*|f77|f90|f95) command=gmon-fortran variable=FC default=gfortran ;;
    esac
}
tell_language "$0"

fail() {
    echo "$command: $*" >&2
    exit 1
}

self=$(command -v -- "$0") || fail "cannot find $command: run it by its path"
while [ -h "$self" ]; do
    link=$(readlink "$self")
    case $link in
        /*) self=$link ;;
        *) self=${self%/*}/$link ;;
    esac
    # A link to a link tells no language by its own name, and the next one may.
    [ $command != gmon-cc ] || tell_language "$self"
done
case $self in
    */*) ;;
    *) self=./$self ;;
esac
bin=$(CDPATH="" cd -P -- "${self%/*}" && pwd)

# The path of a directory that is given relative to the directory of this script.
resolved() {
    path=$1 from=$bin
    while [ "$path" != "${path#../}" ]; do
        path=${path#../} from=${from%/*}
    done
    case $path in
        /*) echo "$path" ;;
        *) echo "$from/$path" ;;
    esac
}
library=$(resolved "$library_from_here")
include=$(resolved "$include_from_here")

# Whether a word names this program, a link to this program, or another copy of this program.
is_self() {
    case ${1##*/} in gmon-cc|gmon-c++|gmon-fortran) return 0 ;; esac
    found=$(command -v -- "$1") && [ "$found" -ef "$self" ]
}

# The path of the first compiler of the default name in $PATH that is not a link to this program.
next_compiler() {
    IFS=:
    for directory in $PATH; do
        if [ -x "$directory/$default" ] && ! [ "$directory/$default" -ef "$self" ]; then
            echo "$directory/$default"
            return
        fi
    done
    fail "every $default in PATH is $command itself: set GMON_$variable to the compiler"
}

# A compiler that runs gmon-cc would run it forever. The inner command may be another than the outer one.
[ -z "${GMON_CC_RUNS:-}" ] ||
    fail "the compiler $GMON_CC_RUNS runs $command again: set GMON_${GMON_CC_RUNS_FOR:-$variable} to the compiler itself"

# $CC is split at blanks, without file name patterns. make, CMake and Meson export $CC: other words in it (ccache
# gmon-cc -m32) have already been run, or are among the arguments.
set -f
case $variable in
    CC) compiler=${GMON_CC:-${CC:-cc}} ;;
    CXX) compiler=${GMON_CXX:-${CXX:-c++}} ;;
    FC) compiler=${GMON_FC:-${FC:-gfortran}} ;;
esac
for word in $compiler; do
    if is_self "$word"; then
        compiler=$default
        break
    fi
done
# CMake shortens "ccache gmon-cc" in $CC to the first word, which is not a compiler.
case ${compiler##*/} in
    ccache|sccache|distcc|icecc|buildcache) compiler=$default ;;
esac
if [ "$compiler" = $default ] && is_self $default; then
    compiler=$(next_compiler) || exit 1
fi
command -v ${compiler%% *} >/dev/null || fail "cannot find the compiler $compiler: set $variable"
export GMON_CC_RUNS="$compiler" GMON_CC_RUNS_FOR=$variable

# The option of gmon-cc itself is removed from the arguments.
on_demand=no
for argument; do
    shift
    if [ "$argument" = --on-demand ]; then
        on_demand=yes
    else
        set -- "$@" "$argument"
    fi
done

# Without anything to compile or link (-v, -dumpmachine, no arguments), the compiler only answers a question. The answer
# to --version has a last line about gmon-cc.
is_question=yes
for argument; do
    case $argument in
        -l*|-Wl,*|-Xlinker|-|-print*|--print*) is_question=no ;;
        -*) ;;
        *) is_question=no ;;
    esac
done
if [ $is_question = yes ]; then
    [ "$*" = --version ] || exec $compiler "$@"
    # Build systems recognize the compiler by the first lines, and take the first number for its version.
    $compiler --version || exit
    echo "$command (gmon toolchain) $version for $($compiler -dumpmachine 2>/dev/null || echo $host)"
    exit
fi

# The machine as directories and compilers name it: FreeBSD says amd64 and arm64.
architecture() {
    case $1 in
        amd64*) echo x86_64 ;;
        arm64*) echo aarch64 ;;
        *) echo "${1%%-*}" ;;
    esac
}

# gcc answers the first of several questions.
machine=$($compiler -dumpmachine "$@" 2>/dev/null </dev/null) || machine=$host
architecture=$(architecture "$machine")
case $machine in
    *-*freebsd*) system=FreeBSD ;;
    *-*openbsd*) system=OpenBSD ;;
    *-*) system=Linux ;;
    *) system=$host_system ;; # the compiler did not answer
esac
if [ "$system $architecture" != "$host_system $(architecture "$host")" ]; then
    case $system-$architecture in
        Linux-*) directory=$architecture ;;
        *-x86_64) directory=$system-amd64 ;;
        *) directory=$system-$architecture ;;
    esac
    library=$library/$(echo "$directory" | tr '[:upper:]' '[:lower:]')
fi
start=gcrt1.o
[ "$system" != OpenBSD ] || start=gcrt0.o
if ! [ -f "$library/$start" ]; then
    [ "$system" = Linux ] || architecture="$system on $architecture"
    fail "no start-up objects for $architecture: there is no $library/$start"
fi

# Whether a program has the segment PT_OPENBSD_SYSCALLS, by which OpenBSD's kernel knows the program's system calls. A
# program header has 14 words, the first of which is the type.
has_system_calls() {
    od -A n -v -t x4 -j 64 -N 3584 "$1" |
        awk '{ for (i = 1; i <= NF; i++) if (word++ % 14 == 0 && $i == "65a3dbe9") found = 1 } END { exit !found }'
}

# Each argument is added before the existing ones. A static PIE needs another gcrt1.o, which only gcc finds by itself.
static_pie=no static=no pie=no
for argument; do
    case $argument in
        -static-pie) static_pie=yes ;;
        -static) static=yes ;;
        -pie) pie=yes ;;
    esac
done
set -- "-I$include" "$@"
if [ $on_demand = yes ]; then
    case $system-$architecture in
        Linux-x86_64) room=7,5 ;;
        Linux-aarch64) room=4,2 ;;
        *) fail "calls cannot be counted on demand on $system with $architecture: leave out --on-demand" ;;
    esac
    for argument; do
        [ "$argument" != -pg ] || fail "-pg counts all calls, and --on-demand only those that somebody asks for: use one of the two"
    done
    set -- "-fpatchable-function-entry=$room" "$@"
    would=$($compiler -### "$@" 2>&1 </dev/null) || true
    case $would in
        */crt1.o*|*Scrt1.o*|*rcrt1.o*) set -- "-Wl,--dynamic-list=$library/on-demand.txt" "$library/gmon.o" "$@" ;;
        *crtbeginS.o*) set -- "$library/gmon-shared.o" "$@" ;;
    esac
    case $would in
        *--eh-frame-hdr*) ;;
        */crt1.o*|*rcrt1.o*) set -- -Wl,--eh-frame-hdr "$@" ;;
    esac
    exec $compiler "$@"
fi
set -- "-B$library" "$@"
[ $static_pie = no ] || set -- "-B$library/static-pie" "$@"
set -- -pg "$@"

# clang ignores -static-pie for FreeBSD, and makes a program of -static -pie that libc takes for a dynamic program.
case $system$static_pie$static$pie in
    FreeBSDyes*|FreeBSDnoyesyes) fail "FreeBSD has no static position-independent programs: use -static or -pie alone" ;;
esac
case $static_pie$machine in
    # musl's own rcrt1.o relocates a static PIE, and -pg would replace rcrt1.o.
    yes*musl*) fail "cannot link a static PIE with musl: compile with -pg, then link without -pg and with $library/gmon.o" ;;
esac

# Whether the compiler links a program, and with the gcrt1.o of gmon.
would=$system$($compiler -### "$@" 2>&1 </dev/null) || true
case $would in
    # The object needs libc of FreeBSD 14. Compilers link the profiled libraries, which older systems have.
    FreeBSD*'"-lc_p"'*) fail "gmon needs FreeBSD 14 or later, but the compiler links for $machine: use another, such as \
clang --target=${machine%%-*}-unknown-freebsd14" ;;
    # The kernel of OpenBSD samples only static programs.
    OpenBSD*gcrt0.o*)
        [ $static = yes ] || set -- -static "$@"
        if [ "$host_system" != OpenBSD ]; then
            # Linkers of other systems may be too old for OpenBSD.
            output=a.out next=no
            for argument; do
                [ $next = no ] || output=$argument next=no
                case $argument in
                    -o|--output) next=yes ;;
                    -o*) output=${argument#-o} ;;
                    --output=*) output=${argument#--output=} ;;
                    @*) output= && break ;; # the file may name the output
                esac
            done
            $compiler "$@" || exit
            if [ -n "$output" ] && [ -f "$output" ] && ! has_system_calls "$output"; then
                rm -f -- "$output"
                fail "the linker makes no segment PT_OPENBSD_SYSCALLS, and OpenBSD's kernel ends a program without this segment at \
its first system call: link with lld 19 or later, for example with --ld-path=/path/of/ld.lld"
            fi
            exit
        fi ;;
    *gcrt1.o*|*grcrt1.o*) ;;
    */crt1.o*|*Scrt1.o*|*rcrt1.o*) set -- "$library/gmon.o" "$@" ;;
esac
# The runtime walks stacks by the index of the unwind tables, which compilers leave out of static programs.
case $would in
    *--eh-frame-hdr*) ;;
    Linux*crt1.o*) set -- -Wl,--eh-frame-hdr "$@" ;;
esac
exec $compiler "$@"
