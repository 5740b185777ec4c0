//! Whether profiles are of the very program that they are read with.
//!
//! A program that was rebuilt has other functions at the same addresses, and another program may have functions where this one
//! has some: the reports would be nonsense that looks like sense. The list beside a profile names the program. Where there is no
//! list, the times of the files tell whether the program may have been rebuilt.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::shared_objects::{Program, RunList};
use crate::cli::options::ProfilePath;

/// Files that are copied or checked out together differ by less.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Profiles with which the same is wrong: the first, and how many there are.
struct Mismatch {
    what: String,
    first: String,
    count: usize,
}

/// Says which of these profiles are not of the image, whose identity is `own`, or may not be. For each profile there is what
/// lies beside it.
pub(super) fn check(
    path: &Path,
    own: Option<&str>,
    profiles: &[ProfilePath],
    lists: &[RunList],
    warnings: &mut dyn Write,
) {
    let built = fs::metadata(path).and_then(|status| status.modified()).ok();
    let mut mismatches: Vec<Mismatch> = Vec::new();
    for (source, list) in profiles.iter().zip(lists) {
        let ProfilePath::File(profile) = source else { continue };
        let what = match (&list.program, own) {
            (Program::Other(identity, ran), Some(own)) => {
                format!(
                    "of another build or program: {} ran ({}), {} is {}",
                    name(identity),
                    ran.display(),
                    path.display(),
                    name(own)
                )
            }
            (Program::Unknown, _) if built.zip(modified(profile)).is_some_and(|(built, ran)| is_later(built, ran)) => {
                format!("older than {}: was that rebuilt since it ran?", path.display())
            }
            _ => continue,
        };
        if let Some(mismatch) = mismatches.iter_mut().find(|mismatch| mismatch.what == what) {
            mismatch.count += 1;
        } else if mismatches.len() < MOST_MISMATCHES {
            mismatches.push(Mismatch { what, first: source.to_string(), count: 1 });
        }
    }
    for Mismatch { what, first, count } in mismatches {
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        // Where even a warning cannot be written, nobody is left to be told.
        let _ = writeln!(warnings, "gprof: warning: {first}{more}: {what}");
    }
}

/// How many programs are told of that ran in the place of this one.
const MOST_MISMATCHES: usize = 10;

/// An identity in words.
fn name(identity: &str) -> String {
    match identity.strip_prefix("headers:") {
        Some(sum) => format!("a program without build ID (headers {sum})"),
        None => format!("build {identity}"),
    }
}

/// When a file was last written; `None` of what is no file.
fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?.modified().ok()
}

fn is_later(one: SystemTime, other: SystemTime) -> bool {
    one.duration_since(other).is_ok_and(|later| later > AT_ONCE)
}
