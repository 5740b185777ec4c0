//! The programs, and the work that they do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gmon_tests::crate_of;

use super::servers;

/// A program with its work.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The programs that the work needs, the program first.
    pub(crate) needs: &'static [&'static str],
    /// The name of the processes that do the work.
    process: &'static str,
    /// What prints the version.
    version: &'static str,
    /// Options of `gmon-run`.
    options: &'static [&'static str],
    /// A script that makes what the work needs, without gmon-run.
    before: String,
    work: Work,
}

/// The work of a program.
pub(crate) enum Work {
    /// A script, in a directory of its own.
    Script(String),
    /// A server, and what sends it requests.
    Server { script: String, port: u16, clients: fn(port: u16) },
}

impl Program {
    /// A program whose processes have its name, and whose work is a script.
    fn new(name: &'static str, version: &'static str, script: &str) -> Program {
        Program {
            name,
            needs: &[],
            process: name,
            version,
            options: &[],
            before: String::new(),
            work: Work::Script(script.to_owned()),
        }
    }

    /// Runs the program with `gmon-run`. Returns the profiles of its processes.
    pub(crate) fn run(&self, directory: &Path, rate: u32) -> Vec<PathBuf> {
        let place = directory.join(self.name.replace([' ', ':', '+'], "-"));
        let profiles = place.join("profiles");
        fs::create_dir_all(&place).unwrap();
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).current_dir(&place).stdout(Stdio::null());
            command
        };
        if !place.join("ready").exists() {
            let status = shell(&self.before).stderr(Stdio::null()).status().unwrap();
            assert!(status.success(), "{}: {}", self.name, self.before);
            fs::write(place.join("ready"), "").unwrap();
        }
        let (Work::Script(script) | Work::Server { script, .. }) = &self.work;
        let mut command = Command::new(gmon_tests::gmon_run());
        command.args([format!("--hz={rate}"), "-o".to_owned(), profiles.display().to_string()]).args(self.options);
        command.args(["sh", "-c", script]).current_dir(&place).stdout(Stdio::null());
        command.env("GMON_RUN_LIBRARY", gmon_tests::start_objects().join("libgmon-run.so"));
        let mut run = command.spawn().unwrap();
        if let Work::Server { port, clients, .. } = self.work {
            servers::wait_for(port);
            clients(port);
            let end = format!("kill -TERM {}", run.id());
            assert!(shell(&end).status().unwrap().success());
        }
        let status = run.wait().unwrap();
        assert!(status.success(), "{}: {status}", self.name);
        let all = fs::read_dir(&profiles).unwrap().map(|entry| entry.unwrap().path());
        let is_of = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with(&format!("{}.", self.process)) && !name.ends_with(".side")
        };
        let found: Vec<_> = all.filter(is_of).collect();
        assert!(!found.is_empty(), "{}: no profile of {}", self.name, self.process);
        found
    }

    /// The version of the program.
    pub(crate) fn version(&self) -> String {
        let output = Command::new("sh").args(["-c", self.version]).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let numbers = text.split(|c: char| c.is_whitespace() || c == '/' || c == '=' || c == ',');
        let mut numbers = numbers.map(|word| word.trim_start_matches(['v', '(', '"']).trim_start_matches("go"));
        let is_version = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
        let version = numbers.find(is_version).unwrap_or_default();
        version.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default().to_owned()
    }
}

/// All programs, in the order of the table.
pub(crate) fn all(directory: &Path) -> Vec<Program> {
    let lua = crate_of("lua-src").join("lua-5.4.8");
    let sqlite = crate_of("libsqlite3-sys").join("sqlite3/sqlite3.c");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let compile =
        |compiler: &str| format!("for f in {}/l*.c; do {compiler} -O2 -w -c -o part.o $f; done", lua.display());
    let (cc, clang) = (compile("cc"), compile("clang"));
    let clone = format!("git clone -q --no-hardlinks --single-branch {} clone", repository.display());
    let lines = "seq 1 1500000 | awk '{ printf \"%d %x\\n\", ($1 * 7919) % 1500007, $1 }' >lines".to_owned();
    fs::write(directory.join("Sums.java"), JAVA).unwrap();
    fs::write(directory.join("work.js"), NODE).unwrap();
    fs::write(directory.join("work.go"), GO).unwrap();
    fs::write(directory.join("work.py"), PYTHON).unwrap();
    let java = || Program {
        needs: &["java", "javac"],
        process: "java",
        version: "java --version",
        before: "javac -d . ../Sums.java".to_owned(),
        ..Program::new("java", "", "java Sums; true")
    };
    let script = |text: &str| Work::Script(text.to_owned());
    vec![
        Program { needs: &["bash"], ..Program::new("bash", "bash --version", BASH) },
        Program { needs: &["git"], before: clone, ..Program::new("git", "git --version", GIT) },
        Program {
            needs: &["python3"],
            process: "python3",
            ..Program::new("python3", "python3 --version", "python3 ../work.py")
        },
        Program { needs: &["perl"], ..Program::new("perl", "perl -e 'print \"$^V\\n\"' | tr -d v", PERL) },
        Program { needs: &["sqlite3"], ..Program::new("sqlite3", "sqlite3 --version", SQLITE) },
        Program { needs: &["cc"], ..Program::new("cc1", "cc -dumpfullversion", &cc) },
        Program { needs: &["clang"], ..Program::new("clang", "clang --version", &clang) },
        Program {
            needs: &["xz"],
            process: "xz",
            before: format!("tar -cf archive {} {}", lua.display(), sqlite.display()),
            ..Program::new("xz -T2", "xz --version", "xz -T2 -k -c --block-size=1MiB archive")
        },
        Program {
            needs: &["sort"],
            before: lines,
            ..Program::new("sort", "sort --version", "LC_ALL=C.UTF-8 sort lines")
        },
        servers::nginx(),
        servers::redis(),
        Program {
            needs: &["go", "cc"],
            process: "work",
            options: &["--live"],
            before: "GOCACHE=$PWD/cache GO111MODULE=off go build -o work ../work.go".to_owned(),
            ..Program::new("cgo", "go version", "./work")
        },
        java(),
        Program {
            name: "java -XX:+PreserveFramePointer",
            work: script("java -XX:+PreserveFramePointer Sums"),
            ..java()
        },
        Program {
            needs: &["node"],
            process: "node",
            ..Program::new(
                "node --perf-basic-prof",
                "node --version",
                "node --perf-basic-prof ../work.js; rm -f /tmp/perf-$(cat process).map",
            )
        },
    ]
}

impl Program {
    /// A server. `before` makes what the server needs.
    pub(crate) fn server(
        name: &'static str,
        needs: &'static [&'static str],
        version: &'static str,
        before: String,
        work: Work,
    ) -> Program {
        Program { needs, before, work, ..Program::new(name, version, "") }
    }
}

const BASH: &str = "exec bash -c 'work() { local n=$1 s=; ((n == 0)) || { s=$(($1 * 7)); work $((n - 1)); }; }
    for ((i = 0; i < 12000; i++)); do work 8; text=\"${text:0:50}$i\"; [[ $text == *77 ]] && list+=($i); done; true'";

const GIT: &str = "cd clone && git log --stat -n 300 >/dev/null && git fsck >/dev/null && git gc -q --prune=now";

const PERL: &str = "exec perl -e 'sub f { my $n = shift; $n < 2 ? $n : f($n - 1) + f($n - 2) } f(24);
    my %h; for my $i (1 .. 900000) { $h{$i % 1000} .= chr(65 + $i % 26); $n++ if \"k$i\" =~ /^k(1+)(.*)7$/ }
    @s = sort { $a <=> $b } map { ($_ * 7919) % 100003 } 1 .. 300000; print scalar(@s), $n'";

const SQLITE: &str = "exec sqlite3 :memory: \"CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 700000)
    INSERT INTO t SELECT i, (i * 7919) % 100003, hex(i) FROM n; CREATE INDEX x ON t(b, c);
    SELECT count(*), sum(length(c)) FROM t AS l WHERE b IN (SELECT b FROM t WHERE a % 3 = 0);
    SELECT c FROM t ORDER BY c DESC LIMIT 3;\"";

const PYTHON: &str = "import json, re, hashlib
class Node:
    def __init__(self, value): self.value, self.children = value, []
def tree(depth):
    node = Node(depth)
    if depth: node.children = [tree(depth - 1) for _ in range(3)]
    return node
def total(node): return node.value + sum(total(child) for child in node.children)
for turn in range(6):
    total(tree(9))
    text = json.dumps([{'key': str(i), 'list': list(range(i % 10))} for i in range(40000)])
    json.loads(text)
    re.sub(r'([0-9]+), ([0-9]+)', r'\\2 \\1', text)
    sorted(range(200000), key=lambda i: i * 7919 % 100003)
    hashlib.sha256(text.encode()).hexdigest()
";

const JAVA: &str = "import java.util.*;
class Sums {
    interface Shape { double area(); }
    record Square(double side) implements Shape { public double area() { return side * side; } }
    record Circle(double radius) implements Shape { public double area() { return radius * radius * 3; } }
    static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
    public static void main(String[] words) {
        double sum = 0;
        for (int turn = 0; turn < 40; turn++) {
            List<Shape> shapes = new ArrayList<>();
            Map<String, Integer> map = new HashMap<>();
            for (int i = 0; i < 150000; i++) {
                shapes.add(i % 2 == 0 ? new Square(i) : new Circle(i));
                map.merge(\"k\" + i % 1000, i, Integer::sum);
            }
            shapes.sort(Comparator.comparingDouble(Shape::area));
            for (Shape shape : shapes) sum += shape.area();
            sum += map.size() + depth(100);
        }
        System.out.println(sum);
    }
}
";

const NODE: &str = "require('fs').writeFileSync('process', String(process.pid));
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let all = 0;
for (let turn = 0; turn < 25; turn++) {
    all += fib(27);
    const list = Array.from({ length: 100000 }, (_, i) => ({ key: 'k' + i % 1000, value: i * 7919 % 100003 }));
    list.sort((a, b) => a.value - b.value);
    const map = new Map();
    for (const { key, value } of list) map.set(key, (map.get(key) || 0) + value);
    all += JSON.parse(JSON.stringify([...map])).length + 'aab'.repeat(30000).replace(/a(a)b/g, '$1').length;
}
console.log(all);
";

const GO: &str = "package main

/*
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static long work(int turns) {
    long sum = 0;
    static int list[20000];
    for (int turn = 0; turn < turns; turn++) {
        for (int i = 0; i < 20000; i++) list[i] = (int)((i * 7919L + turn) % 100003);
        qsort(list, 20000, sizeof *list, compare);
        sum += list[turn % 20000];
    }
    return sum;
}
*/
import \"C\"

import (
	\"fmt\"
	\"sort\"
	\"strings\"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func inGo(turn int) int {
	words := strings.Fields(strings.Repeat(\"one two three four \", 3000))
	sort.Strings(words)
	counts := map[string]int{}
	for i, word := range words {
		counts[fmt.Sprint(word, i%100)]++
	}
	return fib(26) + len(counts) + turn
}

func main() {
	sum, done := 0, make(chan int)
	for turn := 0; turn < 100; turn++ {
		go func() { done <- inGo(turn) }()
		sum += int(C.work(8)) + <-done
	}
	fmt.Println(sum)
}
";
