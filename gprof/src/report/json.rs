//! Everything as JSON, for programs. `docs/json.md` has the schema.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::analysis::entries::{Calls, Line, Place, Whose};
use crate::analysis::graph::Node;
use crate::analysis::{Analysis, FlatRow, RowNumbers, Stats};
use crate::cli::options::Wanted;
use crate::image::address_space::Mapping;
use crate::load::profile_file::FileInfo;
use crate::symbols::functions::FunctionId;
use crate::terminal::is_control;

/// The version of the schema. It grows when a program that reads the old schema would misread the new one.
const VERSION: u64 = 1;

/// What stands behind the name of a field.
enum Value<'a> {
    Nothing,
    Text(Cow<'a, [u8]>),
    Number(f64),
    Count(u64),
    Records(Vec<Record<'a>>),
}

/// The fields of an object.
type Record<'a> = Vec<(&'static str, Value<'a>)>;

pub(super) fn render(analysis: &Analysis<'_>, wanted: Wanted, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"version\":{VERSION},\n\"time\":")?;
    write_record(&time(analysis), out)?;
    write_list("images", analysis.images.iter().map(image), out)?;
    let mentioned = mentioned(analysis, wanted);
    let functions = analysis.functions.ids().filter(|id| mentioned[id.index()]);
    write_list("functions", functions.map(|id| function(analysis, id)), out)?;
    if wanted.flat {
        write_list("flat_profile", analysis.flat_rows().map(|(row, numbers)| flat_row(analysis, row, numbers)), out)?;
    }
    if wanted.graph {
        write_list("call_graph", analysis.calls.entries.iter().map(|node| entry(analysis, *node)), out)?;
    }
    if let Some(stats) = &analysis.stats {
        out.write_all(b",\n\"statistics\":")?;
        write_record(&statistics(stats, analysis.files), out)?;
    }
    out.write_all(b"}\n")
}

/// What times are measured in.
fn time<'a>(analysis: &'a Analysis<'_>) -> Record<'a> {
    let (clock, unit) = (&analysis.clock, analysis.flat.unit);
    vec![
        ("unit", Value::Text(clock.dimension.as_bytes().into())),
        ("samples_per_unit", Value::Number(clock.rate)),
        ("bytes_per_bin", Value::Number(clock.granularity)),
        ("per_call_factor", Value::Number(unit.factor)),
        ("flat_profile_samples", Value::Number(analysis.flat.total)),
        ("call_graph_samples", Value::Number(analysis.calls.graph.total())),
    ]
}

fn statistics<'a>(stats: &Stats, files: &[FileInfo]) -> Record<'a> {
    let outside = &stats.outside_images;
    vec![
        ("runs", Value::Count(files.iter().filter(|file| !file.is_shared_object).count() as u64)),
        ("saturated_bins", Value::Count(files.iter().map(|file| file.saturated as u64).sum())),
        ("samples", Value::Number(stats.samples)),
        ("samples_error", Value::Number(stats.error)),
        ("samples_shown", Value::Number(stats.attributed)),
        ("samples_runtime", Value::Number(stats.runtime)),
        ("samples_left_out", Value::Number(stats.left_out)),
        ("samples_outside", Value::Number(stats.outside)),
        ("calls", Value::Count(stats.calls)),
        ("calls_from_outside", Value::Count(stats.from_outside)),
        ("calls_to_outside", Value::Count(stats.to_outside)),
        ("calls_unknown", Value::Count(stats.unknown)),
        ("more_samples_kernel", Value::Count(outside.kernel)),
        ("more_samples_vdso", Value::Count(outside.vdso)),
        ("more_samples_elsewhere", Value::Count(outside.elsewhere)),
        ("more_calls_elsewhere", Value::Count(outside.calls)),
    ]
}

/// The functions that rows and entries name.
fn mentioned(analysis: &Analysis<'_>, wanted: Wanted) -> Vec<bool> {
    let mut mentioned = vec![false; analysis.functions.len()];
    let rows = analysis.flat_rows().filter(|_| wanted.flat).map(|(row, _)| row.function);
    rows.for_each(|id| mentioned[id.index()] = true);
    for node in analysis.calls.entries.iter().filter(|_| wanted.graph) {
        for line in analysis.entry(*node) {
            if let Whose::Function(id) = line.whose {
                mentioned[id.index()] = true;
            }
        }
    }
    mentioned
}

fn image(image: &Mapping) -> Record<'_> {
    vec![
        ("path", Value::Text(image.path.as_os_str().as_encoded_bytes().into())),
        ("build_id", text(image.build_id.as_ref().map(|id| id.as_bytes().into()))),
        ("code_start", address(image.code.start)),
        ("code_end", address(image.code.end)),
    ]
}

fn function<'a>(analysis: &'a Analysis<'_>, id: FunctionId) -> Record<'a> {
    let (functions, place) = (&analysis.functions, analysis.sources.place(id));
    let file = place.map(|place| functions.written(analysis.sources.name(place.file, true).into()));
    vec![
        ("id", Value::Count(id.index() as u64)),
        ("name", Value::Text(functions.written(analysis.name(id)))),
        ("symbol", Value::Text(functions.written(functions[id].name.into()))),
        ("image", Value::Count(functions.image(id) as u64)),
        ("address", address(functions.linked(id, functions[id].address))),
        ("file", text(file)),
        ("line", place.map_or(Value::Nothing, |place| Value::Count(place.line.into()))),
    ]
}

fn flat_row<'a>(analysis: &'a Analysis<'_>, row: &FlatRow<'a>, numbers: RowNumbers) -> Record<'a> {
    let inlined = row.inlined.map(|name| analysis.functions.written(analysis.other_name(name)));
    let (own, total) = numbers.per_call.unzip();
    vec![
        ("function", Value::Count(row.function.index() as u64)),
        ("inlined", text(inlined)),
        ("percent", Value::Number(numbers.percent)),
        ("cumulative", Value::Number(numbers.cumulative)),
        ("self", Value::Number(numbers.own)),
        ("error", number(Some(numbers.error).filter(|error| *error != 0.0))),
        ("calls", Value::Count(row.calls)),
        ("self_per_call", number(own)),
        ("total_per_call", number(total)),
    ]
}

fn entry<'a>(analysis: &Analysis<'_>, node: Node) -> Record<'a> {
    let lines = analysis.entry(node);
    let at = |place: fn(Place) -> bool| lines.iter().filter(move |line| place(line.place));
    let mut record = vec![
        ("number", Value::Count(analysis.number(node).0.into())),
        ("percent", Value::Number(analysis.calls.graph.percent(node))),
    ];
    at(|place| matches!(place, Place::Main(_))).for_each(|main| record.extend(line(main)));
    record.push(("above", Value::Records(at(|place| place == Place::Above).map(line).collect())));
    record.push(("below", Value::Records(at(|place| place == Place::Below).map(line).collect())));
    record
}

fn line<'a>(line: &Line) -> Record<'a> {
    let (function, cycle) = match line.whose {
        Whose::Function(id) => (Value::Count(id.index() as u64), Value::Nothing),
        Whose::Cycle(at) => (Value::Nothing, Value::Count(at as u64 + 1)),
        Whose::Spontaneous | Whose::Outside => (Value::Nothing, Value::Nothing),
    };
    let (calls, all, own) = match line.calls {
        Calls::Nothing => (Value::Nothing, Value::Nothing, Value::Nothing),
        Calls::Some(calls) => (Value::Count(calls), Value::Nothing, Value::Nothing),
        Calls::All { outer, inner } => (Value::Count(outer), Value::Nothing, Value::Count(inner)),
        Calls::Part { some, all } => (Value::Count(some), Value::Count(all), Value::Nothing),
    };
    let (time, children) = line.times.unzip();
    vec![
        ("function", function),
        ("cycle", cycle),
        ("self", number(time)),
        ("children", number(children)),
        ("calls", calls),
        ("calls_of", all),
        ("self_calls", own),
    ]
}

fn text(text: Option<Cow<'_, [u8]>>) -> Value<'_> {
    text.map_or(Value::Nothing, Value::Text)
}

fn number<'a>(number: Option<f64>) -> Value<'a> {
    number.map_or(Value::Nothing, Value::Number)
}

/// An address: JSON's readers know no whole numbers beyond 53 bits.
fn address<'a>(address: u64) -> Value<'a> {
    Value::Text(format!("0x{address:x}").into_bytes().into())
}

/// Writes a field of the outermost object: a list with a record on each line.
fn write_list<'a>(name: &str, records: impl Iterator<Item = Record<'a>>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (at, record) in records.enumerate() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        write_record(&record, out)?;
    }
    out.write_all(b"]")
}

fn write_record(record: &Record<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (at, (name, value)) in record.iter().enumerate() {
        // There are millions of fields in large reports, and formats take their time.
        for part in [if at == 0 { "{\"" } else { ",\"" }, name, "\":"] {
            out.write_all(part.as_bytes())?;
        }
        match value {
            // JSON has no infinity, and nothing for what is no number.
            // Zero has no sign.
            Value::Number(number) if number.is_finite() => write!(out, "{}", number + 0.0)?,
            Value::Nothing | Value::Number(_) => out.write_all(b"null")?,
            Value::Count(count) => write!(out, "{count}")?,
            Value::Text(text) => write_text(text, out)?,
            Value::Records(records) => {
                out.write_all(b"[")?;
                for (at, record) in records.iter().enumerate() {
                    out.write_all(if at == 0 { b"" } else { b"," })?;
                    write_record(record, out)?;
                }
                out.write_all(b"]")?;
            }
        }
    }
    out.write_all(b"}")
}

/// Writes a text. Bytes that are no UTF-8 become U+FFFD.
fn write_text(text: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut escaped = String::with_capacity(text.len() + 2);
    escaped.push('"');
    for letter in String::from_utf8_lossy(text).chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            // A terminal must not obey any of these.
            letter if is_control(letter) => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => escaped.push(letter),
        }
    }
    escaped.push('"');
    out.write_all(escaped.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let written = |text: &[u8]| {
            let mut out = Vec::new();
            write_text(text, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(b"ns::f(int)"), "\"ns::f(int)\"");
        assert_eq!(written(b"\"\\\n\x1b\x7f"), r#""\"\\\u000a\u001b\u007f""#);
        assert_eq!(written("é\u{85}".as_bytes()), "\"é\\u0085\"");
        assert_eq!(written("a\u{202e}b".as_bytes()), "\"a\\u202eb\"", "what turns the direction of writing");
        assert_eq!(written(b"a\xffb"), "\"a\u{fffd}b\"");
    }

    #[test]
    fn numbers_are_what_json_knows() {
        let record = vec![
            ("a", Value::Number(0.1)),
            ("b", Value::Number(f64::NAN)),
            ("c", Value::Number(f64::INFINITY)),
            ("d", Value::Count(u64::MAX)),
            ("e", Value::Nothing),
            ("f", Value::Records(vec![vec![("g", Value::Number(1e300))], vec![("h", Value::Number(-0.0))]])),
        ];
        let mut out = Vec::new();
        write_record(&record, &mut out).unwrap();
        let expected = r#"{"a":0.1,"b":null,"c":null,"d":18446744073709551615,"e":null,"f":[{"g":1"#;
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, format!("{expected}{}}},{{\"h\":0}}]}}", "0".repeat(300)));
    }
}
