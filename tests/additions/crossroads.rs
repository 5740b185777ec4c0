//! An invented report: the functions that more than one function calls.

use std::io::{self, Write};

use super::report::{Need, Report, Trait};
use crate::model::Analysis;
use crate::model::entries::LineKind;
use crate::model::graph::Node;
use crate::program::symbols::functions::FunctionId;
use crate::question::reports::Shows;
use crate::sink::json::write_list;

pub const REPORT: Report = Report {
    name: "crossroads",
    help: "Print the functions that more than one function calls",
    needs: &[Need::Graph],
    shows: Shows { all_functions: true, ..Report::OF_FUNCTIONS.shows },
    traits: &[Trait::Ours, Trait::Functions],
    write: |analysis, writer| writer.report(|out, _| render(analysis, out)),
    json: Some(|analysis, out| {
        let record = |(id, callers): (FunctionId, usize)| vec![("function", id.index().into()), ("callers", callers.into())];
        write_list("crossroads", crossroads(analysis).map(record), out)
    }),
    mentions: |analysis, mention| crossroads(analysis).for_each(|(id, _)| mention(id)),
    ..Report::OF_FUNCTIONS
};

/// The functions that more than one function calls, with the number of callers.
fn crossroads(analysis: &Analysis<'_>) -> impl Iterator<Item = (FunctionId, usize)> {
    analysis.entries().filter_map(|node| {
        let Node::Function(id) = node else { return None };
        let callers = analysis.entry(node).iter().filter(|line| line.kind == LineKind::Caller).count();
        (callers > 1).then_some((id, callers))
    })
}

fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Crossroads:\n\n callers  name")?;
    for (id, callers) in crossroads(analysis) {
        write!(out, "{callers:>8}  ")?;
        out.write_all(&analysis.name(id))?;
        writeln!(out)?;
    }
    Ok(())
}
