//! The forms of 4.4BSD and its descendants: a header with a version, the samples, and arcs up to the end of the file.
//!
//! FreeBSD and OpenBSD give the first spare word of the header different meanings.

mod counter_type;
mod detect;
mod raw_samples;
mod read;
mod write;

use super::family::{Family, Named, Sign};
use crate::decode::Result;
use crate::detection::Detection;
use crate::detection::file::File;
use crate::output::Output;
use crate::{Counter, CounterWidth, Encoding, Form, Hints, Profile};
use read::BsdDecoder;

/// The forms of 4.4BSD, FreeBSD, and OpenBSD.
pub(crate) struct Bsd;

/// FreeBSD's form with counters of a type.
const fn free_bsd(width: CounterWidth, signed: bool) -> Form {
    Form::FreeBsd(Counter { width, signed })
}

impl Family for Bsd {
    const FORMS: &'static [Named] = &{
        use CounterWidth::{Bits8, Bits16, Bits32, Bits64};
        [
            Named::new(Form::Bsd, "bsd", "4.4BSD").of(&[
                "NetBSD",
                "DragonFly",
                "FreeBSD (libc)",
                "OpenBSD before 7.8",
                "Cygwin",
                "MinGW",
                "NuttX",
                "KallistiOS",
            ]),
            Named::new(free_bsd(Bits8, false), "freebsd-u8", "FreeBSD (u8 counters)"),
            Named::new(free_bsd(Bits16, false), "freebsd-u16", "FreeBSD (u16 counters)").of(&["kgmon"]),
            Named::new(free_bsd(Bits32, false), "freebsd-u32", "FreeBSD (u32 counters)").of(&[
                "PSP",
                "PlayStation 2",
                "PS Vita",
            ]),
            Named::new(free_bsd(Bits64, false), "freebsd-u64", "FreeBSD (u64 counters)").of(&["pmcstat"]),
            Named::new(free_bsd(Bits8, true), "freebsd-i8", "FreeBSD (i8 counters)"),
            Named::new(free_bsd(Bits16, true), "freebsd-i16", "FreeBSD (i16 counters)"),
            Named::new(free_bsd(Bits32, true), "freebsd-i32", "FreeBSD (i32 counters)"),
            Named::new(free_bsd(Bits64, true), "freebsd-i64", "FreeBSD (i64 counters)")
                .of(&["kgmon for GUPROF", "kernel of DragonFly"]),
            Named::new(Form::OpenBsd, "openbsd", "OpenBSD"),
        ]
    };
    const SIGN: Sign = Sign::Version;

    type Decoder = BsdDecoder;

    fn decoder(encoding: Encoding) -> Result<BsdDecoder> {
        BsdDecoder::new(encoding)
    }

    fn exists(encoding: Encoding) -> bool {
        read::exists(encoding)
    }

    fn find(file: &mut impl File, hints: &Hints) -> Option<Result<Detection>> {
        detect::find(file, hints)
    }

    fn find_hinted(file: &mut impl File, _form: Form, hints: &Hints) -> Result<Detection> {
        detect::find(file, hints).unwrap_or_else(|| Err(detect::error(file, hints)))
    }

    fn write(profile: &Profile, encoding: Encoding, repeat_limit: u64, output: &mut Output<'_>) -> Result<()> {
        write::write(profile, encoding, repeat_limit, output)
    }
}
