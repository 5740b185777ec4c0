//! Detects the encoding of a profile.

use crate::decode::Result;
use crate::detection::file::{File, InMemory};
use crate::detection::{Detection, foreign};
use crate::families::family::Sign;
use crate::families::{find_hinted, find_signed};
use crate::read::read_as;
use crate::{Error, Hints, Profile};

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
    #[doc = include_str!("../examples/watch.rs")]
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
/// [`Error::Foreign`] and [`Error::Unknown`] for files that are not profiles,
/// [`Error::OtherEncoding`] for a profile that the hints exclude, [`Error::Ambiguous`] for a profile that has
/// more than one meaning, and the errors of [`read_as`] for a profile that is too damaged to detect the encoding.
///
/// A program that converts a file of any form, and prints the evidence for the form:
///
/// ```no_run
#[doc = include_str!("../examples/convert.rs")]
/// ```
pub fn detect(bytes: &[u8], hints: &Hints) -> Result<Detection> {
    find(&mut InMemory(bytes), hints)
}

/// Detects the encoding of a profile that is not in memory, as [`detect`] does, with memory for one record.
///
/// The file starts at offset 0, wherever the position of `reader` is. At the end, the position is 0 again, so
/// [`Records::from_reader`](crate::Records::from_reader) can follow.
///
/// The function reads the first 4 KiB, and then the file once for each encoding that these bytes allow: to its end if
/// the encoding fits, and to the first record that does not fit otherwise. Files of known writers are read to their end
/// once or twice. No file is read more than 11 times (a file called `mon.out` that may also be 4.2BSD's), and twice as
/// often if the hints exclude the file, because the error has the encoding without the hints.
///
/// # Errors
///
/// As for [`detect`], and [`Error::Io`] if the file cannot be read.
#[cfg(feature = "std")]
pub fn detect_reader<R: std::io::Read + std::io::Seek>(reader: R, hints: &Hints) -> Result<Detection> {
    let mut file = crate::detection::file::in_pieces::InPieces::new(reader)?;
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
                Ok(found) => Err(Error::OtherEncoding { found: found.encoding() }),
                Err(_) => Err(error),
            }
        }
        result => result,
    }
}

fn find_once(file: &mut impl File, hints: &Hints) -> Result<Detection> {
    if file.start().is_empty() {
        return Err(Error::Empty);
    }
    if let Some(form) = hints.form() {
        return find_hinted(file, form, hints);
    }
    let found = find_signed(Sign::Magic, file, hints).or_else(|| find_signed(Sign::Version, file, hints));
    if found.is_none() && foreign::of(file.start()).is_some() {
        return Err(foreign::error(file, hints));
    }
    let found = found.or_else(|| find_signed(Sign::Name, file, hints));
    let found = found.or_else(|| find_signed(Sign::Content, file, hints));
    found.unwrap_or_else(|| Err(foreign::error(file, hints)))
}
