//! The checks of images: symbols, line tables, and inlined functions.

use gprof::internals::{Functions, Headers, Image, ImageStorage, Policy};

use crate::Limits;
use crate::program::{CODE, FUNCTIONS, Program};

const LIMITS: Limits = Limits { bytes_per_byte: 8, bytes: 64 << 10, steps_per_byte: 500, steps: 100_000 };

/// The limits of lookups. A function takes about 130 bytes, and its symbol in a 32-bit Mach-O file has 12 bytes.
const LOOKUPS: Limits = Limits { bytes_per_byte: 16, ..LIMITS };

/// The limits of a program with compressed sections, which may have a mebibyte of content for an input of any length.
const UNPACKED: Limits = Limits { bytes: 4 << 20, steps: 50_000_000, ..LIMITS };

/// All ways to choose symbols.
const POLICIES: [Policy; 4] = [
    Policy::Full,
    Policy::Compat,
    Policy::Bsd { statics: true, dots: true },
    Policy::Bsd { statics: false, dots: false },
];

/// The input is an image: an ELF, PE, or Mach-O file. A symbol is in its function, and the headers say what the image
/// says.
pub fn symbols(input: &[u8]) {
    let headers = LIMITS.hold(input.len(), || Headers::read(input));
    for policy in POLICIES {
        let storage = ImageStorage::default();
        let Ok(image) = LIMITS.hold(input.len(), || Image::parse(input, policy, &storage)) else { continue };
        let headers = headers.as_ref().expect("an image has headers");
        assert_eq!((headers.word, headers.order), (image.word, image.order));
        assert_eq!((headers.code.as_ref(), &headers.build_id), (Some(&image.code), &image.build_id()));
        LOOKUPS.hold(input.len(), || look_up(&image));
    }
}

/// Looks up each symbol in every way.
fn look_up(image: &Image<'_>) {
    let nearest = image.nearest();
    let _ = (image.every_symbol(), image.local_files());
    let functions = Functions::new(image.symbols.clone(), image.code.end);
    for symbol in &image.symbols {
        let _ = nearest.name(symbol.address);
        if let Some(id) = functions.find(symbol.address) {
            let function = &functions.as_slice()[id.index()];
            assert!(function.address <= symbol.address && symbol.address <= function.last, "{function:?} {symbol:?}");
        }
    }
}

/// The input is debug information for a small program (`program.rs`). The ranges of lines are in ascending order, and
/// each address is in its range.
pub fn lines(input: &[u8]) {
    with_image(input, |image| {
        let lines = image.files.lines();
        let mut end = 0;
        for (at, range) in lines.within(0..u64::MAX).enumerate() {
            assert!(end <= range.start && range.start < range.end, "{range:x?} after 0x{end:x}");
            end = range.end;
            assert_eq!((lines.find(range.start), lines.find(range.end - 1)), (Some(range), Some(range)));
            // A path may have three parts of four kilobytes each.
            if at < 16 {
                assert!(lines.path(range.file).full().len() <= 3 * 4096 + 2);
            }
        }
        let names = image.files.base_names((CODE.start..CODE.end).step_by(16).collect());
        assert!(names.iter().all(|(address, name)| CODE.contains(address) && !name.contains(&b'/')));
    });
}

/// The input is debug information for a small program (`program.rs`). The ways to ask for inlined functions agree.
pub fn inlines(input: &[u8]) {
    with_image(input, |image| {
        let Some(frames) = image.files.frames() else { return };
        for address in FUNCTIONS.iter().flat_map(|function| [0, 1, 8, 64, 128].map(|offset| function + offset)) {
            let (inlined, all) = (frames.inlined(address), frames.all_inlined(address));
            assert!(inlined.is_none() || inlined == all.last().copied(), "{inlined:?} {all:?}");
            assert!(frames.callers(address).len() >= all.len());
            let _ = frames.innermost(address);
        }
    });
}

/// Runs a check for a program with this debug information.
fn with_image(input: &[u8], check: impl FnOnce(&Image<'_>)) {
    let Program { bytes, is_compressed } = Program::new(input);
    let storage = ImageStorage::default();
    let image = Image::parse(&bytes, Policy::Full, &storage).expect("the program is valid");
    let limits = if is_compressed { UNPACKED } else { LIMITS };
    limits.hold(bytes.len(), || check(&image));
}
