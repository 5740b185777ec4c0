//! Reads profile.proto without knowing how gprof writes it.

use std::collections::BTreeSet;
use std::io::Read;

/// A field of a message: its number, and its value or its bytes.
type Field<'a> = (u64, u64, &'a [u8]);

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return number;
        }
    }
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = varint(&mut bytes);
        let content = match key & 7 {
            0 => &[],
            2 => {
                let (content, rest) = bytes.split_at(value as usize);
                bytes = rest;
                content
            }
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, value, content));
    }
    fields
}

fn numbers(mut bytes: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint(&mut bytes));
    }
    numbers
}

fn of<'a>(fields: &[Field<'a>], wanted: u64) -> Vec<Field<'a>> {
    fields.iter().copied().filter(|(field, ..)| *field == wanted).collect()
}

fn value(message: &[u8], wanted: u64) -> u64 {
    of(&fields(message), wanted).first().map_or(0, |(_, value, _)| *value)
}

/// The numbers of messages, which must be different and not 0.
fn ids(profile: &[Field<'_>], field: u64) -> BTreeSet<u64> {
    let messages = of(profile, field);
    let ids: BTreeSet<u64> = messages.iter().map(|(_, _, message)| value(message, 1)).collect();
    assert!(ids.len() == messages.len() && !ids.contains(&0));
    ids
}

/// Checks all references of a compressed profile, and returns the sum of the samples.
pub(crate) fn check(compressed: &[u8]) -> u64 {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(compressed).read_to_end(&mut bytes).unwrap();
    let profile = fields(&bytes);
    let strings = of(&profile, 6);
    assert!(strings[0].2.is_empty() && strings.iter().all(|(_, _, text)| std::str::from_utf8(text).is_ok()));
    let (mappings, locations, functions) = (ids(&profile, 3), ids(&profile, 4), ids(&profile, 5));
    for (_, _, function) in of(&profile, 5) {
        assert!([2, 3, 4].iter().all(|field| value(function, *field) < strings.len() as u64));
    }
    for (_, _, location) in of(&profile, 4) {
        let mapping = value(location, 2);
        assert!(mapping == 0 || mappings.contains(&mapping));
        let lines = of(&fields(location), 4);
        assert!(lines.len() == 1 && functions.contains(&value(lines[0].2, 1)));
    }
    let types = of(&profile, 1).len();
    let mut samples = 0;
    for (_, _, sample) in of(&profile, 2) {
        let sample = fields(sample);
        let values = numbers(of(&sample, 2)[0].2);
        assert_eq!(values.len(), types);
        assert!(numbers(of(&sample, 1)[0].2).iter().all(|location| locations.contains(location)));
        samples += values[0];
    }
    samples
}
