#!/bin/sh
# Packs a directory into an archive whose bytes depend only on the names, contents and kinds of the files:
#
#     archive.sh DIRECTORY     writes DIRECTORY.tar.gz
#
# The script runs in the source tree. All files have the date SOURCE_DATE_EPOCH, which is the date of the version in
# debian/changelog if the caller sets none.
set -eu
export LC_ALL=C
date=${SOURCE_DATE_EPOCH:-$(date -u -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%s)}
tar --create --file="$1.tar" --directory="${1%/*}" --format=ustar --sort=name --mtime="@$date" \
    --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "${1##*/}"
gzip --force --best --no-name "$1.tar"
echo "$1.tar.gz"
