//! Names with numbers as the call graph shows them, each put together once.
//!
//! A function's name stands in its entry and in those of all its callers and of all that it calls.

use std::io::{self, Write};

use super::columns::Columns;
use super::names;
use crate::analysis::Analysis;
use crate::symbols::functions::FunctionId;

/// How many bytes of them are kept at most.
const ROOM: usize = 64 << 20;

/// Longer ones are put together each time: they do not count for nothing (see [`crate::symbols::functions::Functions::written`]).
const LONGEST: usize = 1024;

/// The names of all functions that take part in calls.
pub(super) struct Labels {
    text: Vec<u8>,
    /// Where the name of each function ends in `text`. One that finds no room there, or takes no part, is empty.
    ends: Vec<usize>,
}

impl Labels {
    pub(super) fn new(analysis: &Analysis<'_>) -> Labels {
        let graph = &analysis.calls.graph;
        let mut labels = Labels { text: Vec::new(), ends: Vec::with_capacity(analysis.functions.len()) };
        for id in analysis.functions.ids() {
            let takes_part = !graph.parents(id).is_empty() || !graph.children(id).is_empty();
            if takes_part && labels.text.len() < ROOM {
                let start = labels.text.len();
                // Writing to memory does not fail.
                let _ = names::write_numbered(analysis, id, &mut labels.text);
                if labels.text.len() - start > LONGEST {
                    labels.text.truncate(start);
                }
            }
            labels.ends.push(labels.text.len());
        }
        labels
    }

    /// Adds the name of a function.
    pub(super) fn write(&self, analysis: &Analysis<'_>, id: FunctionId, columns: &mut Columns) -> io::Result<()> {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        let known = &self.text[start..self.ends[id.index()]];
        if !known.is_empty() {
            columns.text(known);
            return Ok(());
        }
        let mut text = Vec::new();
        names::write_numbered(analysis, id, &mut text as &mut dyn Write)?;
        columns.text(&text);
        Ok(())
    }
}
