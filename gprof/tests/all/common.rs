//! Random symbol tables and profiles.
#![allow(dead_code, reason = "no test uses everything")]

use gmon::{Arc, Bins, Histogram, Profile, Unit};
use gprof::FunctionId;
use gprof::internals::{Functions, Symbol};
use proptest::prelude::*;

/// The address where functions begin.
pub(crate) const LOW: u64 = 0x1000;

/// An address beyond all functions and samples.
pub(crate) const HIGH: u64 = LOW + 0x300;

/// Symbols, and the end of the code. Several symbols may have the same address, and the code may end before the last
/// symbol.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) symbols: Vec<Symbol<'static>>,
    pub(crate) end: u64,
}

/// The bytes of each function of [`Table::of_names`].
pub(crate) const SIZE: u64 = 16;

impl Table {
    /// Global functions of [`SIZE`] bytes each, one after the other from [`LOW`] on.
    pub(crate) fn of_names(names: impl IntoIterator<Item = &'static str>) -> Table {
        let symbol = |(at, name): (u64, &'static str)| Symbol {
            address: LOW + SIZE * at,
            name: name.as_bytes(),
            is_static: false,
            is_func: true,
        };
        let symbols: Vec<_> = (0..).zip(names).map(symbol).collect();
        let end = LOW + SIZE * symbols.len() as u64;
        Table { symbols, end }
    }

    pub(crate) fn functions(&self) -> Functions<'static> {
        Functions::new(self.symbols.clone(), self.end)
    }
}

/// Returns the symbol table and the string table of an ELF file, and the number of local symbols.
fn symbol_table(table: &Table) -> (Vec<u8>, Vec<u8>, usize) {
    let mut strings = vec![0];
    let mut symbols = vec![0; 24];
    // ELF wants local symbols first.
    let mut sorted: Vec<&Symbol<'_>> = table.symbols.iter().collect();
    sorted.sort_by_key(|symbol| !symbol.is_static);
    let locals = 1 + sorted.iter().filter(|symbol| symbol.is_static).count();
    for symbol in sorted {
        symbols.extend((strings.len() as u32).to_le_bytes());
        symbols.extend([u8::from(!symbol.is_static) << 4 | if symbol.is_func { 2 } else { 0 }, 0, 1, 0]);
        symbols.extend([symbol.address, 0].map(u64::to_le_bytes).concat());
        strings.extend_from_slice(symbol.name);
        strings.push(0);
    }
    (symbols, strings, locals)
}

/// Returns an ELF file for x86-64 with these symbols. The code from [`LOW`] to `end` is zero.
pub(crate) fn image(table: &Table) -> Vec<u8> {
    image_with_code(table, &[])
}

/// Returns an ELF file for x86-64 with these symbols. The code from [`LOW`] to `end` begins with these bytes, and is
/// zero behind them.
pub(crate) fn image_with_code(table: &Table, bytes: &[u8]) -> Vec<u8> {
    const HEADER: usize = 64;
    const PROGRAM_HEADER: usize = 56;
    let (symbols, strings, locals) = symbol_table(table);
    let names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0";
    let size = table.end.saturating_sub(LOW);
    let code = HEADER + PROGRAM_HEADER;
    let symbols_at = code + size as usize;
    let strings_at = symbols_at + symbols.len();
    let names_at = strings_at + strings.len();
    let sections_at = names_at + names.len();
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let section = |name: u32, kind: u32, flags: u64, address: u64, at: usize, size: usize, more: [u64; 3]| {
        let head = [pair(name, kind), flags, address, at as u64, size as u64];
        words(&[head.as_slice(), &more].concat())
    };
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    // An executable for x86-64 of version 1, with one segment and five sections. The last section has the names of
    // sections.
    file.extend(words(&[pair(2 | 62 << 16, 1), LOW, HEADER as u64, sections_at as u64]));
    file.extend(words(&[pair(0, 64 | 56 << 16), 1 | 64 << 16 | 5 << 32 | 4 << 48]));
    file.extend(words(&[pair(1, 5), code as u64, LOW, LOW, size, size, 1]));
    file.extend(bytes);
    file.resize(symbols_at, 0);
    file.extend(&symbols);
    file.extend(&strings);
    file.extend(names);
    file.resize(sections_at + 64, 0);
    file.extend(section(1, 1, 6, LOW, code, size as usize, [0, 1, 0]));
    file.extend(section(7, 2, 0, 0, symbols_at, symbols.len(), [pair(3, locals as u32), 8, 24]));
    file.extend(section(15, 3, 0, 0, strings_at, strings.len(), [0, 1, 0]));
    file.extend(section(23, 3, 0, 0, names_at, names.len(), [0, 1, 0]));
    file
}

/// A table with names of copies of functions, and of the profiling runtime.
pub(crate) fn table() -> impl Strategy<Value = Table> {
    let names = ["main", "f", "g", "f.part.0", "f.cold", "g.isra.1", "mcount", "_f", "__f", "_start", "h", "h"];
    let symbol = (0..24_u64, prop::sample::select(names.to_vec()), any::<bool>(), prop::bool::weighted(0.8));
    let symbols = prop::collection::vec(symbol, 0..24);
    (symbols, 0..40_u64).prop_map(|(parts, last)| {
        let mut address = LOW;
        let mut symbols = Vec::new();
        for (gap, name, is_static, is_func) in parts {
            address += gap;
            symbols.push(Symbol { address, name: name.as_bytes(), is_static, is_func });
        }
        Table { symbols, end: address.saturating_add(last) }
    })
}

/// A table in which all functions have different addresses and names.
pub(crate) fn distinct_table() -> impl Strategy<Value = Table> {
    const NAMES: [&str; 16] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "_n", "_o", "__p"];
    (1..=NAMES.len(), 1..20_u64).prop_map(|(count, size)| {
        let symbol = |(at, name): (u64, &&'static str)| Symbol {
            address: LOW + at * size,
            name: name.as_bytes(),
            is_static: false,
            is_func: true,
        };
        Table { symbols: (0..).zip(&NAMES[..count]).map(symbol).collect(), end: LOW + count as u64 * size }
    })
}

/// Counts: many are 0 or small, and some are huge.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0), 5 => 1..6_u64, 2 => 0..1000_u64, 1 => 0..1_u64 << 40]
}

/// Histograms that do not overlap, in any order. Bins may be larger or smaller than a byte, and counts may be negative.
fn histograms() -> impl Strategy<Value = Vec<Histogram>> {
    let piece = (0..40_u64, 1..200_u64, prop::collection::vec(count(), 1..40));
    let pieces = prop::collection::vec(piece, 0..4);
    let histograms = (LOW - 60..LOW + 60, pieces, prop::bool::weighted(0.2)).prop_map(|(mut lowpc, pieces, signed)| {
        let mut histograms = Vec::new();
        for (gap, span, mut bins) in pieces {
            lowpc += gap;
            if signed {
                bins.iter_mut().step_by(3).for_each(|bin| *bin = bin.wrapping_neg());
            }
            let highpc = lowpc + span;
            let signed_bins = bins.iter().map(|bin| bin.cast_signed()).collect();
            let bins = if signed { Bins::I64(signed_bins) } else { Bins::U64(bins) };
            histograms.push(Histogram::new(lowpc..highpc, Unit::seconds(100), bins).unwrap());
            lowpc = highpc;
        }
        histograms
    });
    histograms.prop_shuffle()
}

/// A profile with calls between functions, of functions by themselves, from and to code outside of all functions, and
/// with count 0.
pub(crate) fn profile() -> impl Strategy<Value = Profile> {
    let address = || prop_oneof![20 => LOW - 8..LOW + 300, 1 => Just(0), 1 => Just(u64::MAX)];
    let arc = (address(), address(), count()).prop_map(|(frompc, selfpc, count)| Arc::new(frompc, selfpc, count));
    let arcs = prop::collection::vec(arc, 0..60);
    (histograms(), arcs).prop_map(|(histograms, arcs)| Profile::of_samples(histograms).unwrap().with_arcs(arcs))
}

/// Returns the function of an address after looking at all functions.
pub(crate) fn owner(functions: &Functions<'_>, address: u64) -> Option<FunctionId> {
    functions.ids().rev().find(|id| (functions[*id].address..=functions[*id].last).contains(&address))
}

/// Returns the magnitude of the sums of a profile. Rounding errors are far smaller than this.
pub(crate) fn magnitude(profile: &Profile) -> f64 {
    let bins =
        profile.histograms().iter().flat_map(|histogram| (0..histogram.bins().len()).map(|at| histogram.count(at)));
    1.0 + bins.map(|count| count.unsigned_abs() as f64).sum::<f64>()
}

/// Returns whether two sums are equal up to rounding.
pub(crate) fn is_close(one: f64, other: f64, magnitude: f64) -> bool {
    (one - other).abs() <= 1e-9 * magnitude
}
