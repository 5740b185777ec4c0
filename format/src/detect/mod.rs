//! Detects the encoding of a profile.

mod bsd;
mod candidates;
mod detection;
mod evidence;
mod file;
mod foreign;
mod gnu;
mod illumos;
mod ld_profile;
mod mon_out;
mod old_bsd;
mod raw_samples;
mod tagged;

use alloc::vec;

pub use detection::Detection;
pub use evidence::Evidence;
#[cfg(feature = "std")]
use file::in_pieces::InPieces;
use file::{File, InMemory};

use candidates::candidates;

use crate::hints::KnownName;
use crate::layout::GNU_MAGIC;
use crate::read::{Result, read_as};
use crate::{Encoding, Form, HintKind, Hints, Profile, ReadError};

impl Profile {
    /// Reads a profile of any form without hints: [`read`](crate::read()).
    ///
    /// # Errors
    ///
    /// As for [`read`](crate::read()).
    ///
    /// A program that watches the profile of a running program:
    ///
    /// ```no_run
    #[doc = include_str!("../../examples/watch.rs")]
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Profile> {
        read(bytes, &Hints::default())
    }
}

/// Reads a profile of any form: [`detect`], then [`read_as`].
///
/// # Errors
///
/// The errors of both.
pub fn read(bytes: &[u8], hints: &Hints) -> Result<Profile> {
    read_as(bytes, detect(bytes, hints)?.encoding())
}

/// Detects the encoding of a profile.
///
/// Hints are trusted, and the rest is detected. Magic and version determine the family, and usually the byte order.
/// The word size follows from the offset of 4.4BSD's version, or from the word size with which the records of a GNU
/// file end at the end of the file. A GNU file without records is the same in both word sizes and counts as 64-bit.
///
/// # Errors
///
/// [`ReadError::Foreign`] and [`ReadError::Unknown`] for files that are not profiles,
/// [`ReadError::OtherEncoding`] for a profile that the hints exclude, [`ReadError::Ambiguous`] for a profile that has
/// more than one meaning, and the errors of [`read_as`] for a profile that is too damaged to detect the encoding.
///
/// A program that converts a file of any form, and prints the evidence for the form:
///
/// ```no_run
#[doc = include_str!("../../examples/convert.rs")]
/// ```
pub fn detect(bytes: &[u8], hints: &Hints) -> Result<Detection> {
    find(&mut InMemory(bytes), hints)
}

/// Detects the encoding of a profile that is not in memory, as [`detect`] does, with memory for one record.
///
/// The file starts at offset 0, wherever the position of `reader` is. At the end, the position is 0 again, so
/// [`Records::from_reader`](crate::Records::from_reader) can follow.
///
/// The function reads the first 4 KiB, and then the file once for each encoding that these bytes allow: to its end if the
/// encoding fits, and to the first record that does not fit otherwise. Files of known writers are read to their end once
/// or twice. No file is read more than 11 times (a file called `mon.out` that may also be 4.2BSD's), and twice as often if
/// the hints exclude the file, because the error has the encoding without the hints.
///
/// # Errors
///
/// As for [`detect`], and [`ReadError::Io`] if the file cannot be read.
#[cfg(feature = "std")]
pub fn detect_reader<R: std::io::Read + std::io::Seek>(reader: R, hints: &Hints) -> Result<Detection> {
    let mut file = InPieces::new(reader)?;
    let found = find(&mut file, hints);
    let rewound = file.rewind();
    found.and_then(|found| rewound.map(|()| found))
}

fn find(file: &mut impl File, hints: &Hints) -> Result<Detection> {
    // Most forms do not depend on the size of a `long`: the caller's data model holds if the addresses have its size.
    let with_model = |found: Detection| match hints.model().filter(|model| model.word() == found.encoding().word()) {
        Some(model) => found.with_model(model),
        None => found,
    };
    match find_once(file, hints).map(with_model) {
        Err(error) if hints.word().is_some() || hints.order().is_some() => {
            match find_once(file, &hints.without_layout()) {
                Ok(found) => Err(ReadError::OtherEncoding { found: found.encoding() }),
                Err(_) => Err(error),
            }
        }
        result => result,
    }
}

fn find_once(file: &mut impl File, hints: &Hints) -> Result<Detection> {
    if file.start().is_empty() {
        return Err(ReadError::Empty);
    }
    match hints.form() {
        Some(Form::Gnu) => gnu::find(file, hints),
        Some(Form::Darwin | Form::Next) => {
            tagged::find(file, hints).unwrap_or_else(|| Err(foreign::error(file, hints)))
        }
        Some(Form::IllumosProf | Form::IllumosRtld) => {
            let found = illumos::find(file, hints)
                .filter(|found| found.as_ref().is_ok_and(|found| Some(found.encoding().form) == hints.form()));
            found.unwrap_or_else(|| Err(foreign::error(file, hints)))
        }
        Some(Form::LdProfile) => ld_profile::find(file, hints),
        Some(form @ Form::OldBsd(_)) => old_bsd::find(file, hints).unwrap_or_else(|| told(file, form, hints)),
        Some(form @ Form::MonOut) => mon_out::find(file, hints).unwrap_or_else(|| told(file, form, hints)),
        Some(_) => bsd::find(file, hints).unwrap_or_else(|| Err(bsd::error(file, hints))),
        None if ld_profile::is_one(file.start()) => ld_profile::find(file, hints),
        None if file.start().starts_with(&GNU_MAGIC) => gnu::find(file, hints),
        None => {
            let found = tagged::find(file, hints).or_else(|| illumos::find(file, hints));
            let found = found.or_else(|| bsd::find(file, hints));
            found.unwrap_or_else(|| without_magic(file, hints))
        }
    }
}

/// The encoding of a file without magic and version.
fn without_magic(file: &mut impl File, hints: &Hints) -> Result<Detection> {
    if foreign::of(file.start()).is_some() {
        return Err(foreign::error(file, hints));
    }
    let named = if hints.name() == Some(KnownName::MonOut) { mon_out::find(file, hints) } else { None };
    let found = named.or_else(|| old_bsd::find(file, hints));
    found.unwrap_or_else(|| Err(foreign::error(file, hints)))
}

/// The encoding of a file that does not fit the form that the caller gave. The reader finds what is wrong.
fn told(file: &impl File, form: Form, hints: &Hints) -> Result<Detection> {
    match candidates(hints).next() {
        Some((word, order)) => {
            let encoding = Encoding::new(form, hints.model_for(word), order);
            Ok(Detection::new(encoding, vec![Evidence::Hint(HintKind::Form)]))
        }
        None => Err(foreign::error(file, hints)),
    }
}
