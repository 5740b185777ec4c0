//! Stacks as lines for flame graphs: the frames from the outermost one, separated by semicolons, and the samples.

use std::io::{self, Write};

use crate::analysis::Analysis;
use crate::report::place::text;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let tree = analysis.sample_tree();
    tree.each_stack(|stack, samples| {
        for (at, place) in stack.iter().enumerate() {
            // stackcollapse-perf.pl, whose output all readers know, writes a colon as well.
            let name = text(&analysis.place_name(tree.places[*place])).replace(';', ":");
            out.write_all(if at == 0 { b"" } else { b";" })?;
            out.write_all(name.as_bytes())?;
        }
        writeln!(out, " {samples}")
    })
}
