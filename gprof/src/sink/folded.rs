//! Stacks as lines: the frames from the outermost one, separated by semicolons, a space, and the samples.
//!
//! The format is that of Brendan Gregg's stackcollapse scripts and of `flamegraph.pl`. It has no escapes.

use std::io::{self, Write};

/// The name of a frame, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrameName(String);

impl FrameName {
    /// Returns the name of a frame. The name must have no control characters. A semicolon would be the end of the
    /// frame; stackcollapse-perf.pl, whose output all readers know, writes a colon as well.
    pub(crate) fn new(name: &str) -> FrameName {
        FrameName(name.replace(';', ":"))
    }
}

/// Writes a stack with its samples.
pub(crate) fn write_stack<'a>(
    frames: impl Iterator<Item = &'a FrameName>,
    samples: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (at, FrameName(name)) in frames.enumerate() {
        out.write_all(if at == 0 { b"" } else { b";" })?;
        out.write_all(name.as_bytes())?;
    }
    writeln!(out, " {samples}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_frame() {
        let frames = ["main", "a;b", "c d"].map(FrameName::new);
        let mut out = Vec::new();
        write_stack(frames.iter(), 7, &mut out).unwrap();
        assert_eq!(out, b"main;a:b;c d 7\n");
    }
}
