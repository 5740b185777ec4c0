//! The families of forms, one wing for each: its names, its detection, its decoder, and its writer.
//!
//! The list below is the only place that knows all families. A new form is a variant of [`Form`], a wing, and a line of
//! the list.

mod bsd;
pub(crate) mod family;
mod gnu;
mod ld_profile;
mod mon_out;
mod old_bsd;
mod prof;
mod rtld;
mod tagged;

use alloc::vec::Vec;

use crate::decode::cursor::Cursor;
use crate::decode::{Decode, Result};
use crate::detection::Detection;
use crate::detection::file::File;
use crate::output::Output;
use crate::{Arc, Counter, Encoding, Form, Hints, OldHeader, Profile, Record};
use bsd::Bsd;
use family::{Family, Named, Sign};
use gnu::Gnu;
use ld_profile::LdProfile;
use mon_out::MonOut;
use old_bsd::OldBsd;
use prof::Prof;
use rtld::Rtld;
use tagged::Tagged;

/// Calls of the family of a form, all of them direct: reading has an inner loop over the records.
macro_rules! families {
    ($($family:ident: $($form:ident $(($example:expr))?),+;)+) => {
        impl Form {
            /// One form of each kind that this library reads, for lists of what is built in. FreeBSD's form has the
            /// counter of libc.
            pub const ALL: &[Form] = &[$($(Form::$form $(($example))?),+),+];
        }

        /// Each form by its names, with all types of counters and all headers.
        pub(crate) fn named() -> impl Iterator<Item = &'static Named> {
            [$(<$family as Family>::FORMS),+].into_iter().flatten()
        }

        /// The decoder of any form.
        #[derive(Clone)]
        pub(crate) enum Decoder {
            $($family(<$family as Family>::Decoder)),+
        }

        impl Decoder {
            /// Makes the decoder of an encoding, at the start of the file.
            pub(crate) fn new(encoding: Encoding) -> Result<Decoder> {
                match encoding.form {
                    $($(Form::$form { .. })|+ => $family::decoder(encoding).map(Decoder::$family)),+
                }
            }
        }

        impl Decode for Decoder {
            fn next(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<Record>> {
                match self {
                    $(Decoder::$family(decoder) => decoder.next(cursor)),+
                }
            }

            fn arcs(&mut self, cursor: &mut Cursor<'_>, arcs: &mut Vec<Arc>) {
                match self {
                    $(Decoder::$family(decoder) => decoder.arcs(cursor, arcs)),+
                }
            }

            fn block_lists(&self) -> usize {
                match self {
                    $(Decoder::$family(decoder) => decoder.block_lists()),+
                }
            }

            fn has_usual_names(&self) -> bool {
                match self {
                    $(Decoder::$family(decoder) => decoder.has_usual_names()),+
                }
            }

            fn skip_arcs(&mut self, cursor: &mut Cursor<'_>) -> usize {
                match self {
                    $(Decoder::$family(decoder) => decoder.skip_arcs(cursor)),+
                }
            }
        }

        /// The encoding of a file that the families with a sign recognize. `None` if the file is of none of them.
        pub(crate) fn find_signed(sign: Sign, file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
            let mut found = None;
            $(
                if found.is_none() && $family::SIGN == sign {
                    found = $family::find(file, hints);
                }
            )+
            found
        }

        /// The encoding of a file of the family of a form.
        pub(crate) fn find_hinted(file: &mut impl File, form: Form, hints: &Hints) -> Result<Detection> {
            match form {
                $($(Form::$form { .. })|+ => $family::find_hinted(file, form, hints)),+
            }
        }

        /// Writes a profile, if the form can hold it.
        pub(crate) fn write(
            profile: &Profile,
            encoding: Encoding,
            repeat_limit: u64,
            output: &mut Output<'_>,
        ) -> Result<()> {
            match encoding.form {
                $($(Form::$form { .. })|+ => $family::write_checked(profile, encoding, repeat_limit, output)),+
            }
        }
    };
}

// The list: each family with its forms. A form with a counter or a header has the one for `Form::ALL`.
families! {
    Gnu: Gnu;
    Bsd: Bsd, FreeBsd(Counter::U16), OpenBsd;
    OldBsd: OldBsd(OldHeader::Packed);
    LdProfile: LdProfile;
    Tagged: Darwin, Next;
    Prof: IllumosProf;
    Rtld: IllumosRtld;
    MonOut: MonOut;
}
