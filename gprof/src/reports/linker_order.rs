//! Orders of functions in the formats of linkers and binary optimizers.
//!
//! All formats have names from the symbol table. Sections are those that compilers make with `-ffunction-sections`: gcc and
//! clang put functions that they think start the program, run often, or run rarely, in sections with a prefix of their own.

use std::io::{self, Write};

use crate::model::Analysis;
use crate::question::orderer::Orderer;

/// The beginnings of the names of a function's section.
const SECTIONS: [&str; 4] = [".text.", ".text.hot.", ".text.startup.", ".text.unlikely."];

pub(crate) fn render(analysis: &Analysis<'_>, orderer: Orderer, out: &mut dyn Write) -> io::Result<()> {
    match orderer {
        Orderer::LldCallGraph => calls(analysis, out),
        Orderer::Symbols | Orderer::Bolt => each_function(analysis, |name| {
            out.write_all(name)?;
            out.write_all(b"\n")
        }),
        Orderer::Gold => each_function(analysis, |name| {
            SECTIONS.iter().try_for_each(|section| {
                out.write_all(section.as_bytes())?;
                out.write_all(name)?;
                out.write_all(b"\n")
            })
        }),
        Orderer::Ld => script(analysis, out),
    }
}

fn each_function(analysis: &Analysis<'_>, each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    analysis.linker_order.functions.iter().map(|id| analysis.functions[*id].name).try_for_each(each)
}

fn calls(analysis: &Analysis<'_>, out: &mut dyn Write) -> io::Result<()> {
    for arc in &analysis.linker_order.calls {
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
