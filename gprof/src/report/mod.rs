//! Reports: one renderer in each file, all of one shape.
//!
//! A renderer gets the frozen [`Analysis`] and writes text. It looks nothing up and works nothing out; what is printed
//! by a computer program is read by computer programs, so every blank counts.

mod blurbs;
pub mod bsd;
mod flat;
mod graph;
mod index;
mod names;

use std::io::{self, Write};

use crate::analysis::Analysis;
use crate::options::{Options, Wanted};

/// Writes all wanted reports, a form feed between them.
///
/// # Errors
///
/// Those of `out`.
pub fn render(analysis: &Analysis<'_>, options: &Options, wanted: Wanted, out: &mut dyn Write) -> io::Result<()> {
    if wanted.flat {
        flat::render(analysis, options, out)?;
    }
    if wanted.graph {
        if wanted.flat {
            out.write_all(b"\x0c\n")?;
        }
        graph::render(analysis, options, out)?;
        out.write_all(b"\x0c\n")?;
        index::render(analysis, options, out)?;
    }
    Ok(())
}
