//! Stacks as lines for flame graphs: the frames from the outermost one, separated by semicolons, and the samples.

use std::io::{self, Write};

use crate::analysis::{Analysis, SamplePlace};
use crate::report::place::text;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let tree = analysis.sample_tree();
    // stackcollapse-perf.pl, whose output all readers know, writes a colon as well.
    let name = |place: &SamplePlace<'_>| text(&analysis.place_name(*place)).replace(';', ":");
    let names: Vec<String> = tree.places.iter().map(name).collect();
    tree.each_stack(|stack, samples| {
        for (at, place) in stack.iter().enumerate() {
            out.write_all(if at == 0 { b"" } else { b";" })?;
            out.write_all(names[*place].as_bytes())?;
        }
        writeln!(out, " {samples}")
    })
}
