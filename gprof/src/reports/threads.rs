//! The threads with their times and calls.

use std::io::{self, Write};

use super::report::{Need, Report, Trait};
use crate::question::reports::THREADS;
use crate::sink::json::{Record, write_list};
use crate::sources::side_info::{SideInfo, SideThread};

pub const REPORT: Report = Report {
    name: THREADS,
    help: "Print the threads of runs with GMON_THREADS=1, with their times and calls",
    needs: &[Need::Threads],
    traits: &[Trait::Ours],
    write: |analysis, writer| writer.report(|out, _| render(analysis.side_files, out)),
    json: Some(|analysis, out| {
        let threads = analysis.side_files().iter().flat_map(|side| &side.threads);
        write_list("threads", threads.map(thread), out)
    }),
    ..Report::OF_FILES
};

fn render(sides: &[SideInfo], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Threads:\n")?;
    writeln!(out, "  %       self")?;
    writeln!(out, " time    seconds      calls  threads    number  name")?;
    for thread in sides.iter().flat_map(|side| &side.threads) {
        let SideThread { number, name, threads, time, percent, calls, .. } = thread;
        let number = number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        // A blank says that the number is not known.
        let calls = calls.map_or_else(String::new, |calls| calls.to_string());
        write!(out, "{percent:6.2} {time:10.2} {calls:>10} {threads:8} {number:>9}  ")?;
        out.write_all(if name.is_empty() { b"(no name)" } else { name })?;
        writeln!(out)?;
    }
    Ok(())
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
