//! The browser of the user, and private directories for the pages that the browser shows.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The number of names that are tried for a directory.
const MOST_NAMES: u32 = 100;

/// Makes a directory for temporary files that only this user can read. The directory stays, because browsers read pages
/// later.
///
/// # Errors
///
/// If the system's directory for temporary files takes no new directory.
pub(crate) fn private_directory() -> io::Result<PathBuf> {
    let process = std::process::id();
    let mut number = 0;
    loop {
        let path = env::temp_dir().join(format!("gprof.{process}.{number}"));
        // A directory or link that is already there may be another user's.
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_NAMES => number += 1,
            made => return made.map(|()| path),
        }
    }
}

/// Returns the commands that may show a page, the preferred one first: those of `BROWSER`, which has colons between
/// them, or else `xdg-open` if there is a display. In a command of `BROWSER`, `%s` stands for the page, which is the
/// last word otherwise.
fn commands(variable: impl Fn(&str) -> Option<OsString>, page: &Path) -> Vec<Vec<OsString>> {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let mut commands: Vec<Vec<OsString>> = Vec::new();
    for command in variable("BROWSER").unwrap_or_default().as_bytes().split(|byte| *byte == b':') {
        let is_blank = |byte: &u8| byte.is_ascii_whitespace();
        let words = command.split(is_blank).filter(|word| !word.is_empty());
        let mut words: Vec<OsString> = words.map(|word| OsStr::from_bytes(word).to_owned()).collect();
        if words.is_empty() {
            continue;
        }
        let mut has_page = false;
        for word in &mut words {
            if let Some(at) = word.as_bytes().windows(2).position(|sign| sign == b"%s") {
                let (before, after) = (&word.as_bytes()[..at], &word.as_bytes()[at + 2..]);
                *word = OsString::from_vec([before, page.as_os_str().as_bytes(), after].concat());
                has_page = true;
            }
        }
        words.extend((!has_page).then(|| page.into()));
        commands.push(words);
    }
    if commands.is_empty() && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) {
        commands.push(vec!["xdg-open".into(), page.into()]);
    }
    commands
}

/// Shows a page in the user's browser, and returns whether one showed the page. A browser that runs in the foreground
/// keeps this process waiting, as browsers for terminals need.
pub(crate) fn show(page: &Path) -> bool {
    commands(|name| env::var_os(name), page).iter().any(|words| {
        let Some((program, words)) = words.split_first() else { return false };
        // Messages of browsers are no part of a report.
        let status = Command::new(program).args(words).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_chooses_the_browser() {
        let commands = |variables: &[(&str, &str)]| -> Vec<String> {
            let variable =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
            commands(variable, Path::new("/tmp/a b.html"))
                .iter()
                .map(|words| words.join("|".as_ref()).into_string().unwrap())
                .collect()
        };
        assert_eq!(commands(&[]), Vec::<String>::new());
        assert_eq!(commands(&[("DISPLAY", "")]), Vec::<String>::new());
        assert_eq!(commands(&[("DISPLAY", ":0")]), ["xdg-open|/tmp/a b.html"]);
        assert_eq!(commands(&[("WAYLAND_DISPLAY", "wayland-0"), ("BROWSER", ":")]), ["xdg-open|/tmp/a b.html"]);
        assert_eq!(commands(&[("DISPLAY", ":0"), ("BROWSER", "w3m")]), ["w3m|/tmp/a b.html"]);
        assert_eq!(
            commands(&[("BROWSER", "firefox -new-tab  url=%s#flame::lynx")]),
            ["firefox|-new-tab|url=/tmp/a b.html#flame", "lynx|/tmp/a b.html"]
        );
    }

    #[test]
    fn nobody_else_reads_the_directory() {
        use std::os::unix::fs::PermissionsExt;
        let made = [private_directory().unwrap(), private_directory().unwrap()];
        assert_ne!(made[0], made[1]);
        for path in made {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o700);
            std::fs::remove_dir(path).unwrap();
        }
    }
}
