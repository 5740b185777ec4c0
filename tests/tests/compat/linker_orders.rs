//! `--order`: linkers and llvm-bolt read the orders, and place the functions of a program as the orders say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::{gprof, read, run, start_objects};

/// The functions of `order.c` that run: each after the function that calls it most.
const ORDER: [&str; 5] = ["main", "top", "middle", "leaf", "rare"];
/// Debian's name of llvm-bolt.
const BOLT: &str = "llvm-bolt-16";
/// The functions that do not run.
const UNUSED: [&str; 3] = ["never", "unused", "cold"];

/// Returns whether the machine has a tool. Prints SKIPPED if not.
fn is_here(tool: &str) -> bool {
    let is_here = Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_here {
        eprintln!("SKIPPED: orders for linkers: cannot find {tool}");
    }
    is_here
}

/// `order.c`, its profile, and its order for one reader.
struct Ordered {
    image: PathBuf,
    directory: PathBuf,
}

impl Ordered {
    fn new(reader: &str) -> Ordered {
        let ordered = Ordered::without_order(reader);
        fs::write(ordered.directory.join("order"), ordered.order(reader)).unwrap();
        ordered
    }

    fn without_order(test: &str) -> Ordered {
        let directory = gmon_tests::directory(&format!("linker_orders_{test}"));
        let ordered = Ordered { image: directory.join("prog"), directory };
        ordered.link("prog", &[]);
        assert!(!is_ordered(&ordered.functions("prog")), "without an order, the functions lie otherwise");
        let _ = run(&ordered.image);
        ordered
    }

    /// Compiles and links the program.
    fn link(&self, output: &str, flags: &[&str]) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/order.c");
        // At -O1, gcc leaves main in the section that -ffunction-sections gives to each other function.
        let mut compiler = Command::new("gcc");
        compiler.args(["-O1", "-pg", "-ffunction-sections", "-B"]).arg(start_objects()).arg(source).args(flags);
        let status = compiler.args(["-o", output]).current_dir(&self.directory).status().unwrap();
        assert!(status.success(), "{flags:?}");
    }

    fn order(&self, reader: &str) -> String {
        let output = read(gprof(), &self.directory, &[&format!("--order={reader}"), "prog", "gmon.out"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The functions of `order.c` in the order of their addresses.
    fn functions(&self, image: &str) -> Vec<String> {
        let output = Command::new("nm").arg("-n").arg(self.directory.join(image)).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split(' ').next_back()).map(str::to_owned);
        names.filter(|name| ORDER.contains(&name.as_str()) || UNUSED.contains(&name.as_str())).collect()
    }

    /// Links the program, and checks the result.
    fn check_linked(&self, output: &str, flags: &[&str]) {
        self.link(output, flags);
        self.check(output);
    }

    /// The functions that run must be neighbors, in the order.
    fn check(&self, image: &str) {
        let functions = self.functions(image);
        assert_eq!(functions.len(), ORDER.len() + UNUSED.len(), "{functions:?}");
        assert!(is_ordered(&functions), "{image}: {functions:?}");
        let status = Command::new(self.directory.join(image)).current_dir(&self.directory).output().unwrap();
        assert!(status.status.success(), "{image} does not run");
    }
}

/// Returns whether the functions that run are neighbors, in the order.
fn is_ordered(functions: &[String]) -> bool {
    functions.windows(ORDER.len()).any(|window| *window == ORDER)
}

#[test]
fn lld_places_functions_by_calls_and_by_symbols() {
    if !is_here("ld.lld") {
        return;
    }
    let program = Ordered::new("lld-callgraph");
    let calls = fs::read_to_string(program.directory.join("order")).unwrap();
    assert_eq!(calls, "middle leaf 100000\ntop middle 1000\ntop rare 1\nmain top 1\n");
    program
        .check_linked("by_calls", &["-fuse-ld=lld", "-Wl,--call-graph-ordering-file=order,--print-symbol-order=lld"]);
    let theirs = fs::read_to_string(program.directory.join("lld")).unwrap();
    assert_eq!(theirs.lines().collect::<Vec<_>>(), ORDER, "lld's own clusters are ours");
    let program = Ordered::new("symbols");
    program.check_linked("by_symbols", &["-fuse-ld=lld", "-Wl,--symbol-ordering-file=order,--fatal-warnings"]);
}

#[test]
fn gold_places_sections() {
    if !is_here("ld.gold") {
        return;
    }
    let program = Ordered::new("gold");
    program.check_linked("ordered", &["-fuse-ld=gold", "-Wl,--section-ordering-file=order"]);
}

#[test]
fn gnu_ld_reads_the_part_of_a_script() {
    if !is_here("ld.bfd") {
        return;
    }
    let program = Ordered::new("ld");
    // Every version takes the same lines as a script.
    let order = fs::read_to_string(program.directory.join("order")).unwrap();
    fs::write(program.directory.join("script"), format!("SECTIONS {{\n{order}}} INSERT BEFORE .fini;\n")).unwrap();
    program.check_linked("by_script", &["-fuse-ld=bfd", "-Wl,-T,script"]);
    let help = Command::new("ld.bfd").arg("--help").output().unwrap();
    if String::from_utf8_lossy(&help.stdout).contains("--section-ordering-file") {
        program.check_linked("ordered", &["-fuse-ld=bfd", "-Wl,--section-ordering-file=order"]);
    } else {
        eprintln!("SKIPPED: --section-ordering-file of GNU ld: this ld is older than 2.43");
    }
}

#[test]
fn bolt_places_functions() {
    if !is_here(BOLT) {
        return;
    }
    let program = Ordered::new("bolt");
    program.link("linked", &["-Wl,--emit-relocs"]);
    let mut command = Command::new(BOLT);
    command.args(["linked", "-o", "ordered", "--reorder-functions=user", "--function-order=order"]);
    let output = command.current_dir(&program.directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program.check("ordered");
}

#[test]
fn an_order_needs_calls_and_a_known_reader() {
    let program = Ordered::without_order("usage");
    let fails = |words: &[&str], message: &str| {
        let output = read(gprof(), &program.directory, words);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(message), "{words:?}: {text}");
    };
    fails(&["--order=linker", "prog", "gmon.out"], "(lld-callgraph, symbols, gold, ld, bolt)");
    fails(&["--order=ld", "--compat=gnu", "prog", "gmon.out"], "'--order' and '--compat=gnu' cannot be used together");
    fails(
        &["--order=ld", "--format=json", "prog", "gmon.out"],
        "'--format=json' and '--order' cannot be used together",
    );
    fails(&["--order=ld", "--line", "prog", "gmon.out"], "'--order' and '--line' cannot be used together");
}
