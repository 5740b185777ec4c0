//! The checks of profiles: detection, reading, writing, and sums.

use std::collections::BTreeMap;
use std::io::Cursor;

use gmon::{
    Accumulator, Counter, CounterWidth, DataModel, Encoding, Form, Hints, OldHeader, Order, Profile, Records, Unit,
    count_records, read_as, write_to_within, write_within,
};

use crate::{Limits, parts};

const LIMITS: Limits = Limits { bytes_per_byte: 8, bytes: 2 << 10, steps_per_byte: 100, steps: 5_000 };

/// The limits of Darwin's and NeXT's tagged files: the smallest histogram has 22 bytes there, fewer than in any other
/// form, and each of the first 256 images may have only 5 bytes.
const TAGGED: Limits = Limits { bytes_per_byte: 16, bytes: 64 << 10, ..LIMITS };

/// The limits of a file that is read in pieces of 64 kilobytes.
const IN_PIECES: Limits = Limits { bytes: 256 << 10, steps: 50_000, ..TAGGED };

/// The size of the pieces in which short inputs are read once more.
const SMALL_PIECE: usize = 32;

/// The most bytes that a written file may repeat because a count does not fit its field.
const MOST_REPEATED: u64 = 1 << 14;

/// Every form.
const FORMS: [Form; 20] = [
    Form::Gnu,
    Form::Bsd,
    Form::OpenBsd,
    counter(CounterWidth::Bits8, false),
    counter(CounterWidth::Bits8, true),
    counter(CounterWidth::Bits16, false),
    counter(CounterWidth::Bits16, true),
    counter(CounterWidth::Bits32, false),
    counter(CounterWidth::Bits32, true),
    counter(CounterWidth::Bits64, false),
    counter(CounterWidth::Bits64, true),
    Form::OldBsd(OldHeader::Packed),
    Form::OldBsd(OldHeader::Padded),
    Form::OldBsd(OldHeader::Wide),
    Form::LdProfile,
    Form::Darwin,
    Form::Next,
    Form::IllumosProf,
    Form::IllumosRtld,
    Form::MonOut,
];

const fn counter(width: CounterWidth, signed: bool) -> Form {
    Form::FreeBsd(Counter { width, signed })
}

/// Takes an encoding from the beginning of an input.
fn encoding(input: &mut &[u8]) -> Encoding {
    let number = usize::from(parts::byte(input));
    let model = [DataModel::Ilp32, DataModel::Lp64, DataModel::Llp64][number / FORMS.len() % 3];
    let order = [Order::Little, Order::Big][number / FORMS.len() / 3 % 2];
    Encoding::new(FORMS[number % FORMS.len()], model, order)
}

/// Takes hints from the beginning of an input.
fn hints(input: &mut &[u8]) -> Hints {
    let kinds = parts::byte(input);
    let known = encoding(input);
    let mut hints = Hints::new();
    if kinds & 1 != 0 {
        hints = hints.with_form(known.form);
    }
    if kinds & 2 != 0 {
        hints = hints.with_word(known.word());
    }
    if kinds & 4 != 0 {
        hints = hints.with_model(known.model);
    }
    if kinds & 8 != 0 {
        hints = hints.with_order(known.order);
    }
    hints
}

/// The input is an encoding and a profile. All ways to read the profile have the same result.
pub fn read(mut input: &[u8]) {
    let encoding = encoding(&mut input);
    let limits = if matches!(encoding.form, Form::Darwin | Form::Next) { TAGGED } else { LIMITS };
    let whole = limits.hold(input.len(), || read_as(input, encoding));
    let by_records = limits.hold(input.len(), || Profile::from_records(Records::new(input, encoding)?));
    assert_eq!(by_records, whole);
    let in_pieces = IN_PIECES.hold(input.len(), || Profile::from_records(Records::from_reader(input, encoding)?));
    assert_eq!(in_pieces, whole);
    // Pieces that are smaller than most inputs.
    let small = IN_PIECES
        .hold(input.len(), || Profile::from_records(Records::from_reader_in_pieces(input, encoding, SMALL_PIECE)?));
    assert_eq!(small, whole);
    let counts = limits.hold(input.len(), || count_records(input, encoding));
    if let Ok(profile) = whole {
        let counts = counts.expect("a profile that was read");
        assert_eq!((counts.arcs, counts.images), (profile.arcs().len(), profile.images().len()));
    }
}

/// The input is hints and a profile. The detected encoding agrees with the hints. With this encoding as hints,
/// detection finds the same encoding again.
pub fn detect(mut input: &[u8]) {
    let hints = hints(&mut input);
    let found = LIMITS.hold(input.len(), || gmon::detect(input, &hints));
    assert_eq!(IN_PIECES.hold(input.len(), || gmon::detect_reader(Cursor::new(input), &hints)), found);
    match found {
        Ok(detection) => {
            let found = detection.encoding();
            assert!(hints.form().is_none_or(|form| form == found.form), "{hints:?} {found:?}");
            assert!(hints.word().is_none_or(|word| word == found.word()), "{hints:?} {found:?}");
            assert!(hints.model().is_none_or(|model| model == found.model), "{hints:?} {found:?}");
            assert!(hints.order().is_none_or(|order| order == found.order), "{hints:?} {found:?}");
            assert!(detection.evidence().iter().all(|evidence| !evidence.to_string().is_empty()));
            let all = Hints::new().with_form(found.form).with_model(found.model).with_order(found.order);
            assert_eq!(gmon::detect(input, &all).map(|detection| detection.encoding()), Ok(found));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The input is an encoding to write, hints, and a profile. What is written can be read again, with the same counts.
pub fn rewrite(mut input: &[u8]) {
    let (encoding, hints) = (encoding(&mut input), hints(&mut input));
    let Ok(profile) = gmon::read(input, &hints) else { return };
    let Ok(bytes) = write_within(&profile, encoding, MOST_REPEATED) else { return };
    let mut written = Vec::new();
    assert_eq!(write_to_within(&profile, encoding, MOST_REPEATED, &mut written), Ok(()));
    assert!(written == bytes, "a file that is written in pieces differs");
    let again = read_as(&bytes, encoding);
    let again = again.unwrap_or_else(|error| panic!("{encoding}: what was written cannot be read: {error}"));
    if encoding.form == Form::IllumosProf {
        // The form has no bins: each sample becomes one at the first address of its bin.
        assert_eq!(addresses(&again), addresses(&profile));
        assert_eq!(counts(&again).map(|all| all.arcs().to_vec()), counts(&profile).map(|all| all.arcs().to_vec()));
    } else {
        assert_eq!(counts(&again), counts(&profile), "{encoding}");
    }
}

/// The samples by the first addresses of their bins.
fn addresses(profile: &Profile) -> BTreeMap<u64, i128> {
    let mut samples = BTreeMap::new();
    for histogram in profile.histograms() {
        for (bin, count) in histogram.hit() {
            *samples.entry(histogram.bin_range(bin).start).or_default() += count;
        }
    }
    samples
}

/// The counts of a profile, without what some forms do not store: the unit of samples, and arcs and basic blocks with a
/// count of 0. `None` if a count needs more than 64 bits.
fn counts(profile: &Profile) -> Option<Profile> {
    let mut counts = total([profile])?;
    counts.set_unit(Unit::seconds(100));
    counts.retain_arcs(|arc| arc.count != 0);
    counts.retain_blocks(|block| block.count != 0);
    Some(counts)
}

/// The sum of profiles; `None` if they cannot be added up.
fn total<'a>(profiles: impl IntoIterator<Item = &'a Profile>) -> Option<Profile> {
    let mut sum = Accumulator::new();
    for profile in profiles {
        sum.add(profile.clone()).ok()?;
    }
    Some(sum.finish())
}

/// The input is parts, each of them a profile. Neither the order of the profiles nor sums of some of them change the
/// sum. A profile that cannot be added changes nothing.
pub fn sum(mut input: &[u8]) {
    let length = input.len();
    let mut profiles = Vec::new();
    while let Some(part) = parts::take(&mut input) {
        profiles.extend(Profile::parse(part));
    }
    let forward = TAGGED.hold(length, || total(&profiles));
    assert_eq!(total(profiles.iter().rev()), forward);
    let (first, rest) = profiles.split_at(profiles.len() / 2);
    if let (Some(first), Some(rest)) = (total(first), total(rest)) {
        assert_eq!(total([&rest, &first]), forward);
    }
    let mut sum = Accumulator::new();
    for profile in profiles {
        let before = sum.clone();
        if sum.add(profile).is_err() {
            assert_eq!(sum.clone().finish_in_order(), before.finish_in_order());
        }
    }
}
