//! A run that reports what changed since a base.

use std::io::Write;

use crate::error::Error;
use crate::exports::render_difference;
use crate::model::{self, Difference};
use crate::output;
use crate::question::files::{Comparison, Output};
use crate::question::options::Options;
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
        progress.tell("comparing the profiles");
        write(&model::difference(&base, &new)?, output, out, progress, terminal)?;
    }
    Ok(())
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
