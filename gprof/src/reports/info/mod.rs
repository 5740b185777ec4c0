//! The records in each profile, and the contents of side files.

pub mod table;
pub mod text;

use super::report::{Report, Trait};
use crate::question::reports::INFO;

pub const REPORT: Report = Report {
    name: INFO,
    short: Some('i'),
    help: "Print what each profile contains",
    traits: &[Trait::TextOnly],
    write: |analysis, writer| {
        let (files, sides) = (analysis.files, analysis.side_files);
        let tells_forms = analysis.options.rules.tells_forms;
        writer.report(|out, frame| {
            let Some(frame) = frame else {
                text::render(files, tells_forms, out)?;
                return sides.iter().try_for_each(|side| text::render_side(side, out));
            };
            table::profiles(files, tells_forms, frame, out)?;
            sides.iter().try_for_each(|side| {
                writeln!(out)?;
                table::side(side, frame, out)
            })
        })
    },
    ..Report::OF_FILES
};
