//! Detects the encoding of a profile.

mod candidates;
mod foreign;
mod gnu;

use candidates::candidates;

use crate::layout::{GMONVERSION, GNU_MAGIC};
use crate::read::bsd::Header;
use crate::read::cursor::Cursor;
use crate::read::read_as;
use crate::{Counter, Encoding, Error, Form, Hints, Order, Profile, Result, Word};

/// Reads a profile of any form: [`detect`], then [`read_as`].
///
/// # Errors
///
/// The errors of both.
pub fn read(bytes: &[u8], hints: &Hints) -> Result<Profile> {
    read_as(bytes, detect(bytes, hints)?)
}

/// Detects the encoding of a profile.
///
/// Hints are trusted, and the rest is detected. Magic and version determine the family, and usually the byte order.
/// The word size follows from the offset of 4.4BSD's version, or from the word size with which the records of a GNU
/// file end at the end of the file. A GNU file without records is the same in both word sizes and counts as 64-bit.
///
/// # Errors
///
/// [`Error::Foreign`] and [`Error::Unknown`] for files that are not profiles or have other forms,
/// [`Error::OtherEncoding`] for a profile that the hints exclude, and the errors of [`read_as`] for a profile whose
/// start is too damaged to detect the encoding.
pub fn detect(bytes: &[u8], hints: &Hints) -> Result<Encoding> {
    match find(bytes, hints) {
        Err(error) if hints.word.is_some() || hints.order.is_some() => {
            match find(bytes, &Hints { form: hints.form, ..Hints::default() }) {
                Ok(found) => Err(Error::OtherEncoding { found }),
                Err(_) => Err(error),
            }
        }
        result => result,
    }
}

fn find(bytes: &[u8], hints: &Hints) -> Result<Encoding> {
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    match hints.form {
        Some(Form::Gnu) => gnu::find(bytes, hints),
        None if bytes.starts_with(&GNU_MAGIC) => gnu::find(bytes, hints),
        None => find_bsd(bytes, hints).unwrap_or_else(|| Err(foreign::name(bytes))),
        Some(_) => find_bsd(bytes, hints).unwrap_or_else(|| Err(bsd_error(bytes, hints))),
    }
}

/// The encoding of a file of the 4.4BSD family, or the error in its header. `None` if no encoding has the version in
/// the right place.
fn find_bsd(bytes: &[u8], hints: &Hints) -> Option<Result<Encoding>> {
    let mut failure = None;
    for (word, order) in candidates(hints) {
        if !has_version(bytes, word, order) {
            continue;
        }
        let mut cursor = Cursor::new(bytes, word, order);
        match Header::read(&mut cursor, word) {
            Ok(header) => {
                let form = hints.form.unwrap_or_else(|| form_of(&header, cursor.left(), word));
                return Some(Ok(Encoding { form, word, order }));
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map(Err)
}

/// Whether 4.4BSD's version is in its place: after two addresses and `ncnt`.
fn has_version(bytes: &[u8], word: Word, order: Order) -> bool {
    let mut cursor = Cursor::new(bytes, word, order);
    let fields = (cursor.word(), cursor.word(), cursor.i32(), cursor.i32());
    matches!(fields, (Ok(_), Ok(_), Ok(_), Ok(GMONVERSION)))
}

/// The form of a 4.4BSD header, from its first spare word.
///
/// No counter type is a multiple of an arc's size, so the two meanings of that word do not collide. Any other value
/// is uninitialized memory of the writer.
fn form_of(header: &Header, behind_header: u64, word: Word) -> Form {
    let arcs_size = behind_header.saturating_sub(header.samples_size);
    if let Some(counter) = Counter::from_histcounter_type(header.spare)
        && header.samples_size.is_multiple_of(counter.width.size() as u64)
    {
        return Form::FreeBsd(counter);
    }
    let is_totarc = |bytes: u64| bytes != 0 && bytes == arcs_size && bytes.is_multiple_of(word.arc_size());
    if u64::try_from(header.spare).is_ok_and(is_totarc) { Form::OpenBsd } else { Form::Bsd }
}

/// The error for a file that is declared to be of the 4.4BSD family and does not have the version.
fn bsd_error(bytes: &[u8], hints: &Hints) -> Error {
    let word = hints.word.unwrap_or(Word::W64);
    let order = hints.order.unwrap_or(Order::Little);
    match Header::read(&mut Cursor::new(bytes, word, order), word) {
        Err(error) => error,
        Ok(_) => foreign::name(bytes),
    }
}
