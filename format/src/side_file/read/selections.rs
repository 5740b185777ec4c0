//! Reads which calls were counted on demand, and when.

use super::items::place_near;
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::side_file::content::SideFile;
use crate::side_file::selections::{Ordered, Selection};

/// Reads a part. An empty part says that nobody demanded calls.
pub(super) fn read(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    // A selection has at least three numbers, each of which ends with a byte below 0x80.
    let ends = content.rest().iter().filter(|byte| **byte < 0x80).count();
    side.set_on_demand();
    side.selections.get_or_insert_default().reserve(ends / 3);
    while content.left() > 0 {
        let selection = selection(side, content)?;
        side.selections.get_or_insert_default().push(selection);
    }
    Ok(())
}

fn selection(side: &SideFile, content: &mut Cursor<'_>) -> Result<Selection> {
    let pattern = content.string()?.into();
    let mut ordered = Ordered::default();
    let functions = content.number()?;
    ordered.functions.reserve_exact(possible(functions, content));
    let mut address = 0;
    for _ in 0..functions {
        let offset = content.offset();
        let function = place_near(content, &mut address)?;
        let known = side.code_place(function).and_then(|()| ordered.push_function(function));
        known.map_err(|refused| refused.at(offset))?;
    }
    let intervals = content.number()?;
    ordered.intervals.reserve_exact(possible(intervals, content));
    for _ in 0..intervals {
        let offset = content.offset();
        let (gap, length) = (content.number()?, content.number()?);
        ordered.push_interval(gap, length).map_err(|refused| refused.at(offset))?;
    }
    Ok(Selection { pattern, functions: ordered.functions.into(), intervals: ordered.intervals.into() })
}

/// How many items of two numbers a content can have, if it claims so many.
fn possible(claimed: u64, content: &Cursor<'_>) -> usize {
    usize::try_from(claimed.min(content.left() >> 1)).unwrap_or(0)
}
