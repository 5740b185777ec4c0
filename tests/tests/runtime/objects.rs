//! The objects themselves: their exports, their requirements, and forbidden contents.

use std::collections::BTreeSet;
use std::path::Path;

use crate::disassembly::{functions, most_stack, reached_from};
use crate::support::{Program, library, root, tool};

fn path(file: &str) -> String {
    library().join(file).to_str().unwrap().to_owned()
}

/// The names that an object defines for others, and the names that it needs.
fn names(file: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut defined, mut needed) = (BTreeSet::new(), BTreeSet::new());
    for line in tool("nm", &[&path(file)]).lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            ["U", name] => needed.insert(name.to_owned()),
            [_, kind, name] if kind.chars().all(char::is_uppercase) => defined.insert(name.to_owned()),
            _ => false,
        };
    }
    (defined, needed)
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

const CONTROL: [&str; 14] = [
    "mcount",
    "_mcount",
    "__fentry__",
    "monstartup",
    "__monstartup",
    "moncontrol",
    "__moncontrol",
    "_mcleanup",
    "gmon_dump",
    "gmon_calls",
    "gmon_calls_loaded",
    "write_profiling",
    "__write_profiling",
    "gmon_kernel_profil",
];
const START: [&str; 30] = [
    "_start",
    "_exit",
    "_Exit",
    "daemon",
    "dlclose",
    "prctl",
    "syscall",
    "mlockall",
    "chroot",
    "unshare",
    "setns",
    "setrlimit",
    "setrlimit64",
    "prlimit",
    "prlimit64",
    "umask",
    "sigaltstack",
    "munmap",
    "sigaction",
    "signal",
    "bsd_signal",
    "ssignal",
    "sysv_signal",
    "__sysv_signal",
    "sigset",
    "sigprocmask",
    "pthread_sigmask",
    "_IO_stdin_used",
    "__data_start",
    "data_start",
];

/// Other systems' calls, in a separate member of libgmon.a.
const PROFIL: [&str; 7] = [
    "profil",
    "gmon_profil_bsd",
    "gmon_profil_openbsd",
    "gmon_profil_illumos",
    "gmon_pcsample",
    "gmon_profil_aix",
    "gmon_kernel_profil",
];

#[test]
fn only_the_public_names_are_global() {
    let control = set(&CONTROL);
    let start: BTreeSet<_> = control.union(&set(&START)).cloned().collect();
    let with_relocation: BTreeSet<_> = start.union(&set(&["_dl_relocate_static_pie"])).cloned().collect();
    assert_eq!(names("gcrt1.o").0, with_relocation);
    assert_eq!(names("grcrt1.o").0, start, "a static PIE relocates itself with the C library's code");
    assert_eq!(names("static-pie/gcrt1.o").0, start, "the object must exist under the name that clang looks for");
    assert_eq!(names("gmon.o").0, control.union(&set(&START[1..27])).cloned().collect(), "no entry point");
    assert_eq!(names("libgmon.a").0, control.union(&set(&PROFIL)).cloned().collect());
}

#[test]
fn the_objects_need_few_names_of_the_program_and_the_c_library() {
    let string_functions = set(&["memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"]);
    let needed = |file| names(file).1.difference(&string_functions).cloned().collect::<BTreeSet<_>>();
    let start = ["__ehdr_start", "__executable_start", "etext", "main", "__libc_start_main", "getauxval"];
    let late = ["environ", "program_invocation_name"];
    let ending =
        ["pthread_atfork", "at_quick_exit", "__cxa_atexit", "fork", "setsid", "chdir", "open", "dup2", "close"];
    let other = ["__errno_location", "dl_iterate_phdr"];
    let start = set(&[&start[..], &late, &ending, &other].concat());
    assert_eq!(needed("gcrt1.o"), start);
    assert_eq!(needed("gmon.o"), start);
    assert_eq!(needed("grcrt1.o"), start);
    // The calls of other systems need errno. Both members need the environment, a name for the file, and a fork hook.
    let calls = [
        "__ehdr_start",
        "__errno_location",
        "dl_iterate_phdr",
        "getauxval",
        "pthread_atfork",
        "environ",
        "program_invocation_name",
    ];
    assert_eq!(needed("libgmon.a"), set(&calls));
}

#[test]
fn the_objects_are_small_and_need_no_executable_stack() {
    for file in ["gcrt1.o", "grcrt1.o", "gmon.o", "libgmon.a"] {
        for member in tool("size", &[&path(file)]).lines().skip(1) {
            let sizes: Vec<u32> = member.split_whitespace().map_while(|size| size.parse().ok()).collect();
            let [text, data, bss, ..] = sizes[..] else { panic!("{member}") };
            // A sixth of the text is unwind tables. 32 KB of the rest walk stacks: the unwind tables of the loaded
            // objects, their evaluator, the tree of calling contexts, copies of stacks in the ring, copies of the
            // tables of later objects, both ends of deep stacks, and the ticks that a file gets. 6 KB count by thread:
            // the list of threads, the calls of ended threads, and the sums for the side file. 12 KB write side files,
            // live ones too. 2.7 KB replace a file of the run in one step, and the conversions in the prefix of its
            // name. 0.3 KB set the ticks of a thread behind its first one. 35.5 KB count calls on demand: they find
            // functions, their names and source files, change code under running threads, walk through thunks, and
            // write the intervals. 10 KB plan windows, add up what windows have seen, and estimate. 5 KB answer
            // `gprof --attach`: they check the files of a request, copy the profile into them, and give back what the
            // request switched on.
            assert!(text < 214_000, "{file}: {text} bytes of code and constants: {member}");
            // 64 KB are the rules of unwind tables that walks have found, 20 KB the stack of the thread that writes the
            // file, 8 KB the regions of thunks.
            let variables = data + bss;
            assert!(variables < 137_500, "{file}: {variables} bytes of variables: {member}");
        }
        let stack = tool("readelf", &["-SW", &path(file)])
            .lines()
            .find(|line| line.contains(".note.GNU-stack"))
            .map(str::to_owned);
        let stack = stack
            .unwrap_or_else(|| panic!("{file}: no .note.GNU-stack, so the linker would make the stack executable"));
        assert!(!stack.contains(" X "), "{file}: {stack}");
    }
}

#[test]
fn the_objects_cannot_panic() {
    for file in ["gcrt1.o", "grcrt1.o", "gmon.o", "libgmon.a"] {
        let symbols = tool("nm", &[&path(file)]);
        let panics: Vec<_> = symbols.lines().filter(|line| line.contains("panic")).collect();
        assert!(panics.is_empty(), "{file}: {panics:?}");
    }
}

#[test]
fn no_call_leaves_the_object_below_mcount_or_in_the_signal_handler() {
    let program = Program::compile("objects-calls", "control.c", &["-static"]);
    let functions = functions(&program.executable);
    let ours = tool("nm", &["--defined-only", &path("gcrt1.o")]);
    let ours: BTreeSet<_> = ours.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    let is_handler = |name: &str| name.contains("on_expiry");
    // mcount installs the handler, which runs with registers of its own.
    let mcount = reached_from(&functions, |name| ["mcount", "_mcount", "__fentry__"].contains(&name), is_handler);
    // A request of gprof --attach writes a profile, as the handlers of signals that end the program do: on a stack of
    // its own, and with the functions of the C library that copy memory.
    let is_request = |name: &str| name.contains("attach") && name.contains("on_stack");
    assert!(functions.keys().any(|name| is_request(name)), "the request has a stack of its own");
    let handler = reached_from(&functions, is_handler, is_request);
    // The walk reaches the slow path, the code that makes a thread's record, and the code that walks stacks.
    assert!(mcount.iter().any(|name| name.contains("threads4miss")), "{mcount:?}");
    assert!(mcount.iter().any(|name| name.contains("threads13record_or_new")), "{mcount:?}");
    assert!(handler.iter().any(|name| name.contains("tree")), "{handler:?}");
    for name in mcount.iter().chain(&handler) {
        assert!(ours.contains(name.as_str()), "{name} is reached but not defined in the object");
        // What the one writer does has run-time addresses: a tick that opens or closes a window takes the place of the
        // writer, and its work is on the writer's stack.
        let is_writer = name.contains("run_as_writer");
        // The function that changes the stack gets an address, which is taken in a function that is reached too.
        // The handler's entry jumps to a handler of the program that shares the signal.
        let is_one =
            ["call_on_stack", "pass_on_expiry", "writing_thread3run8on_stack"].iter().any(|of| name.contains(of));
        let expected = if is_writer { 2 } else { usize::from(is_one) };
        let indirect = &functions[name].indirect;
        assert_eq!(indirect.len(), expected, "{name}: unknown target of a call or jump: {indirect:?}");
    }
    for name in &mcount {
        assert!(functions[name].vector.is_empty(), "{name} uses vector registers: {:?}", functions[name].vector);
    }
}

/// Handlers run on alternate stacks of 2 KB, which also have the kernel's signal frame, and at the end of small stacks.
#[test]
#[cfg(target_arch = "x86_64")]
fn the_signal_handler_needs_little_stack_and_a_walk_less_than_its_own() {
    let program = Program::compile("objects-stack", "control.c", &["-static"]);
    let functions = functions(&program.executable);
    let walk = most_stack(&functions, |name| name.contains("contexts") && name.contains("on_stack"));
    println!("a walk needs {walk} bytes");
    assert!((500..4096).contains(&walk), "a walk needs {walk} bytes of 8 KB");
    let request = most_stack(&functions, |name| name.contains("attach") && name.contains("on_stack"));
    println!("a request needs {request} bytes");
    assert!((500..8192).contains(&request), "a request needs {request} bytes of 16 KB");
    let handler = most_stack(&functions, |name| name.contains("on_expiry"));
    println!("the handler needs {handler} bytes");
    assert!((100..700).contains(&handler), "the handler needs {handler} bytes");
}

/// The cost of a call depends on these.
#[test]
#[cfg(target_arch = "x86_64")]
fn the_common_path_of_mcount_is_one_cache_line() {
    let program = Program::compile("objects-line", "control.c", &[]);
    let disassembly = tool("objdump", &["-d", "--no-show-raw-insn", program.executable.to_str().unwrap()]);
    let is_mcount = |line: &&str| line.ends_with("<mcount>:") || line.ends_with("<_mcount>:");
    let mut lines = disassembly.lines().skip_while(|line| !is_mcount(line)).skip(1);
    let address = |line: &str| u64::from_str_radix(line.trim().split(':').next().unwrap(), 16).unwrap();
    let first = address(lines.clone().next().unwrap());
    let last =
        address(lines.find(|line| [Some("ret"), Some("retq")].contains(&line.split_whitespace().last())).unwrap());
    assert_eq!(first / 64, last / 64, "{first:#x} to {last:#x}");
}

#[test]
fn the_handler_of_profil_calls_only_the_handler_before_it() {
    let (include, library) = (library().join("../../include"), library());
    let (include, library) = (format!("-I{}", include.display()), format!("-L{}", library.display()));
    let flags = [&include, "-static", &library, "-lgmon"];
    let program = Program::compile_with("cc", "objects-profil", "profil/engine.c", &flags);
    let functions = functions(&program.executable);
    let ours = tool("nm", &["--defined-only", &path("libgmon.a")]);
    let ours: BTreeSet<_> = ours.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    let handler = reached_from(&functions, |name| name.contains("profil6engine9on_signal"), |_| false);
    // The walk reaches the place where a count is written.
    assert!(handler.iter().any(|name| name.contains("guarded5write")), "{handler:?}");
    for name in &handler {
        assert!(ours.contains(name.as_str()), "{name} is reached but not defined in the object");
        let indirect = &functions[name].indirect;
        let passes_on = usize::from(name.contains("on_signal"));
        assert_eq!(indirect.len(), passes_on, "{name}: unknown target of a call or jump: {indirect:?}");
    }
}

#[test]
fn the_list_of_public_names_is_the_one_the_linker_gets() {
    let listed = std::fs::read_to_string(Path::new(root()).join("runtime/exports.txt")).unwrap();
    let listed: BTreeSet<_> = listed.lines().map(str::to_owned).collect();
    assert_eq!(listed, names("gcrt1.o").0);
    let listed = std::fs::read_to_string(Path::new(root()).join("runtime/exports-profil.txt")).unwrap();
    assert_eq!(listed.lines().map(str::to_owned).collect::<BTreeSet<_>>(), set(&PROFIL));
}
