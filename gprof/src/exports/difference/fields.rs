//! The fields of a row for programs: the columns of CSV, and the fields of JSON.

use crate::model::{Analysis, Change, Difference, DifferenceRow, Judgement, Presence};
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
    record.extend(judged(Some(&row.runs.own), OWN));
    record.extend(judged(row.runs.inclusive.as_ref(), INCLUSIVE));
    let (calls, each) = (row.runs.calls, row.runs.for_each_call.as_ref());
    record.push(("calls_are_exact", calls.map(|calls| calls.is_exact).into()));
    record.push(("calls_changed", calls.map(|calls| calls.has_changed).into()));
    record.push(("each_call_base", each.map(|each| each.base).into()));
    record.push(("each_call", each.map(|each| each.new).into()));
    record.extend(judged(each, EACH_CALL));
    record
}

/// The names of what [`judged`] returns.
pub(super) type Names = [&'static str; 7];

const OWN: Names =
    ["self_low", "self_high", "self_p", "self_corrected_p", "self_visible", "self_is_log", "self_changed"];
const INCLUSIVE: Names = [
    "inclusive_low",
    "inclusive_high",
    "inclusive_p",
    "inclusive_corrected_p",
    "inclusive_visible",
    "inclusive_is_log",
    "inclusive_changed",
];
const EACH_CALL: Names = [
    "each_call_low",
    "each_call_high",
    "each_call_p",
    "each_call_corrected_p",
    "each_call_visible",
    "each_call_is_log",
    "each_call_changed",
];

/// Returns what the runs say of a time, with names: the ends of the interval of the change, the p-value, the corrected
/// one, the smallest visible growth, whether logarithms were compared, and whether the time changed for certain.
pub(super) fn judged<'a>(time: Option<&Judgement>, names: Names) -> [(&'static str, Value<'a>); 7] {
    let values = [
        time.map(|time| time.interval.0).into(),
        time.map(|time| time.interval.1).into(),
        time.map(|time| time.p).into(),
        time.and_then(|time| time.corrected).into(),
        time.and_then(|time| time.visible).into(),
        time.map(|time| time.is_log).into(),
        time.map(|time| time.is_certain).into(),
    ];
    let mut values = values.into_iter();
    names.map(|name| (name, values.next().unwrap_or(Value::Null)))
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
