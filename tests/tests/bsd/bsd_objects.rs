//! Tests of FreeBSD's start-up objects: their exports, imports and notes, and programs that are linked with the objects
//! against the list of symbols in FreeBSD's C library. `tests/check/packages.sh` installs the tools.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::objects::{functions, has_tools, is_indirect, is_vector, output, reached_from, symbols_of_libc, tool};
use gmon_tests::{directory, distribution, start_objects_for};

/// An architecture, with the names that FreeBSD, compilers and zig use.
#[derive(Clone, Copy)]
struct Machine {
    name: &'static str,
    triple: &'static str,
    zig: &'static str,
}

const MACHINES: [Machine; 2] = [
    Machine { name: "amd64", triple: "x86_64-unknown-freebsd14", zig: "x86_64-freebsd" },
    Machine { name: "aarch64", triple: "aarch64-unknown-freebsd14", zig: "aarch64-freebsd" },
];

/// The replacements of libc's functions that make processes or execute programs.
const PROCESSES: [&str; 13] = [
    "fork", "pdfork", "rfork", "execve", "_execve", "fexecve", "execv", "execvp", "execvpe", "execvP", "execl",
    "execle", "execlp",
];

/// A program that needs all of the start-up code: constructors, destructors, `atexit`.
const PROGRAM: &str = "
int printf(const char *, ...);
int atexit(void (*)(void));
__attribute__((noinline)) int leaf(int number) { __asm__ volatile(\"\"); return number; }
__attribute__((constructor)) static void early(void) { leaf(1); }
__attribute__((destructor)) static void late(void) { leaf(2); }
static void at_exit(void) { leaf(3); }
static __thread int own;
int main(int argc, char **argv) {
    atexit(at_exit);
    own += leaf(argc);
    return printf(\"%s %d\\n\", argv[0], own) < 0;
}
";

/// Returns the start-up object of each architecture for which the object is built.
fn objects() -> Vec<(Machine, String)> {
    if !has_tools("FreeBSD's start-up objects") {
        return Vec::new();
    }
    let built = |machine: Machine| {
        let directory = start_objects_for(&format!("freebsd-{}", machine.name))?;
        Some((machine, directory.join("gcrt1.o").display().to_string()))
    };
    MACHINES.into_iter().filter_map(built).collect()
}

/// Returns the path of a shared library that has the symbols of FreeBSD's libc and no code.
fn libc(machine: Machine) -> Option<PathBuf> {
    symbols_of_libc(machine.zig, "libc.so.7")
}

/// The options to compile and link a program.
#[derive(Clone, Copy)]
struct Mode {
    name: &'static str,
    compiler: &'static str,
    linker: &'static [&'static str],
}

const MODES: [Mode; 2] = [
    Mode { name: "dynamic", compiler: "-fno-pie", linker: &[] },
    Mode { name: "pie", compiler: "-fPIE", linker: &["-pie"] },
];

/// Links the program against the libc of FreeBSD 14.
fn linked(machine: Machine, object: &str, mode: Mode) -> Option<PathBuf> {
    Some(linked_against(machine, object, mode, &[libc(machine)?]))
}

/// Links the program as FreeBSD's compiler does. Text relocations and symbols that the libraries lack are errors.
fn linked_against(machine: Machine, object: &str, mode: Mode, libraries: &[PathBuf]) -> PathBuf {
    let place = directory(&format!("bsd_linked_{}_{}_{:?}", machine.name, mode.name, std::thread::current().id()));
    let path = |name: &str| place.join(name).display().to_string();
    fs::write(place.join("p.c"), PROGRAM).unwrap();
    let target = format!("--target={}", machine.triple);
    tool("clang", &[&target, "-pg", "-O1", mode.compiler, "-c", &path("p.c"), "-o", &path("p.o")]);
    let start =
        ["-dynamic-linker", "/libexec/ld-elf.so.1", "--eh-frame-hdr", "-z", "text", "--no-allow-shlib-undefined"];
    let (output, input) = (path("p"), path("p.o"));
    let files = ["-o", &output, object, &input];
    let libraries: Vec<&str> = libraries.iter().map(|library| library.to_str().unwrap()).collect();
    tool("ld.lld", &[&start[..], mode.linker, &files, &libraries].concat());
    place.join("p")
}

/// Returns each program that can be linked on this machine, with the output of `llvm-readelf`.
fn programs() -> Vec<(Machine, Mode, PathBuf, String)> {
    let all = objects().into_iter().flat_map(|(machine, object)| MODES.map(|mode| (machine, object.clone(), mode)));
    let link = |(machine, object, mode): (Machine, String, Mode)| {
        let program = linked(machine, &object, mode)?;
        let says = tool("llvm-readelf", &["-h", "-l", "-d", "-n", "--dyn-symbols", program.to_str().unwrap()]);
        Some((machine, mode, program, says))
    };
    all.filter_map(link).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn only_the_public_names_are_global_and_little_is_needed() {
    let control = ["monstartup", "__monstartup", "moncontrol", "__moncontrol", "_mcleanup", "gmon_dump", "gmon_calls"];
    let more = ["write_profiling", "__write_profiling", ".mcount", "_mcount", "_start", "environ", "__progname"];
    let weak = ["_exit", "_Exit", "daemon", "dlclose"];
    let shared = ["gmon_kernel_profil", "gmon_handler_entries"];
    let text = ["memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"];
    let wanted = ["__ehdr_start", "__executable_start", "etext", "main", "__libc_start1", "__error", "dl_iterate_phdr"];
    let ending = ["atexit", "at_quick_exit", "setsid", "chdir", "open", "dup2", "close"];
    for (machine, object) in objects() {
        let (mut defined, mut needed, mut may_be) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for line in tool("llvm-nm", &[&object]).lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["U", name] => needed.insert(name.to_owned()),
                ["w", name] => may_be.insert(name.to_owned()),
                [_, kind, name] if kind.chars().all(char::is_uppercase) => defined.insert(name.to_owned()),
                _ => false,
            };
        }
        let fentry: &[&str] = if machine.name == "amd64" { &["__fentry__"] } else { &[] };
        let names = [&control[..], &more, &weak, &shared, &PROCESSES, fentry].concat();
        assert_eq!(defined, set(&names), "{}", machine.name);
        let needed: BTreeSet<_> = needed.difference(&set(&text)).cloned().collect();
        assert_eq!(needed, set(&[&wanted[..], &ending].concat()), "{}", machine.name);
        assert_eq!(may_be, set(&["__thr_fork", "_fini", "dlsym"]), "{}", machine.name);
    }
}

#[test]
fn the_library_has_no_start_up_code_and_cannot_panic() {
    let control = ["monstartup", "__monstartup", "moncontrol", "__moncontrol", "_mcleanup", "gmon_dump", "gmon_calls"];
    let more = ["write_profiling", "__write_profiling", ".mcount", "_mcount"];
    let text = ["memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"];
    let shared = ["gmon_kernel_profil", "gmon_handler_entries"];
    // FreeBSD's own `profil` is a system call.
    let profil = ["gmon_profil_bsd", "gmon_profil_openbsd", "gmon_profil_illumos", "gmon_pcsample", "gmon_profil_aix"];
    let wanted = ["__ehdr_start", "__error", "__progname", "environ", "getprogname", "pthread_atfork"];
    for (machine, object) in objects() {
        let library = Path::new(&object).with_file_name("libgmon.a").display().to_string();
        let header = tool("llvm-readelf", &["-h", &library]);
        assert!(header.contains("UNIX - FreeBSD"), "{}: {header}", machine.name);
        let symbols = tool("llvm-nm", &[&library]);
        assert!(!symbols.contains("panic"), "{}: {symbols}", machine.name);
        let (mut defined, mut needed) = (BTreeSet::new(), BTreeSet::new());
        for line in symbols.lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["U", name] => needed.insert(name.to_owned()),
                [_, kind, name] if kind.chars().all(char::is_uppercase) => defined.insert(name.to_owned()),
                _ => false,
            };
        }
        let fentry: &[&str] = if machine.name == "amd64" { &["__fentry__"] } else { &[] };
        let names = [&control[..], &more, &shared, &profil, &PROCESSES, fentry].concat();
        assert_eq!(defined, set(&names), "{}", machine.name);
        let needed: BTreeSet<_> = needed.difference(&set(&text)).cloned().collect();
        assert_eq!(needed, set(&wanted), "{}", machine.name);
    }
}

#[test]
fn they_are_freebsds_small_and_cannot_panic() {
    for (machine, object) in objects() {
        let header = tool("llvm-readelf", &["-h", "-S", "-W", &object]);
        assert!(header.contains("UNIX - FreeBSD"), "{}: {header}", machine.name);
        let stack = header.lines().find(|line| line.contains(".note.GNU-stack")).expect("a note of the stack");
        assert!(!stack.contains(" X "), "{stack}");
        let text = header.lines().find(|line| line.contains(" .text ")).expect("code");
        let size = text.split_whitespace().skip_while(|word| *word != "PROGBITS").nth(3).unwrap();
        let size = u64::from_str_radix(size, 16).unwrap();
        // 2 KB of the code make the live side file, and 2 KB replace a file of the run in one step and the conversions
        // in its prefix. 1 KB refuses to count calls on demand, and 1 KB reads shares and refuses windows.
        assert!(size < 77_000, "{}: {size} bytes of code", machine.name);
        let symbols = tool("llvm-nm", &[&object]);
        let panics: Vec<_> = symbols.lines().filter(|line| line.contains("panic")).collect();
        assert!(panics.is_empty(), "{}: {panics:?}", machine.name);
    }
}

#[test]
fn programs_link_against_the_systems_libc_and_have_its_notes() {
    for (machine, mode, _, says) in programs() {
        let context = format!("{} {}: {says}", machine.name, mode.name);
        assert!(says.contains("UNIX - FreeBSD"), "{context}");
        let kind = if mode.name == "pie" { "DYN (" } else { "EXEC (" };
        assert!(says.contains(kind), "{context}");
        for note in ["NT_FREEBSD_ABI_TAG", "NT_FREEBSD_NOINIT_TAG", "NT_FREEBSD_FEATURE_CTL"] {
            assert_eq!(says.matches(note).count(), 1, "{note}: {context}");
        }
        assert!(!says.contains("TEXTREL"), "{context}");
        // The dynamic linker runs the functions of this array before the constructors.
        assert!(says.contains("(PREINIT_ARRAY)"), "{context}");
        // Symbols that libc and the dynamic linker look up in the program, and replacements of libc's functions.
        for name in ["environ", "__progname", "fork", "pdfork", "rfork", "execvp", "execl", "dlclose", "_exit"] {
            let is_here = says.lines().any(|line| line.ends_with(&format!(" {name}")) && !line.contains(" UND "));
            assert!(is_here, "{name} is not in the dynamic symbols: {context}");
        }
        let start = says.lines().find(|line| line.contains(" __libc_start1"));
        assert!(start.is_some_and(|line| line.contains(" UND ")), "{context}");
    }
}

#[test]
fn programs_link_against_the_libraries_of_freebsd_15() {
    for (machine, object) in objects() {
        let Some(libc) = symbols_of_libc(&format!("{}.15.0", machine.zig), "libc.so.7") else { return };
        // FreeBSD 15 moved the system calls from libc to libsys.
        let libraries = [libc.with_file_name("libsys.so.7"), libc];
        let program = linked_against(machine, &object, MODES[1], &libraries);
        let says = tool("llvm-readelf", &["-d", "--dyn-symbols", program.to_str().unwrap()]);
        assert!(says.contains("[libc.so.7]") && says.contains("[libsys.so.7]") && !says.contains("TEXTREL"), "{says}");
        assert!(says.lines().any(|line| line.contains(" UND __libc_start1@FBSD_1.7")), "{says}");
    }
}

/// A directory like the root of FreeBSD, for clang's `--sysroot`: libc as a list of symbols, and empty files in the
/// place of other libraries and of compilers' objects.
fn system_root(machine: Machine, place: &Path) -> Option<PathBuf> {
    let libc = libc(machine)?;
    let root = place.join("a root");
    let library = root.join("usr/lib");
    fs::create_dir_all(&library).unwrap();
    let path = |name: &str| library.join(name).display().to_string();
    fs::write(place.join("empty.c"), "").unwrap();
    let (target, empty) = (format!("--target={}", machine.triple), place.join("empty.c"));
    for object in ["crti.o", "crtn.o", "crtbegin.o", "crtend.o", "crtbeginS.o", "crtendS.o"] {
        tool("clang", &[&target, "-c", empty.to_str().unwrap(), "-o", &path(object)]);
    }
    for archive in ["libgcc.a", "libgcc_s.a"] {
        tool("llvm-ar", &["rc", &path(archive)]);
    }
    fs::copy(libc, path("libc.so")).unwrap();
    Some(root)
}

#[test]
fn the_wrapper_and_pkg_config_build_programs() {
    for (machine, object) in objects() {
        let place = directory(&format!("bsd_wrapper_{}", machine.name));
        let Some(root) = system_root(machine, &place) else { return };
        gmon_tests::make("tools").unwrap();
        fs::write(place.join("p.c"), format!("#include <gmon.h>\n{PROGRAM}")).unwrap();
        // $CC is split at blanks.
        symlink(&root, place.join("root")).unwrap();
        let compiler = format!("clang --target={} --sysroot=root", machine.triple);
        let script = "set -e; \"$1/bin/gmon-cc\" -O1 -c p.c; \"$1/bin/gmon-cc\" p.o -fuse-ld=lld -o dynamic
            \"$1/bin/gmon-cc\" -O1 -fPIE -pie p.c -fuse-ld=lld -o pie
            export PKG_CONFIG_PATH=\"${2%/*}/pkgconfig\"
            ! pkg-config --version >/dev/null || eval $CC $(pkg-config --cflags --libs gmon) p.c -fuse-ld=lld -o packaged";
        let output = Command::new("sh")
            .args(["-c", script, "sh", distribution().to_str().unwrap(), &object])
            .current_dir(&place)
            .env("CC", compiler)
            .output()
            .unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let programs = ["dynamic", "pie", "packaged"].map(|name| place.join(name));
        assert!(programs[0].exists() && programs[1].exists());
        for program in programs.iter().filter(|program| program.exists()) {
            let says = tool("llvm-readelf", &["-h", "-n", "--symbols", program.to_str().unwrap()]);
            assert!(says.contains("UNIX - FreeBSD") && says.contains("NT_FREEBSD_NOINIT_TAG"), "{says}");
            assert!(says.lines().any(|line| line.ends_with(" .mcount") && !line.contains(" UND ")), "{says}");
        }
    }
}

#[test]
fn the_linker_says_what_older_systems_lack() {
    for (machine, object) in objects() {
        let place = directory(&format!("bsd_older_{}", machine.name));
        let image = place.join("p").display().to_string();
        let refused = output("ld.lld", &["-o", &image, &object]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("undefined symbol: __libc_start1"), "{said}");
    }
}

#[test]
fn below_mcount_is_no_vector_register_and_no_call_out() {
    for (machine, mode, program, _) in programs() {
        let functions = functions(&program);
        // The function has several names, and the disassembler prints one of the names.
        let mcount = [".mcount", "_mcount", "mcount"].into_iter().find(|name| functions.contains_key(*name)).unwrap();
        let reached = reached_from(&functions, mcount);
        let context = format!("{} {}", machine.name, mode.name);
        assert!(reached.iter().any(|name| name.contains("threads4miss")), "{context}: {reached:?}");
        assert_eq!(functions[mcount].address % 64, 0, "{context}: a line of the cache");
        for name in &reached {
            let function = &functions[name];
            let is_ours = name.contains("gmon_runtime") || name == mcount;
            assert!(is_ours, "{context}: {name} is reached, and not ours");
            let vector: Vec<_> = function.lines.iter().filter(|line| is_vector(line)).collect();
            assert!(vector.is_empty(), "{context}: {name} uses vector registers: {vector:?}");
            let indirect: Vec<_> = function.lines.iter().filter(|line| is_indirect(line)).collect();
            assert!(indirect.is_empty(), "{context}: {name}: where to? {indirect:?}");
        }
    }
}

#[test]
fn the_common_path_of_mcount_is_one_line_of_the_cache() {
    for (machine, _, program, _) in programs().into_iter().filter(|(machine, ..)| machine.name == "amd64") {
        let functions = functions(&program);
        let mcount = [".mcount", "_mcount", "mcount"].into_iter().find_map(|name| functions.get(name)).unwrap();
        let at = |line: &str| u64::from_str_radix(line.split(':').next().unwrap().trim(), 16).unwrap();
        let returns = mcount.lines.iter().find(|line| line.contains("ret")).expect("it returns");
        assert!(at(returns) - mcount.address < 64, "{}: {returns}", machine.name);
    }
}

/// Checks the code for the contracts of the kernel and libc on arm64, where no test runs programs.
#[test]
fn on_arm64_the_entry_and_system_calls_keep_to_the_kernels_conventions() {
    for (_, mode, program, _) in programs().into_iter().filter(|(machine, ..)| machine.name == "aarch64") {
        let functions = functions(&program);
        let start = functions["_start"].lines.join("\n");
        let order =
            ["str\tx2,", "mov\tx3, x2", "add\tx1, x0, #8", "ldr\tx0, [x0]", "add\tx2, x1, x0, lsl #3", "\tbl\t"];
        let mut rest = start.as_str();
        for step in order {
            let (_, behind) = rest.split_once(step).unwrap_or_else(|| panic!("{}: no {step:?} in {start}", mode.name));
            rest = behind;
        }
        assert!(functions["_start"].names.iter().any(|name| name.starts_with("__libc_start1")), "{start}");
        let lines: Vec<_> = functions.values().flat_map(|function| &function.lines).collect();
        let calls: Vec<_> = (0..lines.len()).filter(|at| lines[*at].contains("\tsvc\t#0")).collect();
        assert!(!calls.is_empty(), "there are system calls");
        for at in calls {
            // The carry flag marks an error, so the first instruction after svc must test the flag.
            let next = lines[at + 1];
            assert!(next.contains("b.lo") || next.contains("b.cc"), "{}: {next} follows svc", mode.name);
        }
    }
}
