//! The fields of a row for programs: the columns of CSV, and the fields of JSON.

use crate::model::{Analysis, Change, Difference, DifferenceRow, Presence};
use crate::program::symbols::functions::FunctionId;
use crate::sink::json::{Record, Value};

/// Returns the fields of a row. The image is the index in the list of the images of its side.
pub(super) fn fields<'a>(difference: &'a Difference<'_, '_>, row: &DifferenceRow) -> Record<'a> {
    let [base, new] = difference.row_functions(row);
    let presence = match row.presence {
        Presence::Both => "both",
        Presence::Added => "added",
        Presence::Removed => "removed",
    };
    let mut record: Record<'a> = vec![("name", difference.row_name(row).into_owned().into())];
    record.push(("presence", presence.as_bytes().into()));
    record.extend(function(difference.new_analysis(), new.first(), ["symbol", "image", "address", "file", "line"]));
    record.push(("functions", new.len().into()));
    let of_base = ["base_symbol", "base_image", "base_address", "base_file", "base_line"];
    record.extend(function(difference.base_analysis(), base.first(), of_base));
    record.push(("base_functions", base.len().into()));
    let own = ["self_base", "self", "self_change", "self_percent"];
    record.extend(change(own, &row.own));
    record.extend([("self_error", row.own.error.into()), ("self_is_noise", row.own.is_noise().into())]);
    let inclusive = ["inclusive_base", "inclusive", "inclusive_change", "inclusive_percent"];
    record.extend(change(inclusive, &row.inclusive));
    record.push(("inclusive_error", row.inclusive.error.into()));
    record.push(("inclusive_is_noise", row.inclusive.is_noise().into()));
    record.extend(change(["calls_base", "calls", "calls_change", "calls_percent"], &row.calls));
    record
}

/// Returns a change with names for its four numbers.
pub(super) fn change<'a>(names: [&'static str; 4], change: &Change) -> [(&'static str, Value<'a>); 4] {
    let values = [change.old.into(), change.new.into(), change.absolute().into(), change.percent().into()];
    let mut values = values.into_iter();
    names.map(|name| (name, values.next().unwrap_or(Value::Null)))
}

fn function<'a>(
    analysis: &'a Analysis<'_>,
    id: Option<&FunctionId>,
    [symbol, image, address, file, line]: [&'static str; 5],
) -> Record<'a> {
    let (function, place) = (id.map(|id| analysis.function(*id)), id.and_then(|id| analysis.source_location(*id)));
    vec![
        (symbol, function.map(|function| analysis.shortened(function.symbol)).into()),
        (image, function.map(|function| function.image).into()),
        (address, function.map(|function| format!("0x{:x}", function.address)).into()),
        (file, place.map(|place| analysis.shortened(place.file)).into()),
        (line, place.map(|place| u64::from(place.line)).into()),
    ]
}
