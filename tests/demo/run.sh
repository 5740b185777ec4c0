#!/bin/sh
# Profiles SQLite: links it with the start-up object of the distribution in $1, runs it, and prints gprof's reports.
set -eu

dist=$1
cc=${CC:-cc}
demo=$(cd "$(dirname "$0")" && pwd)
here=$(pwd)
build=$(dirname "$dist")/demo
mkdir -p "$build"

say() { printf '\n== %s\n' "$*"; }

sqlite=$(sh "$demo/sqlite.sh" "$build")

say "linking with our start-up object: $cc -pg -B${dist#"$here/"}/lib/gmon"
"$cc" -O1 -g -pg -I"$sqlite" -c "$demo/driver.c" -o "$build/driver.o"
"$cc" -pg -B"$dist/lib/gmon" "$build/driver.o" "$build/sqlite3.o" -o "$build/sqlite-demo" -lm

say "running it"
(cd "$build" && rm -f gmon.out && ./sqlite-demo)

say "the first rows of the flat profile"
cd "$build"
"$dist/bin/gprof" -b -p --errors --table --top=12 sqlite-demo gmon.out
"$dist/bin/gprof" -b -p sqlite-demo gmon.out >flat.txt
# Later programs write gmon.out too.
cp gmon.out sqlite.out
[ ! -f gmon.out.side ] || cp gmon.out.side sqlite.out.side

hottest=$(awk 'rows { print $7; exit } $1 == "time" { rows = 1 }' flat.txt)
say "the hottest function's entry in the call graph: who calls $hottest, and whom it calls"
"$dist/bin/gprof" -b -q sqlite-demo gmon.out >graph.txt
awk -v name="$hottest" '
    /^---/ { if (found) { print entry $0; exit } entry = ""; next }
    /^index % time/ { head = $0; entry = ""; next }
    { entry = entry $0 "\n" }
    /^\[/ { for (field = 2; field <= NF; field++) if ($field == name) { found = 1; print head } }
' graph.txt

say "what the rows do not show"
"$dist/bin/gprof" -p sqlite-demo gmon.out >whole.txt
sed -n '/^Statistics:/,$p' whole.txt

say "part two, what gprof has always got wrong: \`dear\` calls \`reach\` once where \`cheap\` calls it a thousand times"
echo "Both take about half of the time. The program measures its own times; all columns are of the same run, in seconds."
"$cc" -O2 -g -pg -I"$demo/../programs/contexts" -c "$demo/../programs/contexts/direct.c" -o callers.o
"$cc" -pg -B"$dist/lib/gmon" callers.o -o callers
GMON_FORMAT=gnu ./callers cpu 2 >truth.txt
if gprof --version 2>/dev/null | grep -q '^GNU gprof'; then
    gprof -b -q callers gmon.out >theirs.txt
else
    "$dist/bin/gprof" --compat=gnu -b -q callers gmon.out >theirs.txt
fi
"$dist/bin/gprof" -b -q callers gmon.out >ours.txt
# The time of a function is in the line of its own entry: [number], percent, self, children.
awk '
    FILENAME == "truth.txt" { truth[$2] = $3 / 1e9; next }
    /^\[/ { for (field = 5; field <= NF; field++) if ($field in truth) time[FILENAME, $field] = $3 + $4 }
    END {
        printf "\n  %-8s %12s %12s %12s\n", "function", "truth", "GNU gprof", "this gprof"
        for (i = split("cheap dear", names, " "); i > 0; i--)
            printf "  %-8s %12.2f %12.2f %12.2f\n", names[i], truth[names[i]], time["theirs.txt", names[i]], time["ours.txt", names[i]]
    }
' truth.txt theirs.txt ours.txt

say "part three, no -pg at all: gmon-run profiles the same program, compiled as usual"
"$cc" -O2 -g -I"$demo/../programs/contexts" "$demo/../programs/contexts/direct.c" -o unchanged
"$dist/bin/gmon-run" ./unchanged cpu 1 >truth.txt
"$dist/bin/gprof" -b -q gmon.run 2>programs.txt >unchanged.txt
awk '
    FILENAME == "truth.txt" { truth[$2] = $3 / 1e9; next }
    /^\[/ { for (field = 5; field <= NF; field++) if ($field in truth) time[$field] = $3 + $4 }
    END {
        printf "\n  %-8s %12s %12s\n", "function", "truth", "gmon-run"
        for (i = split("cheap dear", names, " "); i > 0; i--)
            printf "  %-8s %12.2f %12.2f\n", names[i], truth[names[i]], time[names[i]]
    }
' truth.txt unchanged.txt

say "part four, three doors to one profile of SQLite: as it is, asked while it runs, and with -pg"
rows() { "$dist/bin/gprof" -b -p --table --top=3 "$@"; }
"$cc" -O1 -g -I"$sqlite" -c "$demo/driver.c" -o driver-room.o
echo "1. gmon-run: nothing is compiled or linked for this. Times, and no calls:"
"$cc" driver-room.o sqlite3-room.o -o sqlite-plain -lm
"$dist/bin/gmon-run" -o plain.run ./sqlite-plain >/dev/null
rows plain.run 2>/dev/null
echo "2. gprof --attach: compiled with room (gmon-cc --on-demand). All calls of half a second of a running program:"
"$cc" driver-room.o sqlite3-room.o "$dist/lib/gmon/gmon.o" -o sqlite-asked -lm
mkfifo ready 2>/dev/null || true
./sqlite-asked 1000 >ready &
asked=$!
# The first line of the output says that the program works.
{ read -r line && rows --attach "$asked" --seconds=0.5 --calls 2>/dev/null; cat >/dev/null & } <ready
kill "$asked"
wait "$asked" 2>/dev/null || true
echo "3. -pg: all calls of the whole run, as at the top:"
rows sqlite-demo sqlite.out

say "what to type next"
near=${dist#"$here/"} nearby=${build#"$here/"}
cat <<EOF
  $near/bin/gprof $nearby/sqlite-demo $nearby/sqlite.out | less
      the whole report, with its columns explained
  cc -pg -B$near/lib/gmon prog.c && ./a.out && $near/bin/gprof
      the same for a program of your own
  $near/bin/gmon-run any-program && $near/bin/gprof
      a program that is not compiled again
EOF
