#!/bin/sh
# Removes what install.sh installed, by the list LIBDIR/gmon/installed: each file, and each directory that install.sh
# made, unless the directory has other files by now. `make uninstall` sets the variables that name the directories.
set -eu

fail() {
    echo "uninstall: $*" >&2
    exit 1
}

list=$LIBDIR/gmon/installed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM
[ -f "$DESTDIR$list" ] || fail "there is no $DESTDIR$list: name the directories (PREFIX, LIBDIR, DESTDIR) that make install was given"
# The paths in the list of an installation that was moved may belong to another installation.
grep -q -x -F -e "$list" "$DESTDIR$list" || fail "$DESTDIR$list lists an installation in other directories: remove the files by hand"
cp "$DESTDIR$list" "$work/list"
LC_ALL=C sort -r "$work/list" >"$work/deepest-first"
while IFS= read -r path; do
    case $path in
        */) ;;
        *) rm -f "$DESTDIR$path" ;;
    esac
done <"$work/deepest-first"
while IFS= read -r path; do
    case $path in
        */) rmdir "$DESTDIR${path%/}" 2>/dev/null || true ;;
    esac
done <"$work/deepest-first"
