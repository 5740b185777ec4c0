#!/bin/sh
# Compiles calls.c with a command and runs it. Each reader must count as many calls as the program made, and must find
# samples:
#
#     profiles.sh DIRECTORY READERS COMPILER...
#
# DIRECTORY is for the files. READERS are gprofs, separated by colons. The variable RUN has the command that runs
# programs for another machine, such as an emulator. With RUN, the script does not require samples, because emulators
# may not deliver them.
set -eu
source=$(cd "$(dirname "$0")" && pwd)/calls.c
mkdir -p "$1"
cd "$1"
readers=$2
shift 2
rm -f gmon.out gmon.out.side calls
"$@" -O1 "$source" -o calls
calls=$(${RUN:-} ./calls)
[ -f gmon.out.side ] || { echo "profiles: $*: the program did not get the runtime of gmon" >&2; exit 1; }
IFS=:
for reader in $readers; do
    "$reader" -b -p calls gmon.out >flat.txt
    awk -v calls="$calls" -v run="${RUN:-}" '$NF == "leaf" && $4 == calls && ($3 > 0 || run != "") { found++ } END { exit found != 1 }' \
        flat.txt || { echo "profiles: $*: $calls calls of leaf, but $reader prints:" >&2; cat flat.txt >&2; exit 1; }
done
unset IFS
echo "$*: $calls calls"
