//! Finds profiles that another build or another program wrote.
//!
//! A rebuilt program has other functions at the same addresses, and so has another program: the reports would look
//! right and be wrong. The side file or the list of objects beside a profile names the program. Without
//! these, the modification times of the files show whether the program may have been rebuilt.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::shared_objects::{Program, RunFiles};
use crate::question::files::ProfilePath;

/// The modification times of files that are copied or checked out together differ by less than this.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Profiles with the same mismatch: the first profile, and the number of profiles.
struct Mismatch {
    what: String,
    first: String,
    count: usize,
}

/// What is done with profiles of other builds and programs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubts {
    /// They are in the reports.
    Reported,
    /// They are not in the sum, so a warning names each.
    LeftOut,
}

/// Returns warnings about the profiles that do not match the image, or may not match. The image is a path and an
/// identity; `files` has the files beside each profile.
pub(super) fn find(
    (path, own): (&Path, Option<&str>),
    profiles: &[ProfilePath],
    files: &[RunFiles],
    doubts: Doubts,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let built = fs::metadata(path).and_then(|status| status.modified()).ok();
    let mut mismatches: Vec<Mismatch> = Vec::new();
    for (source, beside) in profiles.iter().zip(files) {
        let ProfilePath::File(profile) = source else { continue };
        let what = match (&beside.program, own) {
            (Program::Other(identity, ran), Some(own)) => {
                format!(
                    "written by another build or program: {} ran ({}), {} is {}",
                    name(identity),
                    ran.display(),
                    path.display(),
                    name(own)
                )
            }
            (Program::Unknown, _) if built.zip(modified(profile)).is_some_and(|(built, ran)| is_later(built, ran)) => {
                format!("older than {}: was the program rebuilt after the run?", path.display())
            }
            _ => continue,
        };
        if doubts == Doubts::LeftOut && matches!(beside.program, Program::Other(..)) {
            warnings.push(format!("{source}: left out of the sum: {what}"));
            continue;
        }
        if let Some(mismatch) = mismatches.iter_mut().find(|mismatch| mismatch.what == what) {
            mismatch.count += 1;
        } else if mismatches.len() < MOST_MISMATCHES {
            mismatches.push(Mismatch { what, first: source.to_string(), count: 1 });
        }
    }
    for Mismatch { what, first, count } in mismatches {
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        warnings.push(format!("{first}{more}: {what}"));
    }
    warnings
}

/// The number of different mismatches that warnings report at most.
const MOST_MISMATCHES: usize = 10;

/// Describes an identity for a warning.
fn name(identity: &str) -> String {
    match identity.strip_prefix("headers:") {
        Some(sum) => format!("a program without build ID (headers {sum})"),
        None => format!("build {identity}"),
    }
}

/// The modification time of a regular file; `None` for anything else.
fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?.modified().ok()
}

fn is_later(one: SystemTime, other: SystemTime) -> bool {
    one.duration_since(other).is_ok_and(|later| later > AT_ONCE)
}
