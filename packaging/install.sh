#!/bin/sh
# Installs what `make dist` staged: install.sh STAGED. `make install` sets the variables that name the directories.
#
# LIBDIR/gmon/installed lists what was installed, for uninstall.sh: the path of each file, without DESTDIR, and the path
# of each directory that did not exist before, with a slash at the end. A path is in the list before the file exists, so
# an interrupted installation can be uninstalled too. Files of an earlier installation in the same directories that the
# new installation lacks are removed.
set -eu
umask 022
staged=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM

fail() {
    echo "install: $*" >&2
    exit 1
}

for directory in "$PREFIX" "$BINDIR" "$LIBDIR" "$INCLUDEDIR" "$DATADIR" "$MANDIR" "$DOCDIR" "$PKGCONFIGDIR"; do
    case $directory in
        *//*|*/|*/../*|*/..) fail "$directory: write the directory without // and .., and without a slash at the end" ;;
        /*) ;;
        *) fail "$directory: not an absolute path" ;;
    esac
done
list=$LIBDIR/gmon/installed

# destination FILE: where a staged file goes.
destination() {
    case $1 in
        bin/*) echo "$BINDIR/${1#bin/}" ;;
        include/*) echo "$INCLUDEDIR/${1#include/}" ;;
        lib/pkgconfig/*|libdata/pkgconfig/*) echo "$PKGCONFIGDIR/${1##*/}" ;;
        lib/*) echo "$LIBDIR/${1#lib/}" ;;
        share/man/*) echo "$MANDIR/${1#share/man/}" ;;
        share/doc/gmon/*) echo "$DOCDIR/${1#share/doc/gmon/}" ;;
        share/*) echo "$DATADIR/${1#share/}" ;;
        *) fail "$staged/$1: no variable names a directory for this file" ;;
    esac
}

is_noted_there=no
note() { # note PATH: adds a path to the list, once the directory of the list exists
    printf '%s\n' "$1" >>"$work/list"
    [ "$is_noted_there" = no ] || printf '%s\n' "$1" >>"$DESTDIR$list"
}

# make_directory DIRECTORY: makes the directory and those above it, and notes the new ones. The empty name is the root,
# which exists.
make_directory() {
    [ -n "$1" ] && ! [ -d "$DESTDIR$1" ] || return 0
    make_directory "${1%/*}"
    note "$1/"
    mkdir "$DESTDIR$1"
}

# located FROM TO: the path of the directory TO as seen from the directory FROM, if both are in PREFIX, so that the
# installation can be moved; otherwise the path itself.
located() {
    case $1/ in "$PREFIX"/*) ;; *) echo "$2"; return ;; esac
    case $2/ in "$PREFIX"/*) ;; *) echo "$2"; return ;; esac
    up=$(printf '%s\n' "${1#"$PREFIX"}" | sed 's,/[^/]*,../,g')
    down=${2#"$PREFIX"}
    path=$up${down#/}
    path=${path%/}
    printf '%s\n' "${path:-.}"
}

# replacement TEXT: the text for the right side of a substitution of sed with commas.
replacement() { printf '%s\n' "$1" | sed 's/[\\&,]/\\&/g'; }

# The directories that gmon-cc looks in, as words of the shell.
edit_wrapper() {
    word() { replacement "'$(located "$BINDIR" "$1" | sed "s/'/'\\\\''/g")'"; }
    sed -e "s,^library_from_here=.*,library_from_here=$(word "$LIBDIR/gmon")," \
        -e "s,^include_from_here=.*,include_from_here=$(word "$INCLUDEDIR"),"
}

# edit_pkgconfig DIRECTORY OBJECTS: the directories in the pkg-config file that goes to DIRECTORY and is for the objects
# in OBJECTS.
edit_pkgconfig() {
    value() {
        path=$(located "$1" "$2")
        # pkg-config escapes the path of the file, but not other values.
        case $path in
            /*) replacement "$(printf '%s\n' "$path" | sed "s/[ '\"\\\\]/\\\\&/g")" ;;
            *) replacement "\${pcfiledir}/$path" ;;
        esac
    }
    sed -e "s,^prefix=.*,prefix=$(value "$1" "$PREFIX")," -e "s,^libdir=.*,libdir=$(value "$1" "$2")," \
        -e "s,^includedir=.*,includedir=$(value "$1" "$INCLUDEDIR"),"
}

# install_file FILE: installs a staged file. A running program and a link do not keep the file from being replaced.
install_file() {
    path=$(destination "$1") || exit 1
    directory=${path%/*}
    make_directory "$directory"
    note "$path"
    [ -d "$DESTDIR$path" ] && fail "$DESTDIR$path: a directory is in the place of a file: remove the directory"
    rm -f "$DESTDIR$path"
    case $1 in
        bin/gmon-cc) edit_wrapper <"$staged/$1" >"$DESTDIR$path" ;;
        lib/gmon/*/pkgconfig/*) edit_pkgconfig "$directory" "${directory%/*}" <"$staged/$1" >"$DESTDIR$path" ;;
        *.pc) edit_pkgconfig "$directory" "$LIBDIR/gmon" <"$staged/$1" >"$DESTDIR$path" ;;
        *) cp -P "$staged/$1" "$DESTDIR$path" ;;
    esac
    mode=644
    [ ! -x "$staged/$1" ] || mode=755
    [ -h "$DESTDIR$path" ] || chmod "$mode" "$DESTDIR$path"
}

mkdir -p "$DESTDIR/"
: >"$work/list"
: >"$work/before"
# The list of an installation that was copied or moved here names the files in the earlier place: another installation.
! grep -q -s -x -F -e "$list" "$DESTDIR$list" || cp "$DESTDIR$list" "$work/before"
make_directory "$LIBDIR/gmon"
note "$list"
cat "$work/before" "$work/list" >"$work/both"
cp "$work/both" "$DESTDIR$list"
is_noted_there=yes
(cd "$staged" && find . -type f -o -type l) | LC_ALL=C sort >"$work/files"
while IFS= read -r file; do
    install_file "${file#./}"
done <"$work/files"

# What the earlier installation made and the new installation did not. Directories stay in the list.
grep -v -x -F -f "$work/list" "$work/before" | while IFS= read -r path; do
    case $path in
        */) note "$path" ;;
        *) rm -f "$DESTDIR$path" ;;
    esac
done
LC_ALL=C sort -u "$work/list" >"$DESTDIR$list.new"
mv "$DESTDIR$list.new" "$DESTDIR$list"
chmod 644 "$DESTDIR$list"
echo "Installed $(grep -c -v '/$' "$DESTDIR$list") files; $DESTDIR$list lists them."
