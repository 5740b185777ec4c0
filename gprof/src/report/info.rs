//! The records in each profile.

use std::io::{self, Write};

use crate::load::profile_file::FileInfo;

pub(super) fn render(files: &[FileInfo], out: &mut dyn Write) -> io::Result<()> {
    for file in files {
        writeln!(out, "File `{}' (version {}) contains:", file.file, file.version)?;
        for (count, what) in [
            (file.records.histograms, "histogram record"),
            (file.records.arcs, "call-graph record"),
            (file.records.blocks, "basic-block count record"),
        ] {
            writeln!(out, "\t{count} {what}{}", if count == 1 { "" } else { "s" })?;
        }
    }
    Ok(())
}
