//! The decoder of any form.

use alloc::vec::Vec;

use super::Result;
use super::bsd::BsdDecoder;
use super::cursor::Cursor;
use super::darwin::Tagged;
use super::decode::Decode;
use super::gnu::GnuDecoder;
use super::ld_profile::LdProfileDecoder;
use super::mon_out::MonOutDecoder;
use super::old_bsd::OldBsdDecoder;
use super::prof::Prof;
use super::rtld::Rtld;
use crate::{Arc, Encoding, Form, ReadError, Record, Word};

/// The decoder of any form.
#[derive(Clone)]
pub(crate) enum Decoder {
    Gnu(GnuDecoder),
    Bsd(BsdDecoder),
    OldBsd(OldBsdDecoder),
    LdProfile(LdProfileDecoder),
    MonOut(MonOutDecoder),
    Tagged(Tagged),
    Prof(Prof),
    Rtld(Rtld),
}

/// Calls a method of the decoder of the form.
macro_rules! of_form {
    ($decoder:expr, $method:ident($($argument:expr),*)) => {
        match $decoder {
            Decoder::Gnu(decoder) => decoder.$method($($argument),*),
            Decoder::Bsd(decoder) => decoder.$method($($argument),*),
            Decoder::OldBsd(decoder) => decoder.$method($($argument),*),
            Decoder::LdProfile(decoder) => decoder.$method($($argument),*),
            Decoder::MonOut(decoder) => decoder.$method($($argument),*),
            Decoder::Tagged(decoder) => decoder.$method($($argument),*),
            Decoder::Prof(decoder) => decoder.$method($($argument),*),
            Decoder::Rtld(decoder) => decoder.$method($($argument),*),
        }
    };
}

impl Decoder {
    /// Makes the decoder of an encoding, at the start of the file.
    pub(crate) fn new(encoding: Encoding) -> Result<Decoder> {
        if !encoding.exists() {
            return Err(ReadError::NoNarrowLong { encoding });
        }
        match encoding.form {
            Form::Gnu => Ok(Decoder::Gnu(GnuDecoder::default())),
            Form::Bsd | Form::FreeBsd(_) | Form::OpenBsd => Ok(Decoder::Bsd(BsdDecoder::new(encoding))),
            Form::OldBsd(header) => Ok(Decoder::OldBsd(OldBsdDecoder::new(header, encoding.model))),
            Form::LdProfile => Ok(Decoder::LdProfile(LdProfileDecoder::default())),
            Form::MonOut => Ok(Decoder::MonOut(MonOutDecoder::default())),
            Form::Next if encoding.word() == Word::W64 => Err(ReadError::NoWideAddresses { form: encoding.form }),
            Form::Darwin | Form::Next => Ok(Decoder::Tagged(Tagged::new(encoding.form))),
            Form::IllumosProf => Ok(Decoder::Prof(Prof::new())),
            Form::IllumosRtld => Ok(Decoder::Rtld(Rtld::new())),
        }
    }
}

impl Decode for Decoder {
    fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
        of_form!(self, next(cursor))
    }

    fn arcs(&mut self, cursor: &mut Cursor<'_>, arcs: &mut Vec<Arc>) {
        of_form!(self, arcs(cursor, arcs));
    }

    fn block_lists(&self) -> usize {
        of_form!(self, block_lists())
    }

    fn has_usual_names(&self) -> bool {
        of_form!(self, has_usual_names())
    }

    fn skip_arcs(&mut self, cursor: &mut Cursor<'_>) -> usize {
        of_form!(self, skip_arcs(cursor))
    }
}
