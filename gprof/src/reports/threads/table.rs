//! The threads as a table.

use std::io::{self, Write};

use crate::reports::table::cells::Cells;
use crate::reports::table::drawing::{Frame, RowSink, RowStyle, draw};
use crate::reports::table::widths::{column, name_column, optional_column};
use crate::sources::side_info::SideThread;

pub(crate) fn render(threads: &[&SideThread], frame: Frame, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Threads:\n")?;
    let columns = [
        column("%\ntime"),
        column("self\nseconds"),
        column("calls"),
        optional_column(1, "threads"),
        optional_column(2, "number"),
        name_column("name"),
    ];
    let hand_over = |_, take: RowSink<'_>| {
        let mut cells = Cells::default();
        for thread in threads {
            cells.clear();
            fill(&mut cells, thread);
            take(RowStyle::default(), &cells)?;
        }
        Ok(())
    };
    draw(&columns, hand_over, frame, out)
}

fn fill(cells: &mut Cells, thread: &SideThread) {
    cells.fixed(thread.percent, 2);
    cells.fixed(thread.time, 2);
    match thread.calls {
        Some(calls) => cells.count(calls),
        None => cells.blank(),
    }
    cells.count(thread.threads);
    match thread.number {
        Some(number) => cells.count(number),
        None => cells.text("-"),
    }
    let name = if thread.name.is_empty() { b"(no name)" } else { thread.name.as_slice() };
    cells.name(|columns| columns.text(name));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Terminal;

    #[test]
    fn what_is_not_known_is_blank() {
        let known = SideThread {
            number: Some(17),
            name: b"work\ner".to_vec(),
            threads: 1,
            time: 1.5,
            percent: 75.0,
            calls: Some(2000),
            ..SideThread::default()
        };
        let unknown = SideThread { threads: 3, time: 0.5, percent: 25.0, ..SideThread::default() };
        let mut out = Vec::new();
        render(&[&known, &unknown], Frame::of_width(&Terminal::default(), None), &mut out).unwrap();
        let expected = "\
Threads:

┌───────┬─────────┬───────┬─────────┬────────┬───────────┐
│     % ┆    self ┆ calls ┆ threads ┆ number ┆ name      │
│  time ┆ seconds ┆       ┆         ┆        ┆           │
╞═══════╪═════════╪═══════╪═════════╪════════╪═══════════╡
│ 75.00 ┆    1.50 ┆  2000 ┆       1 ┆     17 ┆ work\\ner  │
│ 25.00 ┆    0.50 ┆       ┆       3 ┆      - ┆ (no name) │
└───────┴─────────┴───────┴─────────┴────────┴───────────┘
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
