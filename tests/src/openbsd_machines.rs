//! OpenBSD's start-up object of each architecture, and a static program that is linked with the object. libc consists
//! of functions that only return, so such programs are taken apart and not run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::objects::{Function, has_tools, tool};

/// The oldest version of lld that makes the segment PT_OPENBSD_SYSCALLS.
const OLDEST_LINKER: u32 = 19;

/// Returns a linker that makes the segment PT_OPENBSD_SYSCALLS: the system's lld, or else the lld that comes with Rust.
/// `None` if both are missing or too old.
#[must_use]
pub fn openbsd_linker() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let printed = |program: &Path, option: &[&str]| {
        let output = Command::new(program).args(option).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let is_new_enough = |linker: &PathBuf| {
        let version = printed(linker, &["--version"]).unwrap_or_default();
        let number = version.split_once("LLD ").and_then(|(_, version)| version.split('.').next()?.parse().ok());
        number.is_some_and(|number: u32| number >= OLDEST_LINKER)
    };
    let found = FOUND.get_or_init(|| {
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let rusts = printed(Path::new(&compiler), &["--print", "sysroot"])
            .map(|root| Path::new(&root).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/ld.lld"));
        [Some("ld.lld".into()), rusts].into_iter().flatten().find(is_new_enough)
    });
    found.as_deref()
}

/// An architecture, with the names that make, compilers and zig use, and its instructions for OpenBSD's requirements.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The name of the directory with the objects.
    pub name: &'static str,
    /// The target of clang.
    pub triple: &'static str,
    /// The target of zig.
    pub zig: &'static str,
    /// The instruction that makes system calls, as the disassembler prints the instruction without operands.
    pub system_call: &'static str,
    /// The instruction that must be the first of functions that are called by their addresses.
    pub landing: &'static str,
}

/// The architectures that have start-up objects.
pub const MACHINES: [Machine; 2] = [
    Machine {
        name: "amd64",
        triple: "x86_64-unknown-openbsd7.8",
        zig: "x86_64-openbsd",
        system_call: "syscall",
        landing: "\tendbr64",
    },
    Machine {
        name: "aarch64",
        triple: "aarch64-unknown-openbsd7.8",
        zig: "aarch64-openbsd",
        system_call: "svc",
        // `bti c`, as disassemblers print the instruction for processors that do not know it.
        landing: "\thint\t#34",
    },
];

/// A program with constructors, destructors, and an entry of `.preinit_array`, which is libc's on OpenBSD.
pub const PROGRAM: &str = "
int atexit(void (*)(void));
static void initialize(void) { }
__attribute__((section(\".preinit_array\"), used)) static void (*initializer)(void) = initialize;
__attribute__((noinline)) int leaf(int number) { __asm__ volatile(\"\"); return number; }
__attribute__((constructor)) static void early(void) { leaf(1); }
__attribute__((destructor)) static void late(void) { leaf(2); }
static void at_exit(void) { leaf(3); }
int main(int argc, char **argv) { atexit(at_exit); return leaf(argc) < 0 || !argv; }
";

/// The functions that the object needs from libc.
const LIBC: [&str; 10] = [
    "__errno",
    "__progname",
    "_csu_finish",
    "_thread_atfork",
    "atexit",
    "exit",
    "memcmp",
    "memcpy",
    "memset",
    "strlen",
];

/// An object, and a program that is linked with the object.
#[derive(Debug)]
pub struct Built {
    /// The architecture.
    pub machine: Machine,
    /// The path of `gcrt0.o`.
    pub object: String,
    /// The path of the program.
    pub program: PathBuf,
}

/// A relocation of the object.
#[derive(Debug)]
pub struct Relocation {
    /// The section that has the relocation.
    pub section: String,
    /// The kind of the relocation, with the prefix `R_`.
    pub kind: String,
    /// The name of a function or another symbol, or of the section that has the data.
    pub target: String,
}

impl Machine {
    /// Returns the path of a file in the directory with the objects. Prints SKIPPED if the file is not built.
    #[must_use]
    pub fn file(self, name: &str) -> Option<PathBuf> {
        let file = crate::distribution().join(format!("lib/gmon/openbsd-{}/{name}", self.name));
        if !file.exists() {
            eprintln!("SKIPPED: {} is not built: make runtime-openbsd-{}", file.display(), self.name);
        }
        file.exists().then_some(file)
    }

    /// Makes objects in a directory: libc as `libc.o`, and `crtbegin.o`.
    ///
    /// # Panics
    ///
    /// If clang fails.
    pub fn make_libc(self, place: &Path) {
        let path = |name: &str| place.join(name).display().to_string();
        let functions = LIBC.map(|name| format!(".globl {name}\n{name}: ret\n")).concat();
        fs::write(place.join("libc.s"), functions).expect("a file in the test's directory");
        self.compile(&path("libc.s"), &path("libc.o"), &[]);
        let begin = Path::new(env!("CARGO_MANIFEST_DIR")).join("bsd-kernel/libc/openbsd/crtbegin.c");
        self.compile(&begin.display().to_string(), &path("crtbegin.o"), &["-fno-pie"]);
    }

    /// Compiles a source file.
    ///
    /// # Panics
    ///
    /// If clang fails.
    pub fn compile(self, source: &str, object: &str, options: &[&str]) {
        let target = format!("--target={}", self.triple);
        tool("clang", &[&[&target, "-O1", "-c", source, "-o", object], options].concat());
    }

    /// Links [`PROGRAM`] as OpenBSD's compiler does.
    fn link(self, linker: &Path, object: &str, test: &str) -> PathBuf {
        let place = crate::directory(&format!("openbsd_objects_{test}_{}", self.name));
        let path = |name: &str| place.join(name).display().to_string();
        fs::write(place.join("p.c"), PROGRAM).expect("a file in the test's directory");
        self.make_libc(&place);
        self.compile(&path("p.c"), &path("p.o"), &["-pg", "-fno-pie"]);
        let files = [object, &path("crtbegin.o"), &path("p.o"), &path("libc.o")];
        let linker = linker.display().to_string();
        tool(&linker, &[&["-static", "-e", "__start", "-z", "text", "-o", &path("p")][..], &files].concat());
        place.join("p")
    }
}

/// Returns the objects that are built, each with a program. Prints SKIPPED for the others.
#[must_use]
pub fn built(test: &str) -> Vec<Built> {
    if !has_tools("OpenBSD's start-up objects") {
        return Vec::new();
    }
    let Some(linker) = openbsd_linker() else {
        eprintln!("SKIPPED: OpenBSD's start-up objects: cannot find lld {OLDEST_LINKER} or later");
        return Vec::new();
    };
    let one = |machine: Machine| {
        let object = machine.file("gcrt0.o")?.display().to_string();
        let program = machine.link(linker, &object, test);
        Some(Built { machine, object, program })
    };
    MACHINES.into_iter().filter_map(one).collect()
}

impl Built {
    /// Returns the relocations of the object.
    ///
    /// # Panics
    ///
    /// If an LLVM tool fails.
    #[must_use]
    pub fn relocations(&self) -> Vec<Relocation> {
        let mut section = String::new();
        let mut relocations = Vec::new();
        let functions = self.functions();
        for line in tool("llvm-readelf", &["-r", "-W", &self.object]).lines() {
            if line.contains("' at offset ") {
                section = line.split('\'').nth(1).expect("LLVM's output").to_owned();
            } else if let [_, _, kind, _, symbol, .., addend] = line.split_whitespace().collect::<Vec<_>>()[..]
                && kind.starts_with("R_")
            {
                // On amd64, relocations count from the end of the instruction, so their addends are not addresses of
                // functions.
                let at = u64::from_str_radix(addend, 16).ok().filter(|_| symbol == ".text");
                let target = at.and_then(|at| functions.get(&at)).map_or(symbol, |function| function);
                let (kind, target) = (kind.to_owned(), target.to_owned());
                relocations.push(Relocation { section: section.clone(), kind, target });
            }
        }
        relocations
    }

    /// Returns the functions that the object defines, by their distance from the start of the text.
    ///
    /// # Panics
    ///
    /// If an LLVM tool fails.
    #[must_use]
    pub fn functions(&self) -> BTreeMap<u64, String> {
        let symbols = tool("llvm-nm", &["--defined-only", &self.object]);
        let functions = symbols.lines().filter_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [at, "t" | "T", name] => Some((u64::from_str_radix(at, 16).expect("LLVM's output"), name.to_owned())),
            _ => None,
        });
        functions.collect()
    }

    /// Returns the functions of the object whose addresses its code computes.
    ///
    /// # Panics
    ///
    /// If an LLVM tool fails.
    #[must_use]
    pub fn functions_with_taken_addresses(&self, functions: &BTreeMap<String, Function>) -> BTreeSet<String> {
        // On amd64, the relocations of calls and of the computation of addresses have the same kinds.
        let lines = functions.values().flat_map(|function| &function.lines).filter(|line| line.contains("\tlea"));
        let names = lines.filter_map(|line| line.rsplit_once('<')?.1.strip_suffix('>'));
        let pages = ["R_AARCH64_ADR_PREL_PG_HI21", "R_AARCH64_ADR_GOT_PAGE"];
        let relocations = self.relocations().into_iter().filter(|relocation| pages.contains(&&*relocation.kind));
        let taken = names.map(str::to_owned).chain(relocations.map(|relocation| relocation.target));
        taken.filter(|name| functions.contains_key(name)).collect()
    }
}
