//! What profiles consist of.

use std::io::{self, Write};

use crate::load::profile_file::Parts;

pub(super) fn render(parts: &[Parts], out: &mut dyn Write) -> io::Result<()> {
    for part in parts {
        writeln!(out, "File `{}' (version {}) contains:", part.file, part.version)?;
        for (count, what) in [
            (part.records.histograms, "histogram record"),
            (part.records.arcs, "call-graph record"),
            (part.records.blocks, "basic-block count record"),
        ] {
            writeln!(out, "\t{count} {what}{}", if count == 1 { "" } else { "s" })?;
        }
    }
    Ok(())
}
