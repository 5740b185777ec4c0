//! The functions of the profiled program, the addresses and the image of each, and the search for the function of an
//! address.
//!
//! Programs have a hundred thousand functions, and profiles a million calls: [`Buckets`] narrows the search.

mod copies;
pub mod joined;
mod names;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use crate::program::image::Symbol;

/// A function.
#[derive(Debug)]
pub struct Function<'data> {
    /// The first address.
    pub address: u64,
    /// The last address: the one before the next function, or before the next line symbol.
    pub last: u64,
    /// The last address of the function including all its lines.
    pub reach: u64,
    /// The name in the symbol table, mangled. Functions are sorted by this name.
    pub name: &'data [u8],
    /// Whether the function is visible only in its own source file.
    pub is_static: bool,
    /// The function that gets the time and calls of this one: itself, unless copies are merged.
    pub counts_for: FunctionId,
    /// The function that gets the calls of this symbol, if any: itself if its symbol has the type for functions, or
    /// else the next lower symbol of that type. Labels in assembly code may have no type.
    pub called_as: Option<FunctionId>,
    /// The source name, once it was needed; `None` if it is the same as the name in the symbol table.
    readable: OnceLock<Option<Vec<u8>>>,
}

/// All functions of a program in ascending order of addresses, one for each address.
#[derive(Debug)]
pub struct Functions<'data> {
    sorted: Vec<Function<'data>>,
    /// The first addresses of the functions. Lookups are faster in this separate list.
    starts: Vec<u64>,
    /// Narrows lookups of addresses.
    buckets: Buckets,
    /// The memory and work left for names.
    room: names::Room,
    /// The images of the functions.
    joined: ImageRanges,
}

impl<'data> Functions<'data> {
    /// Sorts symbols, and chooses one of several at the same address.
    ///
    /// A function ends where the next one starts; the last one ends at `text_end`, the address after the program's
    /// code.
    #[must_use]
    pub fn new(mut symbols: Vec<Symbol<'data>>, text_end: u64) -> Functions<'data> {
        symbols.sort_by_key(|symbol| (symbol.address, !symbol.is_func, symbol.is_static));
        symbols.truncate(u32::MAX as usize);
        symbols.dedup_by(|next, kept| {
            let same = next.address == kept.address;
            if same && is_better_name(next, kept) {
                *kept = *next;
            }
            same
        });
        Functions::from_sorted(symbols, text_end)
    }

    /// Sorts symbols and keeps all. Of several at one address, the last one in the file's table is the function.
    ///
    /// The last function gets no addresses.
    #[must_use]
    pub fn with_aliases(mut symbols: Vec<Symbol<'data>>) -> Functions<'data> {
        symbols.sort_by_key(|symbol| symbol.address);
        symbols.truncate(u32::MAX as usize);
        let end = symbols.last().map_or(0, |symbol| symbol.address);
        Functions::from_sorted(symbols, end)
    }

    /// Adds line symbols in ascending order. The extents of functions stay, but lookups of addresses find line
    /// symbols. A function without code is removed, and the function before it keeps its extent all the same.
    #[must_use]
    pub fn with_lines(self, lines: Vec<Symbol<'data>>, text_end: u64) -> Functions<'data> {
        let reaches: HashMap<u64, u64> = self.sorted.iter().map(|function| (function.address, function.last)).collect();
        let functions = self.ids().filter(|id| self[*id].address <= self[*id].last).map(|id| {
            let Function { address, name, is_static, .. } = self[id];
            Symbol { address, name, is_static, is_func: self.is_marked(id) }
        });
        let mut all = Functions::new(lines.into_iter().chain(functions).collect(), text_end);
        for (index, function) in (0..).zip(&mut all.sorted) {
            if function.called_as == Some(FunctionId(index)) {
                function.reach = reaches.get(&function.address).copied().unwrap_or(function.reach);
            }
        }
        // GNU gprof finds functions beyond the section .text, such as `_fini`, up to the next symbol.
        if let Some(end) = all.sorted.last_mut()
            && let Some(reach) = reaches.get(&end.address)
        {
            (end.last, end.reach) = (*reach, *reach);
        }
        all
    }

    fn from_sorted(mut symbols: Vec<Symbol<'data>>, text_end: u64) -> Functions<'data> {
        names::bound(&mut symbols);
        let ends: Vec<u64> =
            symbols.iter().skip(1).map(|next| next.address).chain([text_end]).map(|end| end.wrapping_sub(1)).collect();
        let mut called_as = None;
        let sorted = (0..).zip(symbols.into_iter().zip(ends)).map(|(index, (symbol, last))| {
            if symbol.is_func {
                called_as = Some(FunctionId(index));
            }
            Function {
                address: symbol.address,
                last,
                reach: last,
                name: symbol.name,
                is_static: symbol.is_static,
                counts_for: FunctionId(index),
                called_as,
                readable: OnceLock::new(),
            }
        });
        let sorted: Vec<Function<'data>> = sorted.collect();
        let starts: Vec<u64> = sorted.iter().map(|function| function.address).collect();
        let buckets = Buckets::new(&starts);
        Functions { sorted, starts, buckets, room: names::Room::default(), joined: ImageRanges::default() }
    }

    /// Makes functions of one name count for the first of them, where `is_part` returns true.
    pub fn merge_parts(&mut self, is_part: impl Fn(&Function<'data>) -> bool) {
        let mut firsts: HashMap<&[u8], FunctionId> = HashMap::new();
        for (index, function) in (0..).zip(&mut self.sorted) {
            if is_part(function) {
                function.counts_for = *firsts.entry(function.name).or_insert(FunctionId(index));
            }
        }
        for index in 0..self.sorted.len() {
            // What counts for a part then counts for the first function.
            self.sorted[index].counts_for = self.sorted[self.sorted[index].counts_for.index()].counts_for;
        }
    }

    /// The function that contains an address.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<FunctionId> {
        let after = self.buckets.count(&self.starts, address);
        let index = after.checked_sub(1)?;
        (address <= self.sorted[index].last).then_some(FunctionId(index as u32))
    }

    /// Whether the symbol has the type for functions. Line symbols do not, nor do some labels in assembly code.
    #[must_use]
    pub fn is_marked(&self, id: FunctionId) -> bool {
        self[id].called_as == Some(id)
    }

    /// Whether a function counts for itself. A function that counts for another has no row and no entry.
    #[must_use]
    pub fn is_whole(&self, id: FunctionId) -> bool {
        self[id].counts_for == id
    }

    /// The indexes of a function and of its lines, if there are any.
    #[must_use]
    pub fn with_its_lines(&self, id: FunctionId) -> Range<usize> {
        let reach = self[id].reach;
        id.index()..self.sorted.partition_point(|function| function.address <= reach).max(id.index() + 1)
    }

    /// The number of functions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there is none.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// All handles, in ascending order of addresses.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = FunctionId> + use<> {
        (0..self.sorted.len() as u32).map(FunctionId)
    }

    /// Returns the functions with code in a range of addresses, in the order of their addresses.
    pub fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = FunctionId> + use<> {
        let first = self.sorted.partition_point(|function| function.last < range.start);
        let end = self.sorted.partition_point(|function| function.address < range.end);
        (first as u32..end as u32).map(FunctionId)
    }

    /// The handle of a place, if there is a function.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<FunctionId> {
        (index < self.sorted.len()).then_some(FunctionId(index as u32))
    }

    /// Sets the demangler's options. Call this before any name is demangled.
    pub fn set_demangling(&mut self, demangling: gmon_demangle::Options) {
        self.room.demangling = demangling;
    }

    /// The source name of a function. The first names are kept in memory; once the memory for names is used up, a
    /// name is demangled for each use.
    pub fn readable(&self, id: FunctionId) -> Cow<'_, [u8]> {
        let function = &self[id];
        if let Some(known) = function.readable.get() {
            return Cow::Borrowed(known.as_deref().unwrap_or(function.name));
        }
        let (text, fits) = self.room.readable(function.name);
        match text {
            Cow::Owned(text) if !fits => Cow::Owned(text),
            Cow::Owned(text) => {
                let kept = function.readable.get_or_init(|| Some(text));
                Cow::Borrowed(kept.as_deref().unwrap_or(function.name))
            }
            Cow::Borrowed(name) => {
                // Another attempt would take as long.
                function.readable.get_or_init(|| None);
                Cow::Borrowed(name)
            }
        }
    }

    /// The source form of a name that belongs to none of these functions. Demangles the name for each use.
    pub fn readable_name<'a>(&self, name: &'a [u8]) -> Cow<'a, [u8]> {
        self.room.readable(name).0
    }

    /// Makes [`Functions::written`] escape control characters, for reports on a terminal.
    pub fn spell_controls(&self) {
        self.room.spells.store(true, Ordering::Relaxed);
    }

    /// The text of a name and what is printed with it. Shortened once many long names were written, and with control
    /// characters escaped if the report goes to a terminal.
    pub fn written<'a>(&self, name: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        self.room.written(name)
    }

    /// All functions, in ascending order of addresses.
    #[must_use]
    pub fn as_slice(&self) -> &[Function<'data>] {
        &self.sorted
    }
}

impl<'data> std::ops::Index<FunctionId> for Functions<'data> {
    type Output = Function<'data>;

    fn index(&self, id: FunctionId) -> &Function<'data> {
        &self.sorted[id.index()]
    }
}

/// Whether a symbol is a better choice for an address than the symbol kept so far. Wider visibility wins, then the
/// type for functions, then fewer leading underscores.
fn is_better_name(next: &Symbol<'_>, kept: &Symbol<'_>) -> bool {
    if next.is_static != kept.is_static {
        return kept.is_static;
    }
    if next.is_func != kept.is_func {
        return next.is_func;
    }
    let underscores = |name: &[u8]| name.iter().take(2).take_while(|byte| **byte == b'_').count();
    underscores(next.name) < underscores(kept.name)
}

/// Identifies a function of an analysis. Functions are numbered in the order of their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(u32);

impl FunctionId {
    /// Returns the function's number, counted from 0, as an index of lists with one element for each function.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Maps the functions of a table to their images.
#[derive(Debug, Default)]
struct ImageRanges {
    /// For each image: its first function, the number added to its addresses, and its label. Empty if there is only
    /// one image.
    images: Vec<(FunctionId, u64, String)>,
    /// For each function, whether another image has a function of the same name.
    is_shared: Vec<bool>,
}

impl ImageRanges {
    fn image(&self, id: FunctionId) -> usize {
        self.images.partition_point(|(first, ..)| *first <= id).saturating_sub(1)
    }
}

/// Divides the address range into buckets of equal size, about as many as there are addresses.
#[derive(Debug, Default)]
struct Buckets {
    /// The first address.
    first: u64,
    /// The size of a bucket, as a power of two.
    shift: u32,
    /// For each bucket, the number of addresses below it; at the end, the number of all addresses.
    below: Vec<u32>,
}

impl Buckets {
    /// Makes buckets for addresses in ascending order.
    fn new(sorted: &[u64]) -> Buckets {
        let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
            return Buckets::default();
        };
        let mut shift = 0;
        while (last - first) >> shift > 2 * sorted.len() as u64 {
            shift += 1;
        }
        let mut below = Vec::with_capacity(((last - first) >> shift) as usize + 2);
        for (at, address) in (0..).zip(sorted) {
            let bucket = ((address - first) >> shift) as usize;
            if below.len() <= bucket {
                below.resize(bucket + 1, at);
            }
        }
        below.push(sorted.len() as u32);
        Buckets { first: *first, shift, below }
    }

    /// The number of addresses that are not above an address.
    fn count(&self, sorted: &[u64], address: u64) -> usize {
        let Some(bucket) = address.checked_sub(self.first).map(|distance| (distance >> self.shift) as usize) else {
            return 0;
        };
        let (Some(start), Some(end)) = (self.below.get(bucket), self.below.get(bucket.saturating_add(1))) else {
            return sorted.len();
        };
        let (start, end) = (*start as usize, *end as usize);
        start + sorted[start..end].partition_point(|known| *known <= address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(address: u64, name: &'static str, is_static: bool, is_func: bool) -> Symbol<'static> {
        Symbol { address, name: name.as_bytes(), is_static, is_func }
    }

    fn names(symbols: Vec<Symbol<'static>>) -> Vec<String> {
        let functions = Functions::new(symbols, 100);
        functions.as_slice().iter().map(|f| String::from_utf8_lossy(f.name).into_owned()).collect()
    }

    #[test]
    fn an_address_belongs_to_the_function_below_it() {
        let functions = Functions::new(vec![symbol(30, "c", false, true), symbol(10, "a", false, true)], 40);
        assert_eq!(functions.find(9), None);
        assert_eq!(functions.find(10).map(FunctionId::index), Some(0));
        assert_eq!(functions.find(29).map(FunctionId::index), Some(0));
        assert_eq!(functions.find(30).map(FunctionId::index), Some(1));
        assert_eq!(functions.find(39).map(FunctionId::index), Some(1));
        assert_eq!(functions.find(40), None);
    }

    #[test]
    fn the_last_of_all_aliases_is_the_function() {
        let symbols = [(30, "end"), (10, "b"), (20, "c"), (10, "a")].map(|(at, name)| symbol(at, name, false, true));
        let functions = Functions::with_aliases(symbols.to_vec());
        let name = |address| functions.find(address).map(|id| functions[id].name);
        assert_eq!([9, 10, 19, 20, 29].map(name), [None, Some(b"a".as_slice()), Some(b"a"), Some(b"c"), Some(b"c")]);
        assert_eq!((name(30), name(31), functions.len()), (None, None, 4));
    }

    #[test]
    fn calls_of_unmarked_names_count_for_the_function_below() {
        let functions = Functions::new(
            vec![
                symbol(10, "label", false, false),
                symbol(20, "f", false, true),
                symbol(30, "inner", true, false),
                symbol(40, "g", false, true),
            ],
            50,
        );
        let called_as = |id: FunctionId| functions[id].called_as.map(FunctionId::index);
        assert_eq!(functions.ids().map(called_as).collect::<Vec<_>>(), [None, Some(1), Some(1), Some(3)]);
    }

    #[test]
    fn one_name_for_one_address() {
        assert_eq!(names(vec![symbol(10, "_a", false, true), symbol(10, "a", false, true)]), ["a"]);
        assert_eq!(names(vec![symbol(10, "__a", false, true), symbol(10, "_a", false, true)]), ["_a"]);
        assert_eq!(names(vec![symbol(10, "b", false, true), symbol(10, "a", false, true)]), ["b"]);
        assert_eq!(names(vec![symbol(10, "s", true, true), symbol(10, "_g", false, false)]), ["_g"]);
        assert_eq!(names(vec![symbol(10, "label", false, false), symbol(10, "_f", false, true)]), ["_f"]);
    }

    #[test]
    fn a_function_reaches_to_the_end_of_its_lines() {
        let functions = Functions::new(vec![symbol(10, "f", false, true), symbol(30, "g", false, true)], 50);
        let lines = [symbol(10, "f", false, false), symbol(20, "f", false, false)];
        let all = functions.with_lines(lines.to_vec(), 50);
        let extents: Vec<_> = all.as_slice().iter().map(|one| (one.address, one.last, one.reach)).collect();
        assert_eq!(extents, [(10, 19, 29), (20, 29, 29), (30, 49, 49)]);
        assert_eq!(all.ids().map(|id| all.with_its_lines(id)).collect::<Vec<_>>(), [0..2, 1..2, 2..3]);
        // The last alias has no addresses.
        let alone = Functions::with_aliases(vec![symbol(10, "f", false, true)]);
        assert_eq!(alone.with_its_lines(FunctionId(0)), 0..1);
        let end = Functions::with_aliases(vec![symbol(10, "f", false, true), symbol(20, "g", false, true)]);
        assert_eq!(end.with_its_lines(FunctionId(1)), 1..2);
    }

    #[test]
    fn parts_of_one_name_count_for_the_first() {
        let symbols = [(10, "a.o"), (20, "f"), (30, "a.o"), (40, "b.o"), (50, "f")];
        let mut functions = Functions::new(symbols.map(|(at, name)| symbol(at, name, false, true)).to_vec(), 60);
        functions.sorted[1].counts_for = FunctionId(2);
        functions.merge_parts(|function| function.name.ends_with(b".o"));
        let owners: Vec<usize> = functions.ids().map(|id| functions[id].counts_for.index()).collect();
        assert_eq!(owners, [0, 0, 0, 3, 4]);
        let whole: Vec<bool> = functions.ids().map(|id| functions.is_whole(id)).collect();
        assert_eq!(whole, [true, false, false, true, true]);
    }

    #[test]
    fn functions_that_overlap_a_range() {
        let symbols = [(10, "f"), (20, "g"), (30, "h")].map(|(at, name)| symbol(at, name, false, true));
        let functions = Functions::new(symbols.to_vec(), 40);
        let found = |range: Range<u64>| functions.overlapping(&range).map(FunctionId::index).collect::<Vec<_>>();
        assert_eq!([found(0..10), found(10..20), found(20..30), found(40..50)], [vec![], vec![0], vec![1], vec![]]);
        assert_eq!([found(19..20), found(19..21), found(0..99)], [vec![0], vec![0, 1], vec![0, 1, 2]]);
    }

    #[test]
    fn readable_names_are_kept_as_long_as_there_is_memory() {
        let symbols = [(10, "_Z1fv"), (20, "_Z1gv"), (30, "main")].map(|(at, name)| symbol(at, name, false, true));
        let mut functions = Functions::new(symbols.to_vec(), 40);
        let kept = |functions: &Functions<'_>, at: usize| functions.sorted[at].readable.get().cloned();
        assert_eq!(functions.readable(FunctionId(0)).as_ref(), b"f()");
        assert_eq!(kept(&functions, 0), Some(Some(b"f()".to_vec())));
        // Each of these names takes all the work that a name may take.
        (0..1024).for_each(|_| _ = functions.readable_name(b"_RMC0FGZZZ_Eu"));
        assert_eq!(functions.readable(FunctionId(1)).as_ref(), b"g()");
        assert_eq!(kept(&functions, 1), None);
        functions.set_demangling(gmon_demangle::Options { style: gmon_demangle::Style::Rust, ..Default::default() });
        assert_eq!(functions.readable(FunctionId(1)).as_ref(), b"_Z1gv");
        assert_eq!(kept(&functions, 1), Some(None), "a name that stays as it is needs no memory");
    }

    #[test]
    fn counts_are_those_of_a_search() {
        let mut random = 1_u64;
        for (count, bits) in [(0, 1), (1, 10), (2, 63), (3, 64), (1000, 12), (1000, 40), (5000, 64)] {
            let mut next = || {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                random >> (64 - bits)
            };
            let mut sorted: Vec<u64> = (0..count).map(|_| next()).collect();
            sorted.sort_unstable();
            let buckets = Buckets::new(&sorted);
            let near = sorted.iter().flat_map(|at| [at.wrapping_sub(1), *at, at.wrapping_add(1)]);
            for address in near.chain((0..1000).map(|_| next())).chain([0, 1, u64::MAX - 1, u64::MAX]) {
                let expected = sorted.partition_point(|known| *known <= address);
                assert_eq!(buckets.count(&sorted, address), expected, "{address} of {count} of {bits} bits");
            }
        }
    }
}
