//! The threads as text.

use std::io::{self, Write};

use crate::sources::side_info::SideThread;

pub(crate) fn render(threads: &[&SideThread], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Threads:\n")?;
    writeln!(out, "  %       self")?;
    writeln!(out, " time    seconds      calls  threads    number  name")?;
    for thread in threads {
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
