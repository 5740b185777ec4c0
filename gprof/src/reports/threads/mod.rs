//! The threads with their times and calls.

mod table;
mod text;

use super::report::{Need, Report, Trait};
use super::table::more;
use crate::model::Analysis;
use crate::question::reports::THREADS;
use crate::sink::json::{Record, write_list};
use crate::sources::side_info::SideThread;

pub const REPORT: Report = Report {
    name: THREADS,
    help: "Print the threads of runs with GMON_THREADS=1, with their times and calls",
    needs: &[Need::Threads],
    traits: &[Trait::Ours],
    write: |analysis, writer| {
        let (threads, left_out) = shown(analysis);
        writer.report(|out, frame| {
            match frame {
                None => text::render(&threads, out),
                Some(frame) => table::render(&threads, frame, out),
            }?;
            more::render(left_out, "thread", analysis.options, out)
        })
    },
    json: Some(|analysis, out| write_list("threads", shown(analysis).0.into_iter().map(thread), out)),
    ..Report::OF_FILES
};

/// The threads of each image with the most time, as many as `--top` says, and the number of the others.
fn shown<'a>(analysis: &'a Analysis<'_>) -> (Vec<&'a SideThread>, usize) {
    let top = analysis.options.limit.top.unwrap_or(usize::MAX);
    let threads = || analysis.side_files().iter().map(|side| &side.threads);
    let shown: Vec<&SideThread> = threads().flat_map(|threads| threads.iter().take(top)).collect();
    let left_out = threads().map(Vec::len).sum::<usize>() - shown.len();
    (shown, left_out)
}

fn thread(thread: &SideThread) -> Record<'_> {
    vec![
        ("name", thread.name.as_slice().into()),
        ("number", thread.number.into()),
        ("threads", thread.threads.into()),
        ("percent", thread.percent.into()),
        ("self", thread.time.into()),
        ("calls", thread.calls.into()),
    ]
}
