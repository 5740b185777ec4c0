//! Which functions a report is about.

use std::collections::HashSet;

use crate::functions::{FunctionId, Functions};

/// Functions that the profiling runtime itself consists of: no report is about them.
const RUNTIME: [&[u8]; 6] = [b"_gprof_mcount", b"mcount", b"_mcount", b"__mcount", b"__mcount_internal", b"__mcleanup"];

/// A choice of functions: those named, or all but those named.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Whether any function was named to be in.
    only_included: bool,
    included: Vec<bool>,
    excluded: Vec<bool>,
}

impl Selection {
    /// Everything but the profiling runtime.
    #[must_use]
    pub fn program(functions: &Functions<'_>) -> Selection {
        Selection {
            only_included: false,
            included: vec![false; functions.len()],
            excluded: functions.as_slice().iter().map(|function| RUNTIME.contains(&function.name)).collect(),
        }
    }

    /// Functions of these names, or, when no name is given, all but those of other names. Names that no function has
    /// count as names.
    #[must_use]
    pub fn by_names(functions: &Functions<'_>, included: &HashSet<&[u8]>, excluded: &HashSet<&[u8]>) -> Selection {
        let of = |names: &HashSet<&[u8]>| functions.as_slice().iter().map(|f| names.contains(f.name)).collect();
        Selection { only_included: !included.is_empty(), included: of(included), excluded: of(excluded) }
    }

    /// Whether a function was named to be in.
    #[must_use]
    pub fn includes(&self, id: FunctionId) -> bool {
        self.included[id.index()]
    }

    /// Whether a function was named to be out, and not to be in.
    #[must_use]
    pub fn excludes(&self, id: FunctionId) -> bool {
        self.excluded[id.index()] && !self.includes(id)
    }

    /// Whether a function is chosen: named to be in; or, where none was named so, not named to be out.
    #[must_use]
    pub fn chooses(&self, id: FunctionId) -> bool {
        self.includes(id) || (!self.only_included && !self.excluded[id.index()])
    }
}
