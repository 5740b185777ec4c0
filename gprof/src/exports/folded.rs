//! Stacks as lines for flame graphs: the frames from the outermost one, separated by semicolons, and the samples.

use std::io::{self, Write};

use crate::model::{Analysis, SamplePlace};
use crate::reports::place::{text, thread};
use crate::reports::warnings;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    // A stack without samples: readers accept no other line.
    for warning in warnings::of(analysis) {
        writeln!(out, "<{}> 0", warning.replace(';', ":"))?;
    }
    let samples = analysis.sample_trees();
    // stackcollapse-perf.pl, whose output all readers know, writes a colon as well.
    let name = |place: &SamplePlace<'_>| text(&analysis.place_name(*place)).replace(';', ":");
    let names: Vec<String> = samples.places.iter().map(name).collect();
    for tree in &samples.trees {
        let thread = samples.has_threads.then(|| thread(tree.thread).replace(';', ":"));
        samples.each_stack(tree, |stack, samples| {
            let names = thread.iter().chain(stack.iter().map(|place| &names[*place]));
            for (at, name) in names.enumerate() {
                out.write_all(if at == 0 { b"" } else { b";" })?;
                out.write_all(name.as_bytes())?;
            }
            writeln!(out, " {samples}")
        })?;
    }
    Ok(())
}
