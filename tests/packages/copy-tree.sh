#!/bin/sh
# Copies the sources into a directory, without what a build made: copy-tree.sh DIRECTORY.
#
# In a git checkout, the sources are all files that exist and that git does not ignore, also new files. Elsewhere, such
# as in an unpacked archive, they are all files outside target/.
set -eu
place=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
# git also finds a repository above the sources, which says nothing about them.
{ [ -e .git ] && git -c core.quotePath=off ls-files --cached --others --exclude-standard 2>/dev/null ||
    find . \( -path ./target -o -path ./.git \) -prune -o \( -type f -o -type l \) -print; } |
    while IFS= read -r file; do
        # A file that was deleted stays in git's list until the next commit.
        if [ -e "$file" ] || [ -h "$file" ]; then printf '%s\n' "$file"; fi
    done | tar -cf - -T - | tar -xf - -C "$place"
[ -f "$place/Cargo.toml" ] || { echo "copy-tree: the copy in $place has no Cargo.toml" >&2; exit 1; }
