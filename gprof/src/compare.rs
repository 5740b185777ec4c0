//! A run that reports what changed since a base.

use std::io::{Write, sink};
use std::time::Duration;

use crate::error::Error;
use crate::exports::render_difference;
use crate::model::{self, Analysis, Difference, Run};
use crate::output;
use crate::question::files::{Comparison, Output, ProfilePath, ProfiledImage};
use crate::question::options::Options;
use crate::reports::difference::verdict::{self, Verdict};
use crate::reports::list;
use crate::sources::{self, DebugFiles, Loaded};
use crate::terminal::Terminal;
use crate::terminal::progress::Progress;

/// Loads and analyzes the base and the other profiles, and renders the difference.
pub(crate) fn report(
    options: &Options,
    comparison: &Comparison,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    output::check(options, terminal)?;
    let base_options = sources::base_options(options, comparison)?;
    let mut debug_files = DebugFiles::default();
    let base_loaded = sources::load(&base_options, &mut debug_files, progress)?;
    let loaded = sources::load(options, &mut debug_files, progress)?;
    // Measured times and estimates cannot be compared.
    let propagates = options.propagates || have_stacks_on_one_side(&base_loaded, &loaded, options, progress);
    let [base_options, options] = [base_options, options.clone()].map(|side| side.propagate(propagates));
    progress.tell_once(options.outputs.len() > 1);
    let (mut runs, mut verdict) = (None, None);
    for (output, options) in options.each_alone() {
        let base = model::analyze(&base_loaded, &base_options, list::wanted(&base_options, &base_loaded)?, progress)?;
        let new = model::analyze(&loaded, &options, list::wanted(&options, &loaded)?, progress)?;
        // In a text, a name with a line end would look like two rows. Other formats escape control characters
        // themselves.
        if output.format.is_text() {
            for side in [&base, &new] {
                side.functions.spell_controls();
            }
        }
        let runs = match &runs {
            Some(runs) => runs,
            None => runs.insert([
                read_runs(&base, &base_loaded, &base_options, progress)?,
                read_runs(&new, &loaded, &options, progress)?,
            ]),
        };
        progress.tell("comparing the profiles");
        let difference = model::difference_of_runs((&base, &runs[0]), (&new, &runs[1]))?;
        write(&difference, output, out, progress, terminal)?;
        verdict.get_or_insert_with(|| verdict::judge(&difference, &comparison.gates));
    }
    let Verdict { failure, unsure } = verdict.unwrap_or_default();
    match (failure, unsure) {
        (Some(verdict), _) => Err(Error::Changed { verdict }),
        (None, Some(verdict)) if comparison.fails_if_unsure => Err(Error::Unsure { verdict }),
        (None, unsure) => {
            // A line that cannot be written is dropped: nobody can read it.
            unsure.into_iter().for_each(|line| _ = writeln!(progress, "{line}"));
            Ok(())
        }
    }
}

fn write(
    difference: &Difference<'_, '_>,
    output: &Output,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
    terminal: &Terminal,
) -> Result<(), Error> {
    match &output.file {
        Some(file) => {
            let terminal = Terminal { reports: None, colors: false, ..*terminal };
            output::write(file, |out| render_difference(difference, output.format, &terminal, out))
        }
        None => {
            progress.begin_reports();
            render_difference(difference, output.format, terminal, out)
        }
    }
}

/// Returns the growth of the total time that the profiles show with the probability that reports promise, as a
/// percentage of the base; `None` if they show none. Without a base, that is the growth which as many runs of another
/// program would show if they differed as these do. The options must be [`Options::compared`].
///
/// # Errors
///
/// If a profile cannot be read.
pub(crate) fn visible(base: Option<&Options>, new: &Options) -> Result<Option<f64>, Error> {
    let (mut unheard, clock) = (sink(), || Duration::ZERO);
    let mut silent = Progress::new(&mut unheard, &Terminal::default(), &clock);
    let mut debug_files = DebugFiles::default();
    let options = [base.unwrap_or(new), new];
    let [of_base, of_new] = options.map(|options| sources::load(options, &mut debug_files, &mut silent));
    let loaded = [of_base?, of_new?];
    let mut analyze = |side: usize| {
        let (options, loaded) = (options[side], &loaded[side]);
        model::analyze(loaded, options, list::wanted(options, loaded)?, &mut silent)
    };
    let sums = [analyze(0)?, analyze(1)?];
    let mut read = |side: usize| read_runs(&sums[side], &loaded[side], options[side], &mut silent);
    let mut runs = [read(0)?, read(1)?];
    if base.is_none() {
        // Runs that are compared with themselves are no pairs.
        runs.iter_mut().flatten().for_each(|run| run.start = None);
    }
    match model::difference_of_runs((&sums[0], &runs[0]), (&sums[1], &runs[1])) {
        Ok(difference) => Ok(verdict::growth_shown(&difference)),
        // No samples show nothing.
        Err(Error::NoTimes { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the numbers of each run of a side. The profiles are read again, one run after the other, so that memory does
/// not grow with the number of runs. What is wrong with a profile was told when the sum was read.
fn read_runs(
    sum: &Analysis<'_>,
    loaded: &Loaded,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<Vec<Run>, Error> {
    let runs = runs(&options.images);
    if runs.len() < 2 {
        return Ok(vec![Run::new(sum, sum)]);
    }
    let (mut unheard, clock) = (sink(), || Duration::ZERO);
    let mut silent = Progress::new(&mut unheard, &Terminal::default(), &clock);
    let mut debug_files = DebugFiles::default();
    let count = runs.len();
    let numbers = runs.into_iter().enumerate().map(|(at, images)| {
        progress.count("reading the runs", at, count);
        let options = Options { images, ..options.clone() };
        let run = match sources::load_again(loaded, &options, &mut silent)? {
            Some(run) => run,
            None => sources::load(&options, &mut debug_files, &mut silent)?,
        };
        let analysis = model::analyze(&run, &options, list::wanted(&options, &run)?, &mut silent)?;
        Ok(Run::new(sum, &analysis))
    });
    numbers.collect()
}

/// The runs of a side: each profile of an image is of a run of its own. If a side has several images, the first
/// profiles of all images are of the first run, and so on. There is one run, the sum of all, if the images have
/// different numbers of profiles, or a profile can be read only once.
fn runs(images: &[ProfiledImage]) -> Vec<Vec<ProfiledImage>> {
    let count = images.first().map_or(0, |profiled| profiled.profiles.len());
    let are_as_many = images.iter().all(|profiled| profiled.profiles.len() == count);
    let can_be_read = !images.iter().flat_map(|profiled| &profiled.profiles).any(ProfilePath::is_read_once);
    if !(are_as_many && can_be_read) {
        return vec![images.to_vec()];
    }
    let run = |at: usize| {
        let of_run = |profiled: &ProfiledImage| ProfiledImage {
            image: profiled.image.clone(),
            profiles: profiled.profiles.get(at).cloned().into_iter().collect(),
        };
        images.iter().map(of_run).collect()
    };
    (0..count).map(run).collect()
}

/// Whether only one side has stacks. Warns if so, because the inclusive times of both sides are then estimates.
fn have_stacks_on_one_side(base: &Loaded, new: &Loaded, options: &Options, progress: &mut Progress<'_>) -> bool {
    let what = match [base, new].map(|side| side.stacks().is_some()) {
        [false, true] => "the base has no stacks",
        [true, false] => "only the base has stacks",
        _ => return false,
    };
    if !options.propagates {
        // A warning that cannot be written is dropped: nobody can read it.
        let _ = writeln!(progress, "gprof: warning: {what}: the inclusive times of both sides are estimates");
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_profile_is_of_a_run() {
        let image = |name: &str, profiles: &[&str]| ProfiledImage {
            image: name.into(),
            profiles: profiles.iter().map(|name| ProfilePath::File(name.into())).collect(),
        };
        let one = [image("a", &["1", "2", "3"])];
        assert_eq!(runs(&one), ["1", "2", "3"].map(|name| vec![image("a", &[name])]));
        let both = [image("a", &["1", "2"]), image("b", &["3", "4"])];
        let expected = [["1", "3"], ["2", "4"]].map(|[a, b]| vec![image("a", &[a]), image("b", &[b])]);
        assert_eq!(runs(&both), expected);
        let uneven = [image("a", &["1", "2"]), image("b", &["3"])];
        assert_eq!(runs(&uneven), [uneven.to_vec()]);
        let piped = [ProfiledImage { image: "a".into(), profiles: vec![ProfilePath::Stdin, ProfilePath::Stdin] }];
        assert_eq!(runs(&piped), [piped.to_vec()]);
    }
}
