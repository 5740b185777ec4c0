//! The names with numbers that the call graph shows, each formatted once. A function's name appears in its own entry,
//! and in the entries of all its callers and all functions that it calls.

use std::io::{self, Write};

use crate::model::Analysis;
use crate::program::symbols::functions::FunctionId;
use crate::reports::columns::Columns;
use crate::reports::names;

/// The largest number of bytes of all names that are kept.
const ROOM: usize = 64 << 20;

/// A report keeps no names if less than one function in this number has an entry: most names would never be used.
const SHORT_REPORT: usize = 16;

/// The largest length of a name that is kept. A longer name is formatted each time, so that it counts each time for the
/// bound on long names (see [`crate::program::symbols::functions::Functions::written`]).
const LONGEST: usize = 1024;

/// The names of all functions that have arcs.
pub(crate) struct NumberedNames {
    text: Vec<u8>,
    /// For each function, the end of its name in `text`. The name is empty if the function has no arcs, or if there is
    /// no room.
    ends: Vec<usize>,
}

impl NumberedNames {
    pub(crate) fn new(analysis: &Analysis<'_>) -> NumberedNames {
        let graph = analysis.graph();
        let mut numbered_names = NumberedNames { text: Vec::new(), ends: Vec::with_capacity(analysis.functions.len()) };
        if analysis.graph_entries().shown.len() < analysis.functions.len() / SHORT_REPORT {
            numbered_names.ends.resize(analysis.functions.len(), 0);
            return numbered_names;
        }
        for id in analysis.functions.ids() {
            let takes_part = !graph.parents(id).is_empty() || !graph.children(id).is_empty();
            if takes_part && numbered_names.text.len() < ROOM {
                let start = numbered_names.text.len();
                // Writing to memory does not fail.
                let _ = names::write_numbered(analysis, id, &mut numbered_names.text);
                if numbered_names.text.len() - start > LONGEST {
                    numbered_names.text.truncate(start);
                }
            }
            numbered_names.ends.push(numbered_names.text.len());
        }
        numbered_names
    }

    /// Appends the name of a function.
    pub(crate) fn write(&self, analysis: &Analysis<'_>, id: FunctionId, columns: &mut Columns) -> io::Result<()> {
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
