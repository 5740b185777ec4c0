//! Real programs: each with the runtime, with an `mcount` that only returns, and without -pg.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gmon_tests::crate_of;

pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The directory of the program and of its profiles.
    pub(crate) directory: PathBuf,
    /// Profiled.
    pub(crate) ours: PathBuf,
    /// The same code with an empty `mcount`.
    pub(crate) empty: PathBuf,
}

impl Program {
    /// Runs the profiled program in its directory with these variables. Returns what was printed on standard error.
    fn run(&self, variables: &[(&str, &str)]) -> String {
        let mut command = Command::new(&self.ours);
        let output = command.envs(variables.iter().copied()).current_dir(&self.directory).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {said}", self.name);
        said
    }

    /// The names of the program's functions, without start-up code.
    pub(crate) fn functions(&self) -> BTreeSet<String> {
        let output = Command::new("nm").arg("--defined-only").arg(&self.empty).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split(' ').nth(2));
        names.filter(|name| *name != "_start").map(str::to_owned).collect()
    }

    /// Runs the program `turns` times; returns the profiles.
    pub(crate) fn profiles(&self, turns: usize, variables: &[(&str, &str)]) -> Vec<PathBuf> {
        self.profiles_and_messages(turns, variables).0
    }

    /// As [`Program::profiles`]; also returns what the runs printed on standard error.
    pub(crate) fn profiles_and_messages(&self, turns: usize, variables: &[(&str, &str)]) -> (Vec<PathBuf>, String) {
        let place = self.directory.join("profiles");
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        let prefix = place.join("run");
        let mut said = String::new();
        for _ in 0..turns {
            said += &self.run(&[variables, &[("GMON_OUT_PREFIX", prefix.to_str().unwrap())]].concat());
        }
        let files = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path());
        let profiles: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end != "side")).collect();
        assert_eq!(profiles.len(), turns);
        (profiles, said)
    }
}

/// What a program is made of.
pub(crate) struct Recipe {
    pub(crate) name: &'static str,
    pub(crate) compiler: &'static str,
    flags: Vec<&'static str>,
    include: PathBuf,
    sources: Vec<PathBuf>,
}

impl Recipe {
    /// Compiles and links the program without -pg.
    #[allow(dead_code, reason = "not all benchmarks with these programs run them without -pg")]
    pub(crate) fn build_plain(&self, directory: &Path) -> PathBuf {
        self.build_as(directory, "plain", &[])
    }

    /// Compiles and links the program with further words for the compiler, as a file with this name.
    #[allow(dead_code, reason = "not all benchmarks with these programs run them without -pg")]
    pub(crate) fn build_as(&self, directory: &Path, file: &str, words: &[&str]) -> PathBuf {
        let directory = directory.join(self.name);
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join(file);
        if !self.sources.iter().all(|source| is_newer(&file, source)) {
            let mut command = Command::new(self.compiler);
            command.args(["-O2", "-g", "-w"]).args(&self.flags).arg("-I").arg(&self.include).args(&self.sources);
            call(command.args(words).arg("-lm").arg("-o").arg(&file));
        }
        file
    }
}

/// SQLite, Lua, zstd, and a C++ program with exceptions.
pub(crate) fn recipes() -> [Recipe; 4] {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = tests.join("benches/contexts");
    let sqlite = crate_of("libsqlite3-sys").join("sqlite3");
    let lua = crate_of("lua-src").join("lua-5.4.8");
    let zstd = crate_of("zstd-sys").join("zstd/lib");
    let is_library = |path: &PathBuf| !path.ends_with("lua.c") && !path.ends_with("luac.c");
    let lua_sources: Vec<PathBuf> = c_files(&lua).into_iter().filter(is_library).collect();
    let zstd_sources: Vec<PathBuf> =
        ["common", "compress", "decompress"].iter().flat_map(|part| c_files(&zstd.join(part))).collect();
    [
        Recipe {
            name: "SQLite",
            compiler: "cc",
            flags: vec!["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
            sources: vec![tests.join("demo/driver.c"), sqlite.join("sqlite3.c")],
            include: sqlite,
        },
        Recipe {
            name: "Lua",
            compiler: "cc",
            flags: vec!["-DLUA_USE_POSIX"],
            sources: [vec![own.join("lua.c")], lua_sources].concat(),
            include: lua,
        },
        Recipe {
            name: "zstd",
            compiler: "cc",
            flags: vec!["-DZSTD_DISABLE_ASM"],
            sources: [vec![own.join("zstd.c")], zstd_sources].concat(),
            include: zstd,
        },
        Recipe { name: "C++", compiler: "c++", flags: vec![], sources: vec![own.join("rules.cc")], include: own },
    ]
}

/// The programs, compiled with -O2 and -pg.
pub(crate) fn build(directory: &Path) -> [Program; 4] {
    recipes().map(|recipe| program(directory, &recipe))
}

/// Compiles and links a program, unless its sources were compiled before.
fn program(directory: &Path, recipe: &Recipe) -> Program {
    let Recipe { name, compiler, flags, include, sources } = recipe;
    let directory = directory.join(name);
    fs::create_dir_all(&directory).unwrap();
    let object = |source: &PathBuf| directory.join(source.file_name().unwrap()).with_extension("o");
    for source in sources.iter().filter(|source| !is_newer(&object(source), source)) {
        let mut command = Command::new(compiler);
        command.args(["-O2", "-g", "-pg", "-w"]).args(flags).arg("-I").arg(include).arg("-c").arg(source);
        call(command.arg("-o").arg(object(source)));
    }
    let empty = directory.join("empty.s");
    fs::write(&empty, ".globl mcount\n.p2align 6\nmcount: ret\n.section .note.GNU-stack,\"\",@progbits\n").unwrap();
    let objects: Vec<PathBuf> = sources.iter().map(object).collect();
    let link = |file: &str, options: &[&str], more: &[&PathBuf]| {
        let file = directory.join(file);
        call(Command::new(compiler).args(options).args(&objects).args(more).arg("-lm").arg("-o").arg(&file));
        file
    };
    let library = format!("-B{}", gmon_tests::start_objects().display());
    let ours = link("program", &["-pg", &library], &[]);
    let empty = link("empty", &[], &[&empty]);
    Program { name, directory, ours, empty }
}

fn is_newer(made: &Path, source: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    time(made) > time(source)
}

fn call(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn c_files(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    files.sort();
    files
}
