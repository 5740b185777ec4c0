//! Reads calls that were estimated from windows.

use super::items::place_near;
use crate::Part;
use crate::decode::Result;
use crate::decode::cursor::Cursor;
use crate::encode::side_file::{Place, unzigzag};
use crate::side_file::content::{Refused, SideFile};
use crate::side_file::estimates::{EstimatedCalls, Windows};

/// The number of numbers in the shortest row.
const NUMBERS: usize = 7;

/// Reads a part: the windows, and then rows.
pub(super) fn read(side: &mut SideFile, content: &mut Cursor<'_>) -> Result<()> {
    let offset = content.offset();
    let [share, number, covered, time] = [content.number()?, content.number()?, content.number()?, content.number()?];
    side.begin_estimates(Windows { share, number, covered, time }).map_err(|refused| refused.at(offset))?;
    // Each number ends with a byte below 0x80.
    let ends = content.rest().iter().filter(|byte| **byte < 0x80).count();
    if let Some(estimates) = &mut side.estimates {
        estimates.reserve(ends / NUMBERS);
    }
    let (mut from, mut to) = (0, 0);
    while content.left() > 0 {
        let offset = content.offset();
        let caller = caller_near(content, &mut from)?;
        let callee = place_near(content, &mut to)?;
        let (seen, calls) = (content.number()?, content.number()?);
        let (high, low) = (content.number()?, content.number()?);
        let variance = u128::from(high) << u64::BITS | u128::from(low);
        let row = EstimatedCalls { callee, caller, seen, calls, variance };
        side.push_estimate(row).map_err(|refused| refused.at(offset))?;
    }
    Ok(())
}

/// Reads a caller: one more than the object, and the address as the difference to another, which the address replaces.
/// 0 stands for all callers.
fn caller_near(content: &mut Cursor<'_>, near: &mut u64) -> Result<Option<Place>> {
    let offset = content.offset();
    let Some(object) = content.number()?.checked_sub(1) else { return Ok(None) };
    let object = u32::try_from(object).map_err(|_| Refused(Part::Object, object).at(offset))?;
    *near = near.wrapping_add(unzigzag(content.number()?));
    Ok(Some(Place { object, address: *near }))
}
