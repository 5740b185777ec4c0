//! Encodings and profiles for the tests.
#![allow(dead_code)] // No test uses everything.

use gmon::{
    Accumulator, Arc, Bins, Block, Counter, CounterWidth, DataModel, Dimension, Encoding, Error, Form, Hints,
    Histogram, OldHeader, Order, Profile, Unit, Word,
};
use proptest::prelude::*;

mod other;

pub(crate) const WORDS: [Word; 2] = [Word::W32, Word::W64];
pub(crate) const ORDERS: [Order; 2] = [Order::Little, Order::Big];

/// Every type of FreeBSD's counters.
pub(crate) fn counters() -> Vec<Counter> {
    let widths = [CounterWidth::Bits8, CounterWidth::Bits16, CounterWidth::Bits32, CounterWidth::Bits64];
    widths.into_iter().flat_map(|width| [false, true].map(|signed| Counter { width, signed })).collect()
}

/// Every form, FreeBSD's with every counter and 4.2BSD's with every header.
pub(crate) fn forms() -> Vec<Form> {
    let variants = |form: &Form| match form {
        Form::FreeBsd(_) => counters().into_iter().map(Form::FreeBsd).collect(),
        Form::OldBsd(_) => [OldHeader::Packed, OldHeader::Padded, OldHeader::Wide].map(Form::OldBsd).to_vec(),
        form => vec![*form],
    };
    Form::ALL.iter().flat_map(variants).collect()
}

/// The forms of 4.4BSD and its descendants.
pub(crate) fn bsd_forms() -> Vec<Form> {
    let is_bsd = |form: &Form| matches!(form, Form::Bsd | Form::FreeBsd(_) | Form::OpenBsd);
    forms().into_iter().filter(is_bsd).collect()
}

/// Every form in every data model and byte order that systems have.
pub(crate) fn encodings() -> Vec<Encoding> {
    let models = [DataModel::Ilp32, DataModel::Lp64, DataModel::Llp64];
    let pairs = models.into_iter().flat_map(|model| ORDERS.map(|order| (model, order)));
    let all =
        forms().into_iter().flat_map(|form| pairs.clone().map(move |(model, order)| Encoding::new(form, model, order)));
    // Every form but LD_PROFILE holds the empty profile.
    let exists = |encoding: &Encoding| match gmon::write(&Profile::new(), *encoding) {
        Ok(_) | Err(Error::NoHistogram) => true,
        Err(Error::NoNarrowLong { .. } | Error::NoWideAddresses { .. }) => false,
        Err(error) => panic!("{encoding}: {error}"),
    };
    all.filter(exists).collect()
}

pub(crate) fn encoding() -> impl Strategy<Value = Encoding> {
    prop::sample::select(encodings())
}

/// The encodings that a file itself says: those of GNU and of 4.4BSD and its descendants.
pub(crate) fn said_encodings() -> Vec<Encoding> {
    let is_said = |encoding: &Encoding| encoding.form == Form::Gnu || bsd_forms().contains(&encoding.form);
    let all = encodings().into_iter().filter(is_said);
    // No system has signed counters of 16 bits: the type may be uninitialized memory.
    let unknown = Form::FreeBsd(Counter { width: CounterWidth::Bits16, signed: true });
    all.filter(|encoding| encoding.model != DataModel::Llp64 && encoding.form != unknown).collect()
}

/// A histogram of time with 100 samples a second.
pub(crate) fn seconds(lowpc: u64, highpc: u64, bins: &[u64]) -> Histogram {
    Histogram::new(lowpc..highpc, Unit::seconds(100), bins.to_vec()).unwrap()
}

/// A profile of one histogram.
pub(crate) fn sampled(histogram: Histogram) -> Profile {
    Profile::of_samples(vec![histogram]).unwrap()
}

/// A profile of arcs.
pub(crate) fn called(arcs: &[(u64, u64, u64)]) -> Profile {
    Profile::new().with_arcs(arcs.iter().map(|&(frompc, selfpc, count)| Arc::new(frompc, selfpc, count)))
}

/// The encoding that is detected.
pub(crate) fn found(bytes: &[u8], hints: &Hints) -> Result<Encoding, Error> {
    gmon::detect(bytes, hints).map(|detection| detection.encoding())
}

/// The sum of profiles.
pub(crate) fn sum(profiles: impl IntoIterator<Item = Profile>) -> Profile {
    let mut accumulator = Accumulator::new();
    for profile in profiles {
        accumulator.add(profile).unwrap();
    }
    accumulator.finish()
}

/// The highest address in an encoding.
fn highest(word: Word) -> u64 {
    match word {
        Word::W32 => u64::from(u32::MAX),
        Word::W64 => u64::MAX,
    }
}

/// A profile that fits the encoding. Some counts require repeated records.
pub(crate) fn profile(encoding: Encoding) -> BoxedStrategy<Profile> {
    if encoding.form != Form::Gnu && !bsd_forms().contains(&encoding.form) {
        return other::profile(encoding);
    }
    let most = if encoding.model == DataModel::Lp64 { 1 << 58 } else { 1 << 36 };
    let most = if encoding.form == Form::Gnu { 1 << 36 } else { most };
    let arcs = prop::collection::vec(arc(encoding.word(), most), 0..20);
    let blocks = if encoding.form == Form::Gnu { 0..5 } else { 0..1 };
    let block = (0..=highest(encoding.word()), 0..1u64 << 34).prop_map(|(addr, count)| Block::new(addr, count));
    let blocks = prop::collection::vec(block, blocks);
    let parts = (histograms(encoding), arcs, blocks);
    parts
        .prop_map(|(histograms, arcs, blocks)| {
            Profile::of_samples(histograms).unwrap().with_arcs(arcs).with_blocks(blocks)
        })
        .boxed()
}

fn arc(word: Word, most: u64) -> impl Strategy<Value = Arc> {
    let count = prop_oneof![3 => 0..1000u64, 1 => 0..most];
    let address = prop_oneof![0x1000..0x3000u64, 0..=highest(word)];
    (address.clone(), address, count).prop_map(|(frompc, selfpc, count)| Arc::new(frompc, selfpc, count))
}

fn histograms(encoding: Encoding) -> BoxedStrategy<Vec<Histogram>> {
    let one = histogram(encoding).prop_map(|histogram| vec![histogram]);
    let none = Just(Vec::new());
    match encoding.form {
        Form::Gnu => prop_oneof![1 => none, 4 => one, 3 => disjoint()].boxed(),
        _ => prop_oneof![1 => none, 6 => one].boxed(),
    }
}

/// A histogram of any range and any number of bins. In FreeBSD's form, a bin covers four bytes, as in its files.
fn histogram(encoding: Encoding) -> impl Strategy<Value = Histogram> {
    let addresses = (0..=highest(encoding.word()), 0..=highest(encoding.word()));
    let parts = (addresses, bins(encoding), any::<u32>(), dimension(encoding.form));
    let parts = parts.prop_filter("an empty range", |((first, second), ..)| first != second);
    parts.prop_map(move |((first, second), bins, profrate, (dimension, abbrev))| {
        let (lowpc, highpc) = match encoding.form {
            Form::FreeBsd(_) => (first / 2, first / 2 + 4 * Bins::len(&bins)),
            _ => (first.min(second), first.max(second)),
        };
        Histogram::new(lowpc..highpc, Unit { profrate, dimension, abbrev }, bins).unwrap()
    })
}

/// Adjacent histograms, some with gaps, in any order.
fn disjoint() -> impl Strategy<Value = Vec<Histogram>> {
    let pieces = prop::collection::vec((0..3u64, prop::collection::vec(0..70_000u64, 1..9)), 1..5);
    let histograms = (0x1000..0x8000_0000u64, 1..9u64, pieces).prop_map(|(mut lowpc, bin_size, pieces)| {
        let mut histograms = Vec::new();
        for (gap, bins) in pieces {
            lowpc += gap * 16;
            let highpc = lowpc + bins.len() as u64 * bin_size * 2;
            histograms.push(seconds(lowpc, highpc, &bins));
            lowpc = highpc;
        }
        histograms
    });
    histograms.prop_shuffle()
}

fn bins(encoding: Encoding) -> BoxedStrategy<Bins> {
    let Counter { width, signed } = encoding.form.counter();
    let any_sign = match (width, signed) {
        (CounterWidth::Bits8, true) => any::<i8>().prop_map(i64::from).boxed(),
        (CounterWidth::Bits16, true) => any::<i16>().prop_map(i64::from).boxed(),
        (CounterWidth::Bits32, true) => any::<i32>().prop_map(i64::from).boxed(),
        _ => any::<i64>().boxed(),
    };
    if signed {
        return prop::collection::vec(any_sign, 1..40).prop_map(Bins::I64).boxed();
    }
    let count = match width {
        _ if encoding.form == Form::Gnu => prop_oneof![5 => 0..100u64, 1 => 0..300_000u64].boxed(),
        CounterWidth::Bits8 => any::<u8>().prop_map(u64::from).boxed(),
        CounterWidth::Bits16 => any::<u16>().prop_map(u64::from).boxed(),
        CounterWidth::Bits32 => any::<u32>().prop_map(u64::from).boxed(),
        CounterWidth::Bits64 => any::<u64>().boxed(),
    };
    prop::collection::vec(count, 1..40).prop_map(Bins::U64).boxed()
}

fn dimension(form: Form) -> BoxedStrategy<(Dimension, u8)> {
    let seconds = Just((Dimension::SECONDS, b's'));
    match form {
        Form::Gnu => {
            let any = any::<([u8; 15], u8)>().prop_map(|(field, abbrev)| (Dimension::from_field(field), abbrev));
            prop_oneof![4 => seconds, 1 => any].boxed()
        }
        _ => seconds.boxed(),
    }
}

/// Every form in every word size and byte order that the form has.
pub(crate) fn all_encodings() -> Vec<Encoding> {
    encodings().into_iter().filter(|encoding| encoding.model != DataModel::Llp64).collect()
}
