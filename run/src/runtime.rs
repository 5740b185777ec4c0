//! The shared object with the runtime, and the variables that it reads.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::arguments::{Arguments, Children};
use crate::error::Error;
use crate::status::field;

/// Where the shared object is, from the directory of gmon-run: as `make install` has it, and as distributions have it.
#[cfg(target_arch = "x86_64")]
const PLACES: [&str; 3] = ["../lib/gmon", "../lib64/gmon", "../lib/x86_64-linux-gnu/gmon"];
#[cfg(not(target_arch = "x86_64"))]
const PLACES: [&str; 3] = ["../lib/gmon", "../lib64/gmon", "../lib/aarch64-linux-gnu/gmon"];

/// The name of the shared object.
const NAME: &str = "libgmon-run.so";

/// The variable that names the shared object, for installations in other places.
const VARIABLE: &str = "GMON_RUN_LIBRARY";

/// The objects that the dynamic linker loads first, as in `LD_PRELOAD`.
///
/// # Errors
///
/// When the shared object is not there, or when the dynamic linker cannot take its path.
pub(crate) fn preload() -> Result<OsString, Error> {
    let path = match env::var_os(VARIABLE) {
        Some(path) => PathBuf::from(path),
        None => {
            let own = env::current_exe().unwrap_or_default();
            let own = own.parent().unwrap_or(Path::new("/"));
            let mut places = PLACES.iter().map(|place| own.join(place).join(NAME));
            places.find(|path| path.exists()).unwrap_or_else(|| own.join(PLACES[0]).join(NAME))
        }
    };
    let path = fs::canonicalize(&path).map_err(|_| Error::NoRuntime(path))?;
    if path.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        return Err(Error::RuntimesName(path));
    }
    let users = env::var_os("LD_PRELOAD").filter(|users| !users.is_empty());
    let objects: Vec<OsString> = users.into_iter().chain([path.into_os_string()]).collect();
    Ok(objects.join(OsStr::new(":")))
}

/// The variables that a gmon-run which runs this one may have set for other options.
const OF_OPTIONS: [&str; 2] = [CHILDREN, ONCE];
const CHILDREN: &str = "GMON_CHILDREN";
const ONCE: &str = "GMON_RUN_ONCE";

/// The environment of the program: the user's, with other values of these variables. The order stays, because a program
/// may show it.
pub(crate) fn environment(
    users: impl Iterator<Item = (OsString, OsString)>,
    variables: &[(&'static str, OsString)],
) -> Vec<OsString> {
    let mut new: Vec<_> = variables.iter().map(|(name, value)| (OsStr::new(name), value)).collect();
    let mut all = Vec::new();
    let entry = |name: &OsStr, value: &OsStr| [name, value].join(OsStr::new("="));
    for (name, value) in users.filter(|(name, _)| !OF_OPTIONS.iter().any(|option| name == option)) {
        match new.iter().position(|(new, _)| *new == name) {
            Some(position) => all.push(entry(&name, new.remove(position).1)),
            None if variables.iter().any(|(new, _)| name == *new) => {}
            None => all.push(entry(&name, &value)),
        }
    }
    all.extend(new.into_iter().map(|(name, value)| entry(name, value)));
    all
}

/// The variables that the program gets.
pub(crate) fn variables(arguments: &Arguments, prefix: &Path, preload: &OsStr) -> Vec<(&'static str, OsString)> {
    let mut all = vec![
        ("LD_PRELOAD", preload.to_owned()),
        ("GMON_OUT_PREFIX", name_pattern(prefix)),
        ("GMON_RUN_FILTERS", own_filters().to_string().into()),
        ("ASAN_OPTIONS", with_option("ASAN_OPTIONS", "verify_asan_link_order=0")),
    ];
    all.extend(arguments.hz.map(|rate| ("GMON_HZ", rate.to_string().into())));
    all.extend(arguments.wall.then(|| ("GMON_CLOCK", "wall".into())));
    all.extend(arguments.threads.then(|| ("GMON_THREADS", "1".into())));
    all.extend(arguments.live.then(|| ("GMON_LIVE", "1".into())));
    all.extend(arguments.only.clone().map(|pattern| ("GMON_ONLY", pattern)));
    if arguments.children == Children::None {
        all.push((CHILDREN, "none".into()));
        all.push((ONCE, "1".into()));
    }
    all
}

/// The pattern of the names: the program's name, the first digits of its build ID, and the number of the process.
fn name_pattern(directory: &Path) -> OsString {
    let mut pattern = Vec::new();
    for byte in directory.as_os_str().as_bytes() {
        pattern.extend(if *byte == b'%' { &b"%%"[..] } else { std::slice::from_ref(byte) });
    }
    pattern.extend(b"/%n.%p");
    OsString::from_vec(pattern)
}

/// The value of a variable with options between colons, with one more option at the end, unless the user chose the
/// option.
fn with_option(name: &str, option: &str) -> OsString {
    let key = option.split('=').next().unwrap_or(option);
    match env::var_os(name) {
        Some(value) if value.as_bytes().windows(key.len()).any(|part| part == key.as_bytes()) => value,
        Some(mut value) if !value.is_empty() => {
            value.push(":");
            value.push(option);
            value
        }
        _ => option.into(),
    }
}

/// The number of system-call filters that this process has, and that all its children will have; 0 if the kernel does
/// not tell.
fn own_filters() -> u32 {
    let number = |name: &str| field(name).and_then(|value| value.parse::<u32>().ok());
    match number("Seccomp") {
        None | Some(0) => 0,
        Some(_) => number("Seccomp_filters").unwrap_or(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_in_the_directory_is_no_conversion() {
        assert_eq!(name_pattern(Path::new("/a 100%/b")), OsString::from("/a 100%%/b/%n.%p"));
    }

    #[test]
    fn the_environment_keeps_its_order_and_what_is_not_gmon_runs() {
        let users = [("Z", "1"), ("GMON_HZ", "5"), ("A", "2=3"), (ONCE, "1"), ("GMON_HZ", "6"), ("A", "")];
        let users = users.into_iter().map(|(name, value)| (name.into(), value.into()));
        let variables = [("LD_PRELOAD", "x".into()), ("GMON_HZ", "7".into())];
        assert_eq!(environment(users, &variables), ["Z=1", "GMON_HZ=7", "A=2=3", "A=", "LD_PRELOAD=x"]);
    }
}
