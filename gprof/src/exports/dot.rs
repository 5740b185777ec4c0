//! The call graph in the language of Graphviz, with the labels that gprof2dot writes, for programs that read these.

use std::io::{self, Write};

use super::colors;
use crate::model::{Analysis, CallEstimate, DrawnCall, DrawnFunction};
use crate::program::symbols::sources::base;
use crate::reports::{estimates, on_demand, warnings};
use crate::sink::dot::{LINE_END, identifiers, part};

const HEAD: &str = "digraph {
\tgraph [fontname=\"Helvetica,Arial,sans-serif\", nodesep=0.125, ranksep=0.25];
\tnode [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, height=0, shape=box, style=filled, width=0];
\tedge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10];
";

pub(super) fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    let graph = analysis.drawn_graph();
    let names = identifiers(graph.functions.iter().map(|function| analysis.name_with_location(function.id)));
    out.write_all(HEAD.as_bytes())?;
    let estimated = match on_demand::lacks_times(analysis) {
        true => "times of called functions are not known",
        false => "times of called functions are estimated from call counts",
    };
    let warnings = warnings::of(analysis).into_iter().map(|warning| part(warning.as_bytes()));
    let note = on_demand::note(analysis).map(|note| part(note.as_bytes()));
    let estimated = analysis.stacks().is_none().then(|| estimated.to_owned());
    let label: Vec<String> = warnings.chain(note).chain(estimated).collect();
    if !label.is_empty() {
        writeln!(out, "\tlabel=\"{}\";", label.join(LINE_END))?;
    }
    for (function, node) in graph.functions.iter().zip(&names) {
        write_function(analysis, function, node, out)?;
    }
    for call in &graph.calls {
        write_call(call, &names, out)?;
    }
    out.write_all(b"}\n")
}

fn write_function(
    analysis: &Analysis<'_>,
    function: &DrawnFunction,
    node: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let image = analysis.images().get(analysis.function(function.id).image);
    let path = image.map(|image| image.path.as_os_str().as_encoded_bytes()).unwrap_or_default();
    let (module, name) = (part(base(path)), part(&analysis.name_with_location(function.id)));
    let DrawnFunction { inclusive, own, cycle, .. } = function;
    let calls = times(function.calls, function.estimate);
    let color = colors::of_share(inclusive / 100.0);
    let (fill, text) = (colors::hex(color), colors::hex(colors::text_on(color)));
    write!(out, "\t{node} [label=\"{module}\\n{name}\\n{inclusive:.2}%\\n({own:.2}%)\\n{calls}\", ")?;
    if let Some(cycle) = cycle {
        write!(out, "tooltip=\"a member of cycle {}\", peripheries=2, ", cycle + 1)?;
    }
    writeln!(out, "color=\"{fill}\", fontcolor=\"{text}\"];")
}

fn write_call(call: &DrawnCall, names: &[String], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "\t{} -> {} [label=\"", names[call.caller], names[call.callee])?;
    let share = call.inclusive.unwrap_or_default() / 100.0;
    let width = 0.5 + 4.0 * share.clamp(0.0, 1.0);
    // Light lines cannot be seen on white.
    let color = colors::hex(colors::of_share(0.25 + 0.75 * share));
    match call.inclusive {
        Some(inclusive) => write!(out, "{inclusive:.2}%\\n{}\"", times(call.calls, call.estimate))?,
        None => write!(out, "{}\", style=dashed", times(call.calls, call.estimate))?,
    }
    let arrow = 0.5 * width.sqrt();
    writeln!(out, ", color=\"{color}\", penwidth={width:.2}, arrowsize={arrow:.2}];")
}

/// Returns a number of calls. Stacks show calls that no counter saw.
fn times(calls: u64, estimate: Option<CallEstimate>) -> String {
    match estimate {
        Some(estimate) => estimates::with_unit(&estimate, "×"),
        None if calls == 0 => "?×".to_owned(),
        None => format!("{calls}×"),
    }
}
