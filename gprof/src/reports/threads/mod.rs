//! The threads with their times and calls.

mod table;
mod text;

use super::report::{Need, Report, Trait};
use crate::question::reports::THREADS;
use crate::sink::json::{Record, write_list};
use crate::sources::side_info::SideThread;

pub const REPORT: Report = Report {
    name: THREADS,
    help: "Print the threads of runs with GMON_THREADS=1, with their times and calls",
    needs: &[Need::Threads],
    traits: &[Trait::Ours],
    write: |analysis, writer| {
        writer.report(|out, frame| match frame {
            None => text::render(analysis.side_files, out),
            Some(frame) => table::render(analysis.side_files, frame, out),
        })
    },
    json: Some(|analysis, out| {
        let threads = analysis.side_files().iter().flat_map(|side| &side.threads);
        write_list("threads", threads.map(thread), out)
    }),
    ..Report::OF_FILES
};

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
