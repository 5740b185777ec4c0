//! Stacks as lines for flame graphs.

use std::io::{self, Write};
use std::iter::once;

use crate::model::Analysis;
use crate::reports::place::thread;
use crate::reports::warnings;
use crate::sink::folded::{FrameName, write_stack};
use crate::sink::text::text;

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    // A stack without samples: readers accept no other line.
    for warning in warnings::of(analysis) {
        write_stack(once(&FrameName::new(&format!("<{warning}>"))), 0, out)?;
    }
    let samples = analysis.sample_trees();
    let name = |place| FrameName::new(&text(&analysis.place_name(place)));
    let names: Vec<FrameName> = samples.places.iter().copied().map(name).collect();
    for tree in &samples.trees {
        let thread = samples.has_threads.then(|| FrameName::new(&thread(tree.thread)));
        samples.each_stack(tree, |stack, samples| {
            write_stack(thread.iter().chain(stack.iter().map(|place| &names[*place])), samples, out)
        })?;
    }
    Ok(())
}
