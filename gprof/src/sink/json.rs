//! Writes values as JSON (RFC 8259): a string has no quote, no backslash, and no control character without an escape,
//! and a number is finite.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::terminal::is_control;

/// The value of a field.
pub(crate) enum Value<'a> {
    Null,
    Flag(bool),
    Text(Cow<'a, [u8]>),
    Number(f64),
    Count(u64),
    Records(Vec<Record<'a>>),
}

/// The fields of an object.
pub(crate) type Record<'a> = Vec<(&'static str, Value<'a>)>;

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Value::Count(count)
    }
}

impl From<usize> for Value<'_> {
    fn from(count: usize) -> Self {
        Value::Count(count as u64)
    }
}

impl<'a> From<Cow<'a, [u8]>> for Value<'a> {
    fn from(text: Cow<'a, [u8]>) -> Self {
        Value::Text(text)
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(text: Vec<u8>) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(text.into_bytes().into())
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(text: &'a [u8]) -> Self {
        Value::Text(text.into())
    }
}

impl<'a> From<Vec<Record<'a>>> for Value<'a> {
    fn from(records: Vec<Record<'a>>) -> Self {
        Value::Records(records)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, T::into)
    }
}

/// Writes a field of the outermost object: a list with a record on each line.
pub(crate) fn write_list<'a>(
    name: &str,
    records: impl Iterator<Item = Record<'a>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, ",\n\"{name}\":")?;
    write_records(records, out)
}

/// Writes a list with a record on each line.
pub(crate) fn write_records<'a>(records: impl Iterator<Item = Record<'a>>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, record) in records.enumerate() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        write_record(&record, out)?;
    }
    out.write_all(b"]")
}

/// Writes an object.
pub(crate) fn write_record(record: &Record<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (at, (name, value)) in record.iter().enumerate() {
        // Large reports have millions of fields, and `write!` is slow.
        for part in [if at == 0 { "{\"" } else { ",\"" }, name, "\":"] {
            out.write_all(part.as_bytes())?;
        }
        match value {
            // Adding 0 removes the sign of a negative zero.
            Value::Number(number) if number.is_finite() => write!(out, "{}", number + 0.0)?,
            // JSON has neither infinities nor NaN.
            Value::Null | Value::Number(_) => out.write_all(b"null")?,
            Value::Flag(flag) => write!(out, "{flag}")?,
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

/// Writes a field of the outermost object: a list of numbers. A number that is not finite is null.
pub(crate) fn write_numbers(name: &str, numbers: impl Iterator<Item = f64>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (at, number) in numbers.enumerate() {
        out.write_all(if at == 0 { b"" } else { b"," })?;
        match number.is_finite() {
            true => write!(out, "{}", number + 0.0)?,
            false => out.write_all(b"null")?,
        }
    }
    out.write_all(b"]")
}

/// A number, or null.
pub(crate) struct Nullable<T>(pub(crate) Option<T>);

impl<T: std::fmt::Display> std::fmt::Display for Nullable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(number) => number.fmt(f),
            None => f.write_str("null"),
        }
    }
}

/// Writes a further field of an object: a list of values that need no quotes.
pub(crate) fn write_column<T: std::fmt::Display>(
    name: &str,
    values: impl IntoIterator<Item = T>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, ",\"{name}\":[")?;
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        write!(out, "{value}")?;
    }
    out.write_all(b"]")
}

/// Writes a string. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn write_text(text: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut escaped = String::with_capacity(text.len() + 2);
    escaped.push('"');
    for letter in String::from_utf8_lossy(text).chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            // A terminal must not obey control characters, also those that JSON allows.
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
    fn lists_have_nulls_where_json_has_no_number() {
        let mut out = Vec::new();
        write_numbers("n", [1.5, f64::NAN, -0.0, f64::INFINITY].into_iter(), &mut out).unwrap();
        write_column("c", [Some(1), None].map(Nullable), &mut out).unwrap();
        write_column("e", [0; 0], &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), ",\n\"n\":[1.5,null,0,null],\"c\":[1,null],\"e\":[]");
    }

    #[test]
    fn numbers_are_what_json_knows() {
        let record = vec![
            ("a", Value::Number(0.1)),
            ("b", Value::Number(f64::NAN)),
            ("c", Value::Number(f64::INFINITY)),
            ("d", Value::Count(u64::MAX)),
            ("e", Value::Null),
            ("f", Value::Records(vec![vec![("g", Value::Number(1e300))], vec![("h", Value::Number(-0.0))]])),
        ];
        let mut out = Vec::new();
        write_record(&record, &mut out).unwrap();
        let expected = r#"{"a":0.1,"b":null,"c":null,"d":18446744073709551615,"e":null,"f":[{"g":1"#;
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, format!("{expected}{}}},{{\"h\":0}}]}}", "0".repeat(300)));
    }
}
