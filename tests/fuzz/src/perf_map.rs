//! The check of perf map files.

use std::collections::BTreeSet;
use std::ops::Range;

use gmon::perf_map::{LONGEST_NAME, names};
use gmon::side_file::{ELSEWHERE, Place, SideFile};

use crate::Limits;

const LIMITS: Limits = Limits { bytes_per_byte: 32, bytes: 64 << 10, steps_per_byte: 200, steps: 200_000 };

/// The number of lines whose addresses are looked up.
const MOST: usize = 64;

/// The input is a map. Each address at the ends of the first functions has the name that a search through all lines
/// finds, and a side file with these addresses keeps all ticks.
pub fn perf_map(input: &[u8]) {
    let entries: Vec<(Range<u64>, &[u8])> = input.split(|byte| *byte == b'\n').filter_map(entry).collect();
    let ends = entries.iter().take(MOST).flat_map(|(range, _)| {
        [range.start.saturating_sub(1), range.start, range.start / 2 + range.end / 2, range.end - 1, range.end]
    });
    let addresses: BTreeSet<u64> = ends.collect();
    let found = LIMITS.hold(input.len(), || names(input, addresses.clone()));
    for address in &addresses {
        let last = entries.iter().rev().find(|(range, _)| range.contains(address)).map(|(_, name)| *name);
        assert_eq!(found.get(address).copied(), last, "{address:x}");
    }
    let mut side = SideFile::new(gmon::Word::W64);
    for address in addresses.iter().filter(|address| **address != 0) {
        let added = side.add_context(None, Place { object: ELSEWHERE, address: *address }, 1);
        assert!(added.is_ok(), "{added:?}");
    }
    let before = side.contexts().total();
    side.name_generated_code(input);
    assert_eq!(side.contexts().total(), before);
    assert_eq!(SideFile::parse(&side.write()), Ok(side.clone()));
}

/// The addresses and the name in a line, read word by word.
fn entry(line: &[u8]) -> Option<(Range<u64>, &[u8])> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let mut number = || {
        let word = words.next()?;
        let digits = word.strip_prefix(b"0x").unwrap_or(word);
        let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u64::from_str_radix(text, 16).ok()
    };
    let (start, size) = (number()?, number()?);
    let name = words.next()?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    let name = name[..end].trim_ascii();
    let range = start..start.saturating_add(size);
    (!range.is_empty() && !name.is_empty()).then_some((range, &name[..name.len().min(LONGEST_NAME)]))
}
