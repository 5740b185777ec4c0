//! Runs programs again and again, and collects their profiles (`--repeat`). With `--against`, two programs take turns,
//! so that what slows down the machine for a while slows down both.

mod files;
mod live;
mod turns;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::error::Error;
use crate::question::files::{Named, ProfilePath, ProfiledImage};
use crate::question::options::{Options, Repeat};
use crate::terminal::progress::Progress;
use files::Directory;
use live::{Live, Program};
use turns::{Plan, Side};

/// Runs the programs. The options then have the programs and the profiles of all runs. The command that reports on them
/// again is told before the report.
///
/// # Errors
///
/// When a program is not found, fails, or leaves no profile, and when the directory has files.
pub(crate) fn collect(options: &mut Options, repeat: &Repeat, progress: &mut Progress<'_>) -> Result<(), Error> {
    let new = Program::find(&repeat.program)?;
    let base = repeat.against.as_deref().map(Program::find).transpose()?;
    if let Some(base) = &base {
        live::warn_of_different_costs(base, &new, progress);
    }
    let directory = Directory::make(&repeat.directory)?;
    let plan = Plan { runs: repeat.runs, has_base: base.is_some(), until: repeat.until, longest: repeat.longest };
    progress.tell_now(&plan.progress(0, None));
    let taken = turns::take(
        &plan,
        &mut Live {
            plan: &plan,
            repeat,
            options,
            directory: &directory,
            programs: [base.as_ref(), Some(&new)],
            progress,
            begin: Instant::now(),
        },
    )?;
    progress.clear();
    let mut lines: Vec<String> = plan.shortage(&taken).into_iter().collect();
    for (side, times) in [Side::Base, Side::New].into_iter().zip(&taken.times) {
        lines.extend(turns::outliers(times).into_iter().map(|(at, factor)| {
            let (profile, time) = (directory.profile(side, at + 1), times[at].as_secs_f64());
            format!(
                "warning: the run of {} took {time:.2} s, {factor:.1} times the median. It counts as others do",
                profile.display()
            )
        }));
    }
    let others = directory.others();
    if others > 0 {
        let place = repeat.directory.display();
        lines.push(format!("profiles of children that {place} has, and that the report leaves out: {others}"));
    }
    let runs = taken.times[Side::New as usize].len();
    let profiles = [Side::Base, Side::New].map(|side| directory.profiles(side, runs));
    let words = words(base.as_ref().map(|base| base.path.as_path()), &new.path, &profiles, repeat);
    lines.push(format!("this prints the report again: {}", directory.write_report(&words)?));
    for line in lines {
        // A line that cannot be written is dropped: nobody can read it.
        let _ = writeln!(progress, "gprof: {line}");
    }
    let [of_base, of_new] = profiles;
    options.images = vec![ProfiledImage { image: new.path, profiles: of_new }];
    options.named = Named { image: true, profiles: true };
    if let (Some(base), Some(comparison)) = (base, &mut options.comparison) {
        comparison.base = std::iter::once(ProfilePath::File(base.path)).chain(of_base).collect();
    }
    Ok(())
}

/// The words of the command line that reports on the profiles. Each file of the base has an option of its own, so names
/// may have commas. Other options may follow the words.
fn words(base: Option<&Path>, new: &Path, [of_base, of_new]: &[Vec<ProfilePath>; 2], repeat: &Repeat) -> Vec<OsString> {
    let mut words = repeat.report.clone();
    let profiles = |files: &[ProfilePath]| files.iter().map(|file| file.to_string().into()).collect::<Vec<OsString>>();
    if let Some(base) = base {
        let files = std::iter::once(base.as_os_str().to_owned()).chain(profiles(of_base));
        words.extend(files.flat_map(|file| ["--base".into(), operand(file)]));
    }
    words.push(operand(new.as_os_str().to_owned()));
    words.extend(profiles(of_new).into_iter().map(operand));
    words
}

/// Returns the name of a file as a word that does not look like an option.
fn operand(file: OsString) -> OsString {
    if file.as_encoded_bytes().starts_with(b"-") { Path::new(".").join(file).into() } else { file }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a name that becomes an option, a base whose name has a comma, and options of the report that are lost.
    #[test]
    fn the_words_name_all_files() {
        let repeat = Repeat {
            runs: 1,
            directory: "-d".into(),
            program: "-x/new".into(),
            arguments: vec!["argument".into()],
            against: None,
            until: None,
            longest: None,
            report: vec!["--brief".into()],
        };
        let profiles =
            [["-d/base.1"], ["-d/new.1"]].map(|files| files.map(|file| ProfilePath::File(file.into())).to_vec());
        let of = |base: Option<&str>| words(base.map(Path::new), Path::new("-x/new"), &profiles, &repeat);
        let expected = ["--brief", "--base", "./a,b", "--base", "./-d/base.1", "./-x/new", "./-d/new.1"];
        assert_eq!(of(Some("./a,b")), expected);
        assert_eq!(of(None), ["--brief", "./-x/new", "./-d/new.1"]);
    }
}
