//! Notes about samples without whole stacks, at the head of every output.

use gmon::side_file::{CutReason, GENERATED};

use super::number::{Fixed, counted};
use crate::model::{Analysis, CutStacks};
use crate::sources::side_info::{CutWords, cut_words};

/// The number of reasons that have a line of their own.
const MOST_REASONS: usize = 3;

/// Returns one line with the number of the samples and a line for each of the most frequent reasons, which says what
/// helps. There are none if nearly all samples have whole stacks.
pub(crate) fn notes(analysis: &Analysis<'_>) -> Vec<String> {
    let Some(cut) = analysis.cut_stacks().filter(|cut| cut.are_many()) else { return Vec::new() };
    let mut notes = vec![summary(cut)];
    // The first image is the program.
    let lacks_index = analysis.images().first().is_some_and(|program| program.lacks_unwind_index);
    notes.extend(cut.reasons.iter().take(MOST_REASONS).map(|(reason, samples)| line(*reason, *samples, lacks_index)));
    let others = cut.reasons.iter().skip(MOST_REASONS).fold(0_u64, |sum, (_, samples)| sum.saturating_add(*samples));
    if others > 0 {
        notes.push(format!("{}: other reasons, which gprof -i lists", counted(others, "sample")));
    }
    if cut.at_generated > 0 {
        notes.push(format!(
            "{} of them: cut at code that the program generated while it ran ({}), which keeps no frame pointer",
            counted(cut.at_generated, "sample"),
            String::from_utf8_lossy(GENERATED)
        ));
    }
    notes
}

/// The number of samples, and what it means for the reports.
fn summary(cut: &CutStacks) -> String {
    let (number, all) = (cut.number(), counted(cut.samples, "sample"));
    let percent = Fixed(100.0 * number as f64 / cut.samples.max(1) as f64);
    format!(
        "{number} of {all} ({percent:.1} %) without a whole stack: callers lack their time, and functions whose callers were cut off \
         look like outermost functions"
    )
}

/// A reason, with the number of its samples and what helps.
fn line(reason: CutReason, samples: u64, lacks_index: bool) -> String {
    let samples = counted(samples, "sample");
    let Some(CutWords { text, help, .. }) = cut_words(reason) else {
        return format!("{samples}: reason {}", reason.code());
    };
    match help {
        _ if reason == CutReason::NO_TABLE && lacks_index => {
            format!("{samples}: {text}. The program has no index of its unwind tables: link it with -Wl,--eh-frame-hdr")
        }
        "" => format!("{samples}: {text}"),
        _ => format!("{samples}: {text}. {help}"),
    }
}
