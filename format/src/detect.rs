//! What kind of profile a file is.

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
/// Those of both.
pub fn read(bytes: &[u8], hints: &Hints) -> Result<Profile> {
    read_as(bytes, detect(bytes, hints)?)
}

/// Finds out how a profile is laid out.
///
/// What the hints say is believed, and the rest is detected. Magic and version tell the family, and mostly the byte
/// order; the word size follows from where 4.4BSD's version stands, or from which of both lets the records of a GNU
/// file end with the file. A GNU file without records is the same in both word sizes: it is held to be a 64-bit one.
///
/// # Errors
///
/// [`Error::Foreign`] and [`Error::Unknown`] for files that are no profiles or not of these forms,
/// [`Error::OtherEncoding`] for a profile that the hints exclude, and, for a profile that is broken so early that its
/// layout can not be told, whatever [`read_as`] finds wrong with it.
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

/// The encoding of a file of 4.4BSD's family, or what is wrong with its header. `None` if its version is nowhere.
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

/// Whether 4.4BSD's version stands where it should: behind two addresses and `ncnt`.
fn has_version(bytes: &[u8], word: Word, order: Order) -> bool {
    let mut cursor = Cursor::new(bytes, word, order);
    let fields = (cursor.word(), cursor.word(), cursor.i32(), cursor.i32());
    matches!(fields, (Ok(_), Ok(_), Ok(_), Ok(GMONVERSION)))
}

/// Which of 4.4BSD's forms a header has, by its first spare word.
///
/// No kind of counter is a multiple of an arc's size, so the two meanings of that word do not collide. Anything else in
/// it is what a writer found on its stack.
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

/// What is wrong with a file that is said to be of 4.4BSD's family and has no version of it.
fn bsd_error(bytes: &[u8], hints: &Hints) -> Error {
    let word = hints.word.unwrap_or(Word::W64);
    let order = hints.order.unwrap_or(Order::Little);
    match Header::read(&mut Cursor::new(bytes, word, order), word) {
        Err(error) => error,
        Ok(_) => foreign::name(bytes),
    }
}
