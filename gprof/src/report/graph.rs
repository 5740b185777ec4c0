//! The call graph: an entry for each function, with its callers above and what it calls below.

use std::io::{self, Write};

use super::entries::{self, Calls, Line, Place};
use super::{blurbs, errors};
use crate::analysis::Analysis;
use crate::number::{Fixed, General};
use crate::options::Options;

pub(super) fn render(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let title = match (options.traditional, options.brief) {
        (true, false) => blurbs::GRAPH,
        (true, true) => "",
        (false, true) => "\t\t\tCall graph\n\n",
        (false, false) => "\t\t     Call graph (explanation follows)\n\n",
    };
    out.write_all(title.as_bytes())?;
    header(analysis, options, out)?;
    // The BSDs give the time of what was called more room, and set entries apart.
    let (children, separator) = if options.traditional {
        (11, "\n-----------------------------------------------\n\n")
    } else {
        (7, "-----------------------------------------------\n")
    };
    let lines = Lines { analysis, options, children };
    for node in &analysis.calls.entries {
        for line in entries::lines(analysis, *node) {
            lines.write(&line, out)?;
        }
        out.write_all(separator.as_bytes())?;
    }
    if options.traditional { Ok(()) } else { blurbs::explain(blurbs::GRAPH, options, out) }
}

fn header(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    granularity(analysis, out)?;
    out.write_all(match (options.traditional, options.errors) {
        (true, _) => TRADITIONAL_COLUMNS,
        (false, true) => COLUMNS_WITH_ERRORS,
        (false, false) => COLUMNS,
    })
}

/// What one sample stands for.
pub(super) fn granularity(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (clock, total) = (&analysis.clock, analysis.calls.graph.total());
    write!(out, "\ngranularity: each sample hit covers {} byte(s)", General(clock.granularity))?;
    if total > 0.0 {
        write!(out, " for {:.2}% of {:.2} ", Fixed(100.0 / total), Fixed(total / clock.rate))?;
        out.write_all(clock.dimension.as_bytes())?;
        out.write_all(b"\n\n")
    } else {
        out.write_all(b" no time propagated\n\n")
    }
}

const COLUMNS: &[u8] = b"index % time    self  children    called     name\n";

const COLUMNS_WITH_ERRORS: &[u8] = b"index % time    self   error  children    called     name\n";

const TRADITIONAL_COLUMNS: &[u8] = b"\x20                                 called/total       parents \n\
index  %time    self descendants  called+self    name    \tindex\n\
\x20                                 called/total       children\n\n";

struct Lines<'a, 'data> {
    analysis: &'a Analysis<'data>,
    options: &'a Options,
    /// The width of the time of what was called.
    children: usize,
}

impl Lines<'_, '_> {
    fn write(&self, line: &Line, out: &mut dyn Write) -> io::Result<()> {
        match line.place {
            Place::Main(node) => {
                let graph = &self.analysis.calls.graph;
                write!(out, "{:6.6} {:5.1}", format!("[{}]", graph.rank(node)), entries::percent(graph, node))?;
            }
            Place::Above | Place::Below => write!(out, "{:12}", "")?,
        }
        self.times(line, out)?;
        calls(line.calls, out)?;
        // The name of the entry's own function stands out to the left.
        out.write_all(if matches!(line.place, Place::Main(_)) { b" " } else { b"     " })?;
        entries::write_name(self.analysis, self.options, line.whose, out)?;
        out.write_all(b"\n")
    }

    fn times(&self, line: &Line, out: &mut dyn Write) -> io::Result<()> {
        let (clock, width) = (&self.analysis.clock, self.children);
        let error = if self.options.errors { 1 + errors::WIDTH } else { 0 };
        let Some((own, children)) = line.times else {
            return write!(out, "{:blanks$}", "", blanks = 9 + error + width);
        };
        write!(out, " {:7.2}", Fixed(own / clock.rate))?;
        if self.options.errors {
            write!(out, " {:>width$}", errors::text(line.error, clock), width = errors::WIDTH)?;
        }
        write!(out, " {:width$.2}", Fixed(children / clock.rate))
    }
}

fn calls(calls: Calls, out: &mut dyn Write) -> io::Result<()> {
    match calls {
        Calls::Nothing => write!(out, "{:16}", ""),
        Calls::Some(calls) | Calls::All { outer: calls, inner: 0 } => write!(out, " {calls:7} {:7}", ""),
        Calls::All { outer, inner } => write!(out, " {outer:7}+{inner:<7}"),
        Calls::Part { some, all } => write!(out, " {some:7}/{all:<7}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_itself_stand_behind_a_plus() {
        let text = |outer, inner| {
            let mut out = Vec::new();
            calls(Calls::All { outer, inner }, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(3, 0), "       3        ");
        assert_eq!(text(0, 5), "       0+5      ");
        assert_eq!(text(12_345_678, 12_345_678), " 12345678+12345678");
    }
}
