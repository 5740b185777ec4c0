//! Orders of functions in the formats of linkers and binary optimizers.
//!
//! All formats have names from the symbol table. Sections are those that compilers make with `-ffunction-sections`: gcc
//! and clang put functions that they think start the program, run often, or run rarely, in sections with a prefix of
//! their own.

use std::io::{self, Write};

use super::report::{Need, Report, Trait, Value};
use crate::model::Analysis;
use crate::question::reports::LINKER_ORDER;

pub const REPORT: Report = Report {
    name: LINKER_ORDER,
    help: "Print an order of the functions that ran, or their calls, for this program",
    value: Value::OneOf("READER", &READERS),
    needs: &[Need::Graph],
    traits: &[Trait::Ours, Trait::TextOnly, Trait::OrderOfFunctions, Trait::CallsOneByOne],
    write: |analysis, writer| writer.list(|out| render(analysis, out)),
    ..Report::FOR_LINKERS
};

/// The programs that read an order, with the option by which each gets the order.
const READERS: [(&str, &str); 5] = [
    (LLD_CALL_GRAPH, "lld, option --call-graph-ordering-file"),
    ("symbols", "lld, option --symbol-ordering-file"),
    (GOLD, "gold, option --section-ordering-file"),
    (LD, "GNU ld 2.43 and later, option --section-ordering-file"),
    ("bolt", "llvm-bolt, option --function-order"),
];
const LLD_CALL_GRAPH: &str = "lld-callgraph";
const GOLD: &str = "gold";
const LD: &str = "ld";

/// The beginnings of the names of a function's section.
const SECTIONS: [&str; 4] = [".text.", ".text.hot.", ".text.startup.", ".text.unlikely."];

fn render(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    match analysis.options.reports.word(LINKER_ORDER) {
        Some(LLD_CALL_GRAPH) => calls(analysis, out),
        Some(GOLD) => each_function(analysis, |name| {
            SECTIONS.iter().try_for_each(|section| {
                out.write_all(section.as_bytes())?;
                out.write_all(name)?;
                out.write_all(b"\n")
            })
        }),
        Some(LD) => script(analysis, out),
        _ => each_function(analysis, |name| {
            out.write_all(name)?;
            out.write_all(b"\n")
        }),
    }
}

fn each_function(analysis: &Analysis<'_>, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    analysis.linker_order().functions.iter().map(|id| analysis.functions[*id].name).try_for_each(each)
}

fn calls(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for arc in &analysis.linker_order().calls {
        out.write_all(analysis.functions[arc.parent].name)?;
        out.write_all(b" ")?;
        out.write_all(analysis.functions[arc.child].name)?;
        writeln!(out, " {}", arc.count)?;
    }
    Ok(())
}

fn script(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, ".text : {{")?;
    each_function(analysis, |name| {
        for section in SECTIONS {
            write!(out, "  *({section}")?;
            out.write_all(name)?;
            writeln!(out, ")")?;
        }
        Ok(())
    })?;
    writeln!(out, "}}")
}
