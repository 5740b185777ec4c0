#!/bin/sh
# Runs the test suites of other projects twice, alone and under gmon-run, and compares the outcome of each single test:
# suites.sh [SUITE...] (`make suites`)
#
#     suites.sh               the suites python, python_root, bash, git, and redis
#     suites.sh git redis     these suites
#     suites.sh coreutils     also possible; docs/gmon-run.md names the test that fails under gmon-run, and why
#
# The programs and the tests are those of Debian's source packages, without Debian's changes. apt-get downloads them
# with lists of its own, so the system stays as it is. target/suites keeps the sources, the built programs, the output
# of the tests in `output`, and the outcomes of both runs in SUITE.both; `rm -r target/suites` removes all of this.
# Tests that differ run once more, both ways, because the outcome of some tests depends on time. The exit status is 1 if
# a test passes alone and fails under gmon-run.
#
# If root starts this script, the suites run as the user `nobody`, because they skip what root cannot test: permissions
# do not stop root. python_root runs as root, because Python's suite changes users and groups.
set -eu
cd "$(dirname "$0")/.."
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
work=$target/suites
gmon_run=$target/dist/bin/gmon-run
export LC_ALL=C.UTF-8 TERM=dumb
# Variables of make and of cargo would change the builds and the tests.
unset MAKEFLAGS MAKELEVEL MFLAGS CI
[ $# != 0 ] || set -- python $([ "$(id -u)" != 0 ] || echo python_root) bash git redis
[ -x "$gmon_run" ] || { echo "suites: $gmon_run is missing: run make dist" >&2; exit 2; }

quietly() { "$@" >"$work/$suite.log" 2>&1 || { tail -n 40 "$work/$suite.log" >&2; echo "suites: this command failed: $*" >&2; exit 2; }; }

# fetch PACKAGE: downloads the sources of a Debian package, and sets `archive` and `version`.
fetch() {
    mkdir -p "$work/apt/etc/sources.list.d" "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/sources"
    export APT_CONFIG="$work/apt/apt.conf"
    if [ ! -e "$APT_CONFIG" ]; then
        # The lists in both of their forms. Other lists are those of servers that may have no sources.
        for list in sources.list sources.list.d/debian.sources; do
            [ ! -e "/etc/apt/$list" ] || sed -e 's/^deb /deb-src /' -e 's/^Types:.*/Types: deb-src/' "/etc/apt/$list" >"$work/apt/etc/$list"
        done
        printf '%s "%s";\n' Dir::Etc "$work/apt/etc" Dir::Etc::trustedparts /etc/apt/trusted.gpg.d Dir::State::lists "$work/apt/lists" \
            Dir::Cache "$work/apt" APT::Sandbox::User root >"$APT_CONFIG"
        quietly apt-get -q -o APT::Update::Error-Mode=any update
    fi
    archive=$(find "$work/sources" -name "$1_*.orig.tar.*" ! -name '*.asc')
    [ -n "$archive" ] || { cd "$work/sources" && quietly apt-get -q source --download-only --tar-only "$1"; cd - >/dev/null; }
    archive=$(find "$work/sources" -name "$1_*.orig.tar.*" ! -name '*.asc')
    version=${archive##*_} version=${version%.orig.tar.*}
}

# build PACKAGE COMMAND: builds the programs of a suite once, with a shell command in $programs.
build() {
    fetch "$1"
    programs=$work/$1
    [ ! -e "$programs/gmon-built" ] || return 0
    echo "suites: building $1 $version" >&2
    rm -rf "$programs"
    mkdir -p "$programs"
    tar -x -f "$archive" -C "$programs" --strip-components 1
    (cd "$programs" && quietly sh -c "$2")
    [ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$programs"
    : >"$programs/gmon-built"
}

# In a suite, these hold: `way` is alone or run, `out` is an empty directory for its output, `user` is the command that
# changes the user, if root runs this script. The words of `user` and of lists have no blanks.

# each PARALLEL COMMAND NAME...: runs a shell command in $programs for each test. In the command, $0 is the name of the
# test, $OUT is the directory, and SLOT is 0, 1, ... among the tests that run at the same time.
each() {
    parallel=$1 command=$2
    shift 2
    names=$(printf '%s\n' "$@")
    set -- xargs -P "$parallel" -n 1 --process-slot-var=SLOT sh -c "$command"
    [ "$way" = alone ] || set -- "$gmon_run" -o "$out/gmon.run" "$@"
    (cd "$programs" && printf '%s\n' "$names" | OUT=$out HOME=$out $user "$@") >"$out/log" 2>&1 || true
}

# A suite is a function. It builds the programs and runs the tests whose names are its arguments, or all tests. It
# prints lines `OUTCOME NAME` or `OUTCOME NAME: TEST`: OUTCOME is ok, failed, or skipped, and NAME is the name by which
# the test is repeated.

suite_python() {
    build python3.11 './configure && make -j 2'
    [ $# != 0 ] || set -- test_os test_subprocess test_signal test_threading test_posix
    each 1 './python -m test --junit-xml "$OUT/$0.xml" "$0" >"$OUT/$0.log" 2>&1' "$@"
    "$programs/python" -c '
import pathlib, sys, xml.etree.ElementTree as tree
for file in pathlib.Path(sys.argv[1]).glob("*.xml"):
    for case in tree.parse(file).iter("testcase"):
        parts = {part.tag for part in case}
        outcome = "failed" if parts & {"failure", "error"} else "skipped" if "skipped" in parts else "ok"
        print(outcome, file.stem + ": " + case.get("name"))' "$out"
}

suite_python_root() {
    [ "$(id -u)" = 0 ] || { echo "suites: only root can run python_root" >&2; exit 2; }
    user=
    suite_python "$@"
}

suite_bash() {
    build bash './configure && make -j 2 && make recho zecho printenv xcase'
    [ $# != 0 ] || set -- $(cd "$programs/tests" && ls run-* | grep -v -x -E 'run-(all|minimal|gprof)|.*[~.].*')
    # The last command of each script compares the output. Some tests need a terminal, which `script` makes.
    each 1 'export THIS_SH="$PWD/bash" BUILD_DIR="$PWD" PATH="$PWD:.:$PATH" TMPDIR="$OUT/$0.tmp" && mkdir "$TMPDIR" && cd tests &&
        BASH_TSTOUT="$OUT/$0.out" script -q -e -c "sh ./$0 >$OUT/$0.log 2>&1" /dev/null && : >"$OUT/$0.passed"' "$@"
    for name; do
        outcome=failed && [ ! -e "$out/$name.passed" ] || outcome=ok
        echo "$outcome $name"
    done
}

suite_coreutils() {
    build coreutils 'FORCE_UNSAFE_CONFIGURE=1 ./configure && make -j 2'
    find "$programs" -name '*.trs' -exec rm {} +
    logs= && for name; do logs="$logs $name.log"; done
    export SELECTION="${logs:+TEST_LOGS=}${logs:-A=}"
    each 1 'make -j 2 -k check SUBDIRS=. "$SELECTION"' all
    (cd "$programs" && grep -r --include='*.trs' '^:test-result:' tests) |
        sed -E -e 's/^(.*)\.trs:.*: X?PASS.*/ok \1/' -e 's/^(.*)\.trs:.*: SKIP.*/skipped \1/' -e 's/^(.*)\.trs:.*:.*/failed \1/'
}

suite_git() {
    build git 'make -j 2 NO_CURL=1 NO_TCLTK=1'
    [ $# != 0 ] || set -- $(cd "$programs/t" && ls t0*.sh)
    each 2 'cd t && sh "./$0" --root="$OUT/$0.trash" >"$OUT/$0.tap" 2>"$OUT/$0.log"' "$@"
    for name; do
        # Some names contain the directory. `not ok ... # TODO` is a known fault of git.
        sed -n -E -e "s,$out,OUT,g" -e 's/^(not )?ok [0-9]+ (- )?(.*) # (TODO|skip).*/skipped '"$name"': \3/p' -e t \
            -e 's/^ok [0-9]+ - /ok '"$name"': /p' -e 's/^not ok [0-9]+ - /failed '"$name"': /p' "$out/$name.tap"
    done
}

suite_redis() {
    build redis 'make -j 2'
    [ $# != 0 ] || set -- unit/acl unit/aofrw unit/auth unit/bitops unit/dump unit/expire unit/functions unit/info \
        unit/introspection unit/introspection-2 unit/keyspace unit/latency-monitor unit/lazyfree unit/limits unit/memefficiency \
        unit/multi unit/networking unit/obuf-limits unit/oom-score-adj unit/other unit/protocol unit/pubsub unit/quit \
        unit/scan unit/scripting unit/shutdown unit/slowlog unit/sort unit/tracking unit/type/hash unit/type/incr unit/type/list \
        unit/type/list-2 unit/type/list-3 unit/type/set unit/type/stream unit/type/stream-cgroups unit/type/string unit/type/zset \
        integration/aof integration/aof-multi-part integration/logging integration/rdb integration/redis-benchmark \
        integration/redis-cli integration/shutdown
    # Two tests at a time need different ports and different directories.
    each 2 'mkdir -p "$OUT/$0" && cp -r tests runtest redis.conf "$OUT/$0" && ln -s "$PWD/src" "$OUT/$0/src" && cd "$OUT/$0" &&
        ./runtest --clients 1 --baseport $((21111 + SLOT * 4000)) --portcount 4000 --single "$0" >log 2>&1' "$@"
    for name; do
        sed -n -E -e 's/ \([0-9]+ ms\)$//' -e 's,^\[ok\]: ,ok '"$name"': ,p' -e 's,^\[err\]: (.*) in tests/.*,failed '"$name"': \1,p' \
            -e 's,^\[(ignore|skip)\]: ,skipped '"$name"': ,p' "$out/$name/log"
    done
}

# outcomes WAY [NAME...]: prints the outcomes of $suite, sorted by name. Tests of the same name get numbers.
outcomes() {
    way=$1 out=$work/output/$suite.$1 user=
    shift
    rm -rf "$out"
    mkdir -p "$out"
    [ "$(id -u)" != 0 ] || { user="setpriv --reuid=nobody --regid=nogroup --clear-groups" && chown nobody:nogroup "$out"; }
    "suite_$suite" "$@" >"$out/outcomes"
    [ "$way" = alone ] || [ -n "$(find "$out/gmon.run" -name '*.side' | head -n 1)" ] || { echo "suites: $suite left no profile" >&2; exit 2; }
    awk '{ outcome = $1; sub(/^[^ ]* /, ""); number = ++count[$0]; print $0 (number > 1 ? " (" number ")" : "") "\t" outcome }' \
        "$out/outcomes" | sort
}

# both [NAME...]: prints lines `NAME: TEST <tab> OUTCOME ALONE <tab> OUTCOME UNDER GMON-RUN`.
tab=$(printf '\t')
both() {
    outcomes alone "$@" >"$work/$suite.alone"
    outcomes run "$@" >"$work/$suite.run"
    join -t "$tab" -a 1 -a 2 -e missing -o 0,1.2,2.2 "$work/$suite.alone" "$work/$suite.run"
}

mkdir -p "$work"
status=0
for suite; do
    case $suite in
    python | python_root | bash | coreutils | git | redis) ;;
    *) echo "suites: there is no suite $suite" >&2; exit 2 ;;
    esac
    both >"$work/$suite.first"
    again=$(awk -F '\t' '$2 != $3 { sub(/: .*/, "", $1); print $1 }' "$work/$suite.first" | sort -u)
    : >"$work/$suite.second"
    [ -z "$again" ] || both $again >"$work/$suite.second"
    # The second outcomes count for those tests that differed.
    awk -F '\t' -v OFS='\t' 'FILENAME == ARGV[1] { second[$1] = $0; next } $2 != $3 && $1 in second { print second[$1]; next } { print }' \
        "$work/$suite.second" "$work/$suite.first" >"$work/$suite.both"
    awk -F '\t' -v suite="$suite $version" '
        $2 != "skipped" || $3 != "skipped" { tests++ }
        { alone += $2 == "ok"; run += $3 == "ok" }
        $2 != $3 { differ = differ "\n    " $1 ": " $2 " alone, " $3 " under gmon-run" }
        $2 == "ok" && $3 != "ok" { bad = 1 }
        END { if (!tests) { bad = 1 } printf "%s: %d tests, %d pass alone, %d pass under gmon-run%s\n", suite, tests, alone, run, differ; exit bad }
    ' "$work/$suite.both" || status=1
done
exit "$status"
