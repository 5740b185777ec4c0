//! Profiles, encodings, and errors as the JSON of the suite: testdata/format/README.md has its members.

use std::str::FromStr;

use gmon::{Arc, Encoding, Error, ErrorKind, Form, Hints, Histogram, Image, OldHeader, Profile, UnknownName};
use serde_json::{Map, Value, json};

const HEADERS: [(&str, OldHeader); 3] =
    [("packed", OldHeader::Packed), ("padded", OldHeader::Padded), ("wide", OldHeader::Wide)];
const KINDS: [(&str, ErrorKind); 7] = [
    ("truncated", ErrorKind::Truncated),
    ("not-a-profile", ErrorKind::NotAProfile),
    ("unsupported", ErrorKind::Unsupported),
    ("ambiguous", ErrorKind::Ambiguous),
    ("invalid", ErrorKind::Invalid),
    ("incompatible", ErrorKind::Incompatible),
    ("overflow", ErrorKind::Overflow),
];

/// The name of a value in a table.
fn name<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, known)| known == value).map_or("unknown", |(name, _)| *name)
}

/// The value with the name that the JSON has for a key. `None` if the JSON does not have the key.
fn named<T: Copy>(table: &[(&'static str, T)], members: &Value, key: &str) -> Option<T> {
    let name = members.get(key)?.as_str().unwrap();
    let (_, value) = table.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("unknown {key} {name}"));
    Some(*value)
}

/// The JSON with each number that is a hexadecimal string as an integer.
pub(crate) fn with_integers(value: Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16)) {
            Some(Ok(number)) => number.into(),
            _ => text.into(),
        },
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, with_integers(value))).collect(),
        other => other,
    }
}

/// What a file means. The members are those of the suite, without `hints` and `canonical`.
pub(crate) fn of(encoding: Encoding, profile: &Profile) -> Value {
    let mut meaning = of_encoding(encoding);
    meaning.insert("histograms".into(), profile.histograms().iter().map(of_histogram).collect());
    meaning.insert("arcs".into(), profile.arcs().iter().map(|arc| of_arc(profile, arc)).collect());
    if !profile.blocks().is_empty() {
        let blocks = profile.blocks().iter().map(|block| json!({ "address": block.addr, "count": block.count }));
        meaning.insert("blocks".into(), blocks.collect());
    }
    if !profile.images().is_empty() {
        meaning.insert("images".into(), profile.images().iter().map(of_image).collect());
    }
    meaning.into()
}

fn of_histogram(histogram: &Histogram) -> Value {
    let counts = histogram.hit().map(|(bin, count)| json!([bin, of_count(count)]));
    json!({
        "lowpc": histogram.lowpc(),
        "highpc": histogram.highpc(),
        "rate": histogram.unit().profrate,
        "dimension": histogram.unit().dimension.to_string(),
        "abbrev": char::from(histogram.unit().abbrev).to_string(),
        "bins": histogram.len(),
        "counts": counts.collect::<Vec<_>>(),
    })
}

/// A count as the JSON parser returns it: unsigned if it is not negative.
fn of_count(count: i128) -> Value {
    u64::try_from(count).map_or_else(|_| i64::try_from(count).unwrap().into(), Value::from)
}

fn of_arc(profile: &Profile, arc: &Arc) -> Value {
    let mut members = json!({ "frompc": arc.frompc, "selfpc": arc.selfpc, "count": arc.count });
    if let Some(order) = profile.order(arc.frompc, arc.selfpc) {
        members["order"] = order.into();
    }
    members
}

fn of_image(image: &Image) -> Value {
    let mut members = json!({ "path": String::from_utf8_lossy(image.path()) });
    for (key, value) in [("header", image.header()), ("slide", image.slide())] {
        if let Some(value) = value {
            members[key] = value.into();
        }
    }
    if let Some(range) = image.range() {
        members["range"] = json!([range.start, range.end]);
    }
    members
}

fn of_encoding(encoding: Encoding) -> Map<String, Value> {
    let mut members = Map::new();
    let form = match encoding.form {
        Form::FreeBsd(counter) => {
            members.insert("counter".into(), counter.name().into());
            "freebsd"
        }
        Form::OldBsd(header) => {
            members.insert("header".into(), name(&HEADERS, &header).into());
            "old-bsd"
        }
        form => form.name(),
    };
    members.insert("form".into(), form.into());
    members.insert("model".into(), encoding.model.name().into());
    members.insert("order".into(), encoding.order.name().into());
    members
}

/// The value that the JSON names for a key. `None` if the JSON does not have the key.
fn parsed<T: FromStr<Err = UnknownName>>(members: &Value, key: &str) -> Option<T> {
    Some(members.get(key)?.as_str().unwrap().parse().unwrap())
}

/// The hints that the reader gets for a file.
pub(crate) fn hints(members: &Value) -> Hints {
    let mut hints = Hints::new();
    if let Some(form) = form(members) {
        hints = hints.with_form(form);
    }
    if let Some(model) = parsed(members, "model") {
        hints = hints.with_model(model);
    }
    if let Some(name) = members.get("name").and_then(Value::as_str) {
        hints = hints.with_file_name(name.as_bytes());
    }
    parsed(members, "order").map_or(hints, |order| hints.with_order(order))
}

fn form(members: &Value) -> Option<Form> {
    match members.get("form")?.as_str().unwrap() {
        "freebsd" => parsed(members, "counter").map(Form::FreeBsd),
        "old-bsd" => named(&HEADERS, members, "header").map(Form::OldBsd),
        _ => parsed(members, "form"),
    }
}

/// The kind and the offset of an error.
pub(crate) fn of_error(error: &Error) -> Value {
    let mut members = json!({ "kind": name(&KINDS, &error.kind()) });
    if let Some(offset) = error.offset() {
        members["offset"] = offset.into();
    }
    members
}
