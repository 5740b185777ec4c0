//! Copies standard input to standard output line by line, with each line that is a mangled name demangled.
use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().split(b'\n') {
        out.write_all(&gmon_demangle::demangle(&line?))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
