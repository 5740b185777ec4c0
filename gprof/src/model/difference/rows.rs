//! Compares two analyses: a row for each function that has time or calls on either side.

use std::cmp::Reverse;
use std::sync::OnceLock;

use super::change::{Change, Time};
use super::join::join;
use super::model::{Difference, DifferenceRow, Presence, RowSubject};
use super::noise;
use super::side::{Elsewhere, Numbers, Side};
use super::subjects::Subjects;
use crate::error::Error;
use crate::model::analysis::Analysis;
use crate::model::ordered::Ordered;
use crate::question::options::Options;

/// Compares two analyses. The options of both must be [`Options::compared`](crate::Options::compared); those of `new` choose the
/// rows. Inclusive times should be measured on both sides or estimated on both
/// ([`Options::propagate`](crate::Options::propagate)).
///
/// # Errors
///
/// If a side has no samples, the sides have samples of different units, or the base shall be scaled and a side has no time.
pub fn difference<'a, 'data>(
    base: &'a Analysis<'data>,
    new: &'a Analysis<'data>,
) -> Result<Difference<'a, 'data>, Error> {
    let mut sides = [base, new].map(Side::new);
    check(&sides)?;
    let options = new.options;
    let is_normalized = options.comparison.as_ref().is_some_and(|comparison| comparison.normalizes);
    let [base_total, new_total] = sides.map(|side| side.total());
    if let Some(side) = sides.iter().find(|side| is_normalized && side.total() <= 0.0) {
        return Err(no_times(side));
    }
    let factor = Some(new_total / base_total).filter(|_| is_normalized);
    sides[0].factor = factor.unwrap_or(1.0);
    let whole = factor.map(|_| new_total);
    sides.iter_mut().for_each(|side| side.whole = whole);
    let subjects = Subjects::new(join(base, new), [base, new]);
    let total = Change::without_error(sides[0].total(), new_total);
    let is_measured = sides.iter().all(|side| side.analysis.is_measured());
    let (mut rows, flame) = (rows(&sides, &subjects, options), OnceLock::new());
    let noise_errors = noise::set_limit(rows.iter_mut().flat_map(|row| [&mut row.own, &mut row.inclusive]).collect());
    let mut difference =
        Difference { sides, subjects, rows, left_out: 0, total, factor, is_measured, noise_errors, flame };
    difference.limit(options);
    Ok(difference)
}

fn no_times(side: &Side<'_, '_>) -> Error {
    Error::NoTimes { file: side.analysis.files.first().map_or_else(String::new, |info| info.file.to_string()) }
}

/// Checks whether both sides have times that can be compared.
fn check(sides: &[Side<'_, '_>; 2]) -> Result<(), Error> {
    for side in sides {
        if side.analysis.clock.rate <= 0.0 {
            return Err(no_times(side));
        }
    }
    let [base, new] = sides.map(|side| side.analysis.clock.dimension);
    let name = |dimension: gmon::Dimension| String::from_utf8_lossy(dimension.as_bytes()).into_owned();
    if base == new { Ok(()) } else { Err(Error::UnitsDiffer { base: name(base), new: name(new) }) }
}

fn rows(sides: &[Side<'_, '_>; 2], subjects: &Subjects, options: &Options) -> Vec<DifferenceRow> {
    let functions = subjects.joined.iter().enumerate().map(|(at, joined)| {
        let numbers = [0, 1].map(|side: usize| sides[side].numbers(&joined[side]));
        let presence = match joined {
            [base, _] if base.is_empty() => Presence::Added,
            [_, new] if new.is_empty() => Presence::Removed,
            _ => Presence::Both,
        };
        (RowSubject::Functions(at), presence, numbers)
    });
    let elsewhere = [Elsewhere::Kernel, Elsewhere::Outside].into_iter().map(|elsewhere| {
        (RowSubject::Elsewhere(elsewhere), Presence::Both, sides.map(|side| side.elsewhere(elsewhere)))
    });
    let row = |(subject, presence, [base, new]): (RowSubject, Presence, [Numbers; 2])| {
        let is_function = matches!(subject, RowSubject::Functions(_));
        let is_shown = base.is_used || new.is_used || (options.unused && is_function);
        is_shown.then(|| DifferenceRow {
            subject,
            presence,
            own: Time::change(base.own, new.own, sides[1].whole),
            inclusive: Time::change(base.inclusive, new.inclusive, sides[1].whole),
            calls: Change::without_error(base.calls, new.calls),
        })
    };
    functions.chain(elsewhere).filter_map(row).collect()
}

impl Difference<'_, '_> {
    /// Sorts the rows, and leaves out those that the options leave out.
    fn limit(&mut self, options: &Options) {
        let mut rows = std::mem::take(&mut self.rows);
        let size = |change: Change| Reverse(Ordered(change.absolute().abs()));
        rows.sort_by_cached_key(|row| {
            let name = self.row_function(row).map(|(side, id)| &side.functions[id].name);
            (size(row.own), size(row.inclusive), size(row.calls), name)
        });
        let all = rows.len();
        if let Some(percent) = options.limit.min_percent {
            let least = percent / 100.0 * self.total.old.max(self.total.new);
            rows.retain(|row| row.own.absolute().abs() >= least);
        }
        rows.truncate(options.limit.top.unwrap_or(usize::MAX));
        (self.left_out, self.rows) = (all - rows.len(), rows);
    }
}
