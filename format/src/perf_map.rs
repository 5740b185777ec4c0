//! Reads perf map files, in which programs name the code that they generate while they run.
//!
//! Such a file is `/tmp/perf-PROCESS.map`. Each line has the address and the size of a function in hexadecimal, and its
//! name. A program that moves code, or generates other code at the same address, adds lines: the last line for an
//! address counts.

use alloc::collections::{BTreeMap, BTreeSet};
use core::ops::Range;

/// The length of the longest name in bytes. Longer names are cut.
pub const LONGEST_NAME: usize = 4096;

/// Returns the names that a map has for some addresses. A line that is no entry is skipped. The map is searched in
/// n log n steps.
#[must_use]
pub fn names(map: &[u8], addresses: BTreeSet<u64>) -> BTreeMap<u64, &[u8]> {
    let (mut unnamed, mut named) = (addresses, BTreeMap::new());
    // Reading from the end, the first line that contains an address is the last entry for the address. An address that
    // has a name is removed.
    for line in map.rsplit(|byte| *byte == b'\n') {
        if unnamed.is_empty() {
            break;
        }
        let Some((range, name)) = entry(line) else { continue };
        while let Some(address) = unnamed.range(range.clone()).next().copied() {
            unnamed.remove(&address);
            named.insert(address, name);
        }
    }
    named
}

/// The addresses and the name of the function in a line.
fn entry(line: &[u8]) -> Option<(Range<u64>, &[u8])> {
    let (start, rest) = hexadecimal(line)?;
    let (size, rest) = hexadecimal(rest.strip_prefix(b" ")?)?;
    let name = rest.strip_prefix(b" ")?;
    let name = name.split(|byte| *byte == 0).next()?.trim_ascii();
    let name = name.get(..LONGEST_NAME).unwrap_or(name);
    // The range cannot contain the highest address.
    let end = start.saturating_add(size);
    (start < end && !name.is_empty()).then_some((start..end, name))
}

/// The hexadecimal number at the start of a text, which may begin with `0x`, and the text behind the number.
fn hexadecimal(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let length = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (digits, rest) = text.split_at_checked(length)?;
    let number = u64::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'m>(map: &'m str, addresses: &[u64]) -> BTreeMap<u64, &'m str> {
        let names = names(map.as_bytes(), addresses.iter().copied().collect());
        names.into_iter().map(|(address, name)| (address, core::str::from_utf8(name).unwrap())).collect()
    }

    #[test]
    fn the_last_entry_for_an_address_counts() {
        let map = "1000 20 first\n1010 10 second\n1018 4 third\n2000 8 other\n";
        let named = found(map, &[0xfff, 0x1000, 0x100f, 0x1010, 0x1017, 0x1018, 0x101b, 0x101c, 0x1020, 0x2007]);
        let expected = [
            (0x1000, "first"),
            (0x100f, "first"),
            (0x1010, "second"),
            (0x1017, "second"),
            (0x1018, "third"),
            (0x101b, "third"),
            (0x101c, "second"),
            (0x2007, "other"),
        ];
        assert_eq!(named, expected.into());
    }

    #[test]
    fn lines_of_all_writers() {
        let map = "0x1000 0x10 Interpreter\n2A00 ff LazyCompile:~f file.js:1:2\n3000 10  py::f:a.py \r\n4000 1 last";
        let named = found(map, &[0x1001, 0x2a01, 0x3001, 0x4000]);
        let expected = ["Interpreter", "LazyCompile:~f file.js:1:2", "py::f:a.py", "last"];
        assert_eq!(named.into_values().collect::<alloc::vec::Vec<_>>(), expected);
    }

    #[test]
    fn lines_that_are_no_entries_are_skipped() {
        let lines = [
            "",
            " ",
            "1000",
            "1000 10",
            "1000 10 ",
            "1000 10  \t",
            "1000 0 empty",
            "g000 10 name",
            "1000 10name",
            "1000  10 name",
            "-1000 10 name",
            "10000000000000000 10 name",
            "1000 10000000000000000 name",
            "+1000 10 name",
            " 1000 10 name",
            "1000 10 \0name",
        ];
        for line in lines {
            assert_eq!(
                found(&alloc::format!("1000 10 kept\n{line}\n"), &[0x1000]),
                [(0x1000, "kept")].into(),
                "{line:?}"
            );
        }
        assert_eq!(found("ffffffffffffff00 ffffffffffffffff end\n", &[u64::MAX - 1]), [(u64::MAX - 1, "end")].into());
    }

    #[test]
    fn names_are_cut() {
        let map = alloc::format!("1000 10 {}\n2000 10 before\0behind\n", "x".repeat(LONGEST_NAME + 1));
        let named = found(&map, &[0x1000, 0x2000]);
        assert_eq!((named[&0x1000].len(), named[&0x2000]), (LONGEST_NAME, "before"));
    }
}
