//! Reads which calls were counted on demand, and when.

use alloc::vec::Vec;
use core::ops::Range;

use super::items::place_near;
use crate::Part;
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::encode::side_file::Place;
use crate::side_file::content::{Added, Refused, SideFile};
use crate::side_file::selections::Selection;

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
    let functions = functions(side, content)?;
    let intervals = intervals(content)?;
    Ok(Selection { pattern, functions: functions.into(), intervals: intervals.into() })
}

/// Reads functions, each of which is above the one before.
fn functions(side: &SideFile, content: &mut Cursor<'_>) -> Result<Vec<Place>> {
    let number = content.number()?;
    let mut functions: Vec<Place> = Vec::with_capacity(possible(number, content));
    let mut address = 0;
    for _ in 0..number {
        let offset = content.offset();
        let function = place_near(content, &mut address)?;
        side.code_place(function).map_err(|refused| refused.at(offset))?;
        if functions.last().is_some_and(|last| *last >= function) {
            return Err(Refused(Part::CountedFunction, function.address).at(offset));
        }
        functions.push(function);
    }
    Ok(functions)
}

/// Reads intervals, each of which begins after the one before.
fn intervals(content: &mut Cursor<'_>) -> Result<Vec<Range<u64>>> {
    let number = content.number()?;
    let mut intervals = Vec::with_capacity(possible(number, content));
    let mut now = 0;
    for _ in 0..number {
        let offset = content.offset();
        let (gap, length) = (content.number()?, content.number()?);
        let start = later(now, gap).map_err(|refused| refused.at(offset))?;
        now = later(start, length).map_err(|refused| refused.at(offset))?;
        intervals.push(start..now);
    }
    Ok(intervals)
}

/// The time that is so many nanoseconds after another one.
fn later(time: u64, nanoseconds: u64) -> Added<u64> {
    time.checked_add(nanoseconds).ok_or(Refused(Part::Interval, nanoseconds))
}

/// How many items of two numbers a content can have, if it claims so many.
fn possible(claimed: u64, content: &Cursor<'_>) -> usize {
    usize::try_from(claimed.min(content.left() >> 1)).unwrap_or(0)
}
