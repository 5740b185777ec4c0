//! The call graph: an entry for each function, with its callers above and the functions that it calls below.

use std::io::{self, Write};

use super::numbered_names::NumberedNames;
use crate::model::entries::{Calls, Endpoint, EntryLine, LineKind};
use crate::model::graph::Node;
use crate::model::{Analysis, Clock};
use crate::program::symbols::functions::FunctionId;
use crate::question::options::Options;
use crate::reports::columns::Columns;
use crate::reports::number::{Fixed, General};
use crate::reports::{doubts, errors, estimates, explanations, names, on_demand, stacks};

pub(crate) fn render(analysis: &Analysis<'_>, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let explanation = explanations::graph(analysis.stacks().is_some());
    let title = match (options.traditional, options.brief) {
        (true, false) => &explanation,
        (true, true) => "",
        (false, true) => "\t\t\tCall graph\n\n",
        (false, false) => "\t\t     Call graph (explanation follows)\n\n",
    };
    out.write_all(title.as_bytes())?;
    let called = Called::new(analysis);
    header(analysis, options, called, out)?;
    // The BSDs use a wider column for the time of called functions, and put empty lines between entries.
    let (children, separator) = if options.traditional {
        (11, "\n-----------------------------------------------\n\n")
    } else {
        (7, "-----------------------------------------------\n")
    };
    let numbered_names = NumberedNames::new(analysis);
    let lines = Lines { analysis, options, numbered_names, children, called };
    let mut columns = Columns::default();
    for node in &analysis.graph_entries().shown {
        for line in analysis.entry(*node) {
            lines.write(&line, &mut columns)?;
            columns.take(out)?;
        }
        out.write_all(separator.as_bytes())?;
    }
    if options.traditional {
        return Ok(());
    }
    explanations::explain(&explanation, options, out)?;
    explanations::explain_estimates(analysis, options, out)?;
    explanations::explain_doubts(analysis.has_doubts(), options, out)
}

fn header(analysis: &Analysis<'_>, options: &Options, called: Called, out: &mut dyn Write) -> io::Result<()> {
    granularity(analysis, out)?;
    let columns = if options.traditional { TRADITIONAL_COLUMNS } else { COLUMNS };
    // The title stands in the middle of its column.
    let [before, behind] = [called.some, called.others].map(|width| " ".repeat(width - Called::LEAST));
    for (at, part) in columns.split("called").enumerate() {
        if at > 0 {
            let end = part.find("  ").unwrap_or(0);
            let (title, rest) = part.split_at(end);
            write!(out, "{before}called{title}{behind}{rest}")?;
        } else {
            out.write_all(part.as_bytes())?;
        }
    }
    Ok(())
}

/// The widths of the numbers of calls, in front of a slash or a plus and behind it.
#[derive(Clone, Copy)]
struct Called {
    some: usize,
    others: usize,
}

impl Called {
    /// The widths without estimates.
    const LEAST: usize = 7;

    fn new(analysis: &Analysis<'_>) -> Called {
        let all = || analysis.graph().estimates().all().copied();
        let alone = all().map(|estimate| estimates::number(&estimate).len()).max().unwrap_or(0);
        Called { some: estimates::width(all()).max(Called::LEAST), others: alone.max(Called::LEAST) }
    }
}

/// Writes what one sample stands for.
pub(crate) fn granularity(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (clock, total) = (&analysis.clock, analysis.graph().total());
    write!(out, "\ngranularity: each sample hit covers {} byte(s)", General(clock.granularity))?;
    if total > 0.0 {
        write!(out, " for {:.2}% of {:.2} ", Fixed(Clock::percent_of_one(total)), Fixed(clock.time(total)))?;
        out.write_all(clock.dimension.as_bytes())?;
        out.write_all(b"\n")?;
    } else {
        out.write_all(b" no time propagated\n")?;
    }
    if let Some(stacks) = analysis.stacks() {
        writeln!(out, "children: {}", stacks::summary(stacks))?;
    }
    if let Some(note) = on_demand::note_of_graph(analysis) {
        writeln!(out, "{note}")?;
    }
    out.write_all(stacks::calls(analysis).unwrap_or_default().as_bytes())?;
    out.write_all(b"\n")
}

const COLUMNS: &str = "index % time    self  children    called     name\n";

const TRADITIONAL_COLUMNS: &str = "\x20                                 called/total       parents \n\
index  %time    self descendants  called+self    name    \tindex\n\
\x20                                 called/total       children\n\n";

struct Lines<'a, 'data> {
    analysis: &'a Analysis<'data>,
    options: &'a Options,
    numbered_names: NumberedNames,
    /// The width of the column for the time of called functions.
    children: usize,
    called: Called,
}

impl Lines<'_, '_> {
    fn write(&self, line: &EntryLine, columns: &mut Columns) -> io::Result<()> {
        match line.kind {
            LineKind::Primary(node) => {
                let graph = self.analysis.graph();
                let number = ["[", &graph.rank(node).to_string(), "]"].concat();
                columns.text(&number.as_bytes()[..number.len().min(6)]);
                columns.blanks(7 - number.len().min(6));
                columns.fixed(graph.percent(node), 5, 1);
            }
            LineKind::Caller | LineKind::Callee => columns.blanks(12),
        }
        self.times(line, columns);
        match estimated_calls(line) {
            Some((some, others)) => self.called.estimates(&some, &others, columns),
            None => self.called.counts(line.calls, columns),
        }
        // The name of the entry's own function is less indented.
        columns.blanks(if matches!(line.kind, LineKind::Primary(_)) { 1 } else { 5 });
        match line.endpoint {
            Endpoint::Function(id) if self.lacks_entry(line, id) => {
                let mut name = Vec::new();
                names::write_without_entry(self.analysis, id, &mut name)?;
                columns.text(&name);
            }
            Endpoint::Function(id) => self.numbered_names.write(self.analysis, id, columns)?,
            endpoint => {
                let mut name = Vec::new();
                names::write_endpoint(self.analysis, endpoint, &mut name)?;
                columns.text(&name);
            }
        }
        columns.text(b"\n");
        if let LineKind::Primary(Node::Function(id)) = line.kind
            && self.options.errors
            && (line.error, line.children_error) != (0.0, 0.0)
        {
            self.error(line, self.analysis.graph().rank(Node::Function(id)), columns);
        }
        // In the entry of a cycle as a whole, the lines of members have no line below: see `error`.
        let is_member = line.kind == LineKind::Callee && matches!(line.calls, Calls::Total { .. });
        if let (Some(range), Endpoint::Function(id), false) = (line.range, line.endpoint, is_member) {
            self.range(range, id, columns);
        }
        Ok(())
    }

    /// Whether a line is about a called function that has no entry, because the function took no time and nobody
    /// counted its calls: the machine code contains the call (`-c`), or a stack shows it.
    fn lacks_entry(&self, line: &EntryLine, id: FunctionId) -> bool {
        let is_used = || self.options.unused || self.analysis.graph().is_used(Node::Function(id));
        self.options.rules.marks_missing_entries && line.kind == LineKind::Callee && !is_used()
    }

    /// Writes the standard errors on a line below the function's line. Programs that read the call graph do not expect
    /// another column, but skip lines that end with a number in parentheses. In the entry of a cycle as a whole they do
    /// not skip such lines.
    fn error(&self, line: &EntryLine, rank: u32, columns: &mut Columns) {
        let (error, children) = (errors::text(line.error), errors::text(line.children_error));
        let (width, inclusive) = (self.children + 1, errors::text(line.inclusive_error));
        let blanks = 25 - width;
        columns.text(format!("{error:>20}{children:>width$}{:blanks$}standard error", "").as_bytes());
        if !inclusive.is_empty() {
            columns.text(format!(", inclusive {inclusive}").as_bytes());
        }
        columns.text(format!(" ({rank})\n").as_bytes());
    }

    /// Writes the least and the longest inclusive time on a line below the line with the time. This line ends with a
    /// number in parentheses, as that of the errors does.
    fn range(&self, range: (f64, f64), id: FunctionId, columns: &mut Columns) {
        let rank = self.analysis.graph().rank(Node::Function(id));
        columns.blanks(18);
        columns.text(format!("{} in doubt because of a tail call ({rank})\n", doubts::text(range)).as_bytes());
    }

    fn times(&self, line: &EntryLine, columns: &mut Columns) {
        let width = self.children;
        let Some((own, children)) = line.times else {
            columns.blanks(9 + width);
            return;
        };
        columns.blanks(1);
        columns.fixed(own, 7, 2);
        columns.blanks(1);
        columns.fixed(children, width, 2);
    }
}

/// Returns the estimates of a line, if it has any, in front of a slash or a plus, and behind, with the sign.
pub(super) fn estimated_calls(line: &EntryLine) -> Option<(String, String)> {
    let (estimate, more) = (Some(line.estimate?), line.more_estimate);
    let is_of_function = matches!((line.kind, line.calls), (LineKind::Primary(_), _) | (_, Calls::Total { .. }));
    if matches!(line.calls, Calls::Total { inner: 1.., .. }) {
        // Other runs counted the calls of the function by itself.
        return None;
    }
    let others = match more {
        Some(by_itself) if is_of_function => format!("+{}", estimates::number(&by_itself)),
        // Without an interval there is no number to be a part of another one.
        Some(all) if estimate.is_some_and(|some| some.interval.is_some()) => format!("/{}", estimates::number(&all)),
        _ => String::new(),
    };
    Some((estimates::cell(estimate), others))
}

/// Returns the calls of a line, as in the column *called*.
pub(crate) fn called(line: &EntryLine) -> String {
    match (estimated_calls(line), line.calls) {
        (Some((some, others)), _) => some + &others,
        (None, Calls::None) => String::new(),
        (None, Calls::WithinCycle(calls) | Calls::Total { outer: calls, inner: 0 }) => calls.to_string(),
        (None, Calls::Total { outer, inner }) => format!("{outer}+{inner}"),
        (None, Calls::Part { some, all }) => format!("{some}/{all}"),
    }
}

impl Called {
    /// Writes counted calls.
    fn counts(self, calls: Calls, columns: &mut Columns) {
        let (some, sign, others) = match calls {
            Calls::None => return columns.blanks(2 + self.some + self.others),
            Calls::WithinCycle(calls) | Calls::Total { outer: calls, inner: 0 } => {
                columns.blanks(1);
                columns.right(calls, self.some);
                return columns.blanks(1 + self.others);
            }
            Calls::Total { outer, inner } => (outer, b"+", inner),
            Calls::Part { some, all } => (some, b"/", all),
        };
        columns.blanks(1);
        columns.right(some, self.some);
        columns.text(sign);
        columns.left(others, self.others);
    }

    /// Writes estimated calls.
    fn estimates(self, some: &str, others: &str, columns: &mut Columns) {
        let (some_width, width) = (1 + self.some, 1 + self.others);
        columns.text(format!("{some:>some_width$}{others:width$}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_itself_stand_behind_a_plus() {
        let text = |outer, inner| {
            let (mut columns, mut out) = (Columns::default(), Vec::new());
            Called { some: 7, others: 7 }.counts(Calls::Total { outer, inner }, &mut columns);
            columns.take(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(3, 0), "       3        ");
        assert_eq!(text(0, 5), "       0+5      ");
        assert_eq!(text(12_345_678, 12_345_678), " 12345678+12345678");
    }
}
