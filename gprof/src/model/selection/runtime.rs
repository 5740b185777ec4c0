//! Recognizes the functions of the profiling runtime.

use crate::program::symbols::functions::{Function, Functions};

/// The names of the profiling runtime's functions according to GNU gprof.
pub(super) const NAMES: [&[u8]; 6] =
    [b"_gprof_mcount", b"mcount", b"_mcount", b"__mcount", b"__mcount_internal", b"__mcleanup"];

/// The global functions of this project's runtime. Other runtimes and C libraries have functions of the same names, so
/// these names count only next to local functions of this project's runtime.
const GLOBALS: [&[u8]; 43] = [
    b"bsd_signal",
    b"chroot",
    b"daemon",
    b"dlclose",
    b"_Exit",
    b"_exit",
    b"__fentry__",
    b"gmon_calls",
    b"gmon_calls_loaded",
    b"gmon_dump",
    b"gmon_pcsample",
    b"gmon_profil_aix",
    b"gmon_profil_bsd",
    b"gmon_profil_illumos",
    b"gmon_profil_openbsd",
    b"_mcleanup",
    b"mlockall",
    b"__moncontrol",
    b"moncontrol",
    b"__monstartup",
    b"monstartup",
    b"munmap",
    b"prctl",
    b"prlimit",
    b"prlimit64",
    b"profil",
    b"pthread_sigmask",
    b"setns",
    b"setrlimit",
    b"setrlimit64",
    b"sigaction",
    b"sigaltstack",
    b"signal",
    b"sigprocmask",
    b"sigset",
    b"ssignal",
    b"syscall",
    b"__sysv_signal",
    b"sysv_signal",
    b"umask",
    b"unshare",
    b"__write_profiling",
    b"write_profiling",
];

/// The functions of the start-up objects that every program has, profiled or not. Their code lies among the runtime's
/// code, but belongs to the program.
const START: [&[u8]; 2] = [b"_start", b"_dl_relocate_static_pie"];

/// Returns for each function whether GNU gprof counts the function as profiling runtime.
pub(super) fn named(functions: &Functions<'_>) -> Vec<bool> {
    functions.as_slice().iter().map(|function| NAMES.contains(&function.name)).collect()
}

/// Returns for each function whether it is part of the profiling runtime: by its name, or because its code comes from
/// the objects of this project's runtime.
///
/// A linker keeps the code of an object together. The code of this project's objects begins with local functions of the
/// crates `gmon_runtime`, `gmon_unwind`, and `gmon_profil`. Global functions and local copies of functions of the
/// standard library follow.
pub(super) fn all(functions: &Functions<'_>) -> Vec<bool> {
    let mut is_inside = false;
    let is_runtime = |function: &Function<'_>| {
        let (is_named, is_of_runtime) = (NAMES.contains(&function.name), is_of_runtime(function));
        let is_own = is_named || is_of_runtime || is_inside && may_follow(function);
        is_inside = is_of_runtime || is_inside && (is_own || START.contains(&function.name));
        is_own
    };
    functions.as_slice().iter().map(is_runtime).collect()
}

/// Returns whether a function belongs to one of [`CRATES`], or is generic code for a type of these crates.
fn is_of_runtime(function: &Function<'_>) -> bool {
    let name = function.name;
    // Large programs have many long names, so each name is read once.
    let names_crate = |at: usize| {
        let (before, rest) = name.split_at(at);
        CRATES.iter().any(|(length, krate)| {
            rest.strip_prefix(*krate).is_some_and(|behind| before.ends_with(length) || behind.starts_with(b".."))
        })
    };
    function.is_static
        && is_rust(name)
        && name.windows(COMMON.len()).enumerate().any(|(at, window)| window == COMMON && names_crate(at))
}

/// The crates, with the lengths that precede the crates in mangled names. In a list of types, two dots follow a crate.
const CRATES: [(&[u8], &[u8]); 3] = [(b"12", b"gmon_runtime"), (b"11", b"gmon_unwind"), (b"11", b"gmon_profil")];
/// The beginning of the names of these crates.
const COMMON: &[u8] = b"gmon_";

/// Returns whether a function behind a function of the runtime may belong to the runtime as well.
fn may_follow(function: &Function<'_>) -> bool {
    let has = |part: &[u8]| function.name.windows(part.len()).any(|window| window == part);
    // Methods of types have the crate in another spelling.
    let is_of_library = || has(b"4core") || has(b"17compiler_builtins") || has(b"_$LT$core..") || has(b"_ZN4gmon");
    let is_copy = function.is_static && is_rust(function.name) && is_of_library();
    GLOBALS.contains(&function.name) || is_copy
}

fn is_rust(name: &[u8]) -> bool {
    name.starts_with(b"_ZN") || name.starts_with(b"_R")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;

    fn found(names: &[&'static str]) -> Vec<&'static str> {
        let symbol = |(at, name): (u64, &&'static str)| Symbol {
            address: 16 * at,
            name: name.as_bytes(),
            is_static: name.starts_with('_'),
            is_func: true,
        };
        let functions = Functions::new((1..).zip(names).map(symbol).collect(), 0x1000);
        names.iter().zip(all(&functions)).filter(|(_, is_own)| *is_own).map(|(name, _)| *name).collect()
    }

    #[test]
    fn what_lies_in_the_objects_of_the_runtime() {
        const MISS: &str = "_ZN12gmon_runtime7threads4miss17h88b0a0c4b989de89E";
        const COUNT: &str = "_RNvMNtCs1_12gmon_runtime7threadsNtB2_6Thread5count";
        const COPY: &str = "_RNvMs3_NtNtCsgE_4core3ffi5c_strNtB5_4CStr19from_bytes_with_nul";
        const MINE: &str = "_ZN7program4main17h88b0a0c4b989de89E";
        const METHOD: &str =
            "_ZN96_$LT$core..slice..iter..Split$LT$T$C$P$GT$$u20$as$u20$core..iter..Iterator$GT$4next17h9ddfE";
        const ENCODE: &str = "_ZN4gmon6encode9side_file7numbers11read_number17hd81881b549b6cf0aE";
        assert_eq!(
            found(&[METHOD, MISS, METHOD, "_exit", ENCODE, "dlclose"]),
            [MISS, METHOD, "_exit", ENCODE, "dlclose"]
        );
        assert_eq!(
            found(&["_init", MISS, "_start", "mcount", COUNT, "dlclose", COPY, MINE, COPY]),
            [MISS, "mcount", COUNT, "dlclose", COPY]
        );
        assert_eq!(found(&["monstartup", "dlclose", COPY, "mcount", "main"]), ["mcount"], "of another runtime");
        assert_eq!(found(&[MINE, COPY, MISS]), [MISS], "what lies before is of another object");
        const PROFIL: &str = "_ZN11gmon_profil6engine9on_signal17h88b0a0c4b989de89E";
        assert_eq!(found(&[MINE, PROFIL, COPY]), [PROFIL, COPY], "the member with other systems' profil");
        const READ: &str = "_ZN11gmon_unwind5entry5Entry4read17h88b0a0c4b989de89E";
        assert_eq!(found(&[MINE, READ, COPY]), [READ, COPY], "the walk through stacks");
    }

    #[test]
    fn only_local_functions_of_rust_are_of_the_runtime() {
        const COUNT: &[u8] = b"_ZN12gmon_runtime7threads5count17h88b0a0c4b989de89E";
        let own = |is_static, name: &'static [u8]| {
            // What follows a function of the runtime may belong to the runtime.
            let symbol = |(at, name, is_static): (u64, &'static [u8], bool)| Symbol {
                address: 16 * at,
                name,
                is_static,
                is_func: true,
            };
            let symbols = [(1, name, is_static), (2, COUNT, true), (3, &b"main"[..], false)];
            all(&Functions::new(symbols.map(symbol).to_vec(), 0x1000))
        };
        assert_eq!(own(true, COUNT), [true, true, false]);
        assert_eq!(own(false, COUNT), [false, true, false]);
        assert_eq!(own(true, b"init_12gmon_runtime"), [false, true, false]);
        assert_eq!(own(true, b"_ZN7program4main17h88b0a0c4b989de89E"), [false, true, false]);
        const CORE: &str = "_score4core";
        assert_eq!(found(&["_ZN12gmon_runtime7threads5count17h88b0a0c4b989de89E", CORE]).len(), 1);
    }
}
