//! The profile of the time between two copies of a profile.

use gmon::layout::GNU_MAGIC;
use gmon::layout::side_file::property;
use gmon::side_file::{Checksum, SideFile};
use gmon::{Encoding, Form, REPEAT_LIMIT};

use super::process::fault;
use super::request::Copies;
use crate::error::Error;
use crate::question::files::InMemory;

/// What tells one run of a program from another run, also if the number of the process is the same.
const OF_RUN: [&[u8]; 3] = [property::START, property::PID, property::COMMAND];

/// Returns the profile of the time from one copy of the profile of a process to another.
///
/// # Errors
///
/// When a copy is damaged, or the copies are of two runs.
pub(super) fn between(pid: u32, begin: &Copies, end: &Copies) -> Result<InMemory, Error> {
    let wrong = |what: &str, error: gmon::Error| fault(pid, format!("{what} cannot be used: {error}"));
    let (first, last) = (side(pid, begin)?, side(pid, end)?);
    if OF_RUN.iter().any(|key| first.property(key) != last.property(key)) {
        return Err(fault(pid, "it has executed another program meanwhile"));
    }
    let encoding = |side: &SideFile, form| Encoding::new(form, side.word().into(), side.order());
    let profile = |copies: &Copies, side: &SideFile| {
        // A process that counts in its file copies the file, which has 4.4BSD's form.
        let form = if copies.profile.starts_with(&GNU_MAGIC) { Form::Gnu } else { Form::Bsd };
        gmon::read_as(&copies.profile, encoding(side, form)).map_err(|error| wrong("the copy of its profile", error))
    };
    let profile = profile(end, &last)?.since(&profile(begin, &first)?);
    let profile = profile.map_err(|error| wrong("the copies of its profile", error))?;
    let bytes = gmon::write_within(&profile, encoding(&last, Form::Gnu), REPEAT_LIMIT);
    let bytes = bytes.map_err(|error| wrong("the profile of this time", error))?;
    let mut side = last.since(&first).map_err(|error| wrong("the copies of its side file", error))?;
    // The file is that of a time that has ended.
    side.set_live(false);
    side.set_profile(Some(Checksum::of(&bytes)));
    Ok(InMemory { name: format!("process {pid}"), side: side.write(), profile: bytes })
}

/// The side file of a copy.
fn side(pid: u32, copies: &Copies) -> Result<SideFile, Error> {
    let side = SideFile::parse(&copies.side);
    let side = side.map_err(|error| fault(pid, format!("the copy of its side file cannot be used: {error}")))?;
    match side.is_of(&copies.profile) {
        true => Ok(side),
        false => Err(fault(pid, "the copy of its side file cannot be used: it belongs to another profile")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gmon::{Arc, Histogram, Profile, Unit, Word};

    /// Copies with a sample, with calls, and with these properties.
    fn copies(calls: u64, properties: &[(&[u8], &str)]) -> Copies {
        copies_of(Form::Gnu, calls, properties)
    }

    fn copies_of(form: Form, calls: u64, properties: &[(&[u8], &str)]) -> Copies {
        let encoding = Encoding::new(form, Word::W64.into(), gmon::Order::Little);
        let histogram = Histogram::new(0..16, Unit::seconds(100), vec![1_u16, 0, 0, 0]).unwrap();
        let profile = Profile::of_samples([histogram]).unwrap().with_arcs([Arc::new(4, 8, calls)]);
        let profile = gmon::write(&profile, encoding).unwrap();
        let mut side = SideFile::new(Word::W64);
        for (key, value) in properties {
            side.add_property(key, value.as_bytes()).unwrap();
        }
        side.set_live(true);
        side.set_profile(Some(Checksum::of(&profile)));
        Copies { profile, side: side.write() }
    }

    const RUN: [(&[u8], &str); 3] = [(property::START, "1"), (property::PID, "7"), (property::COMMAND, "prog")];

    fn fails(begin: &Copies, end: &Copies, said: &str) {
        let text = between(7, begin, end).unwrap_err().to_string();
        assert!(text.starts_with("process 7: ") && text.contains(said), "{text}");
    }

    /// Catches a side file that does not belong to the profile, or counts as that of a program that still runs.
    #[test]
    fn the_profile_of_an_interval_has_its_side_file() {
        let taken = between(7, &copies(12, &RUN), &copies(15, &RUN)).unwrap();
        assert_eq!(Profile::parse(&taken.profile).unwrap().arcs(), [Arc::new(4, 8, 3)]);
        let side = SideFile::parse(&taken.side).unwrap();
        assert!(side.is_of(&taken.profile) && !side.is_live());
        assert_eq!((taken.name.as_str(), side.property(property::PID)), ("process 7", Some(&b"7"[..])));
    }

    /// Catches the file of a process that counts in its file if it is taken for a damaged one, and a profile in the
    /// form of that file.
    #[test]
    fn a_process_may_count_in_its_file() {
        let [begin, end] = [12, 15].map(|calls| copies_of(Form::Bsd, calls, &RUN));
        let taken = between(7, &begin, &end).unwrap();
        assert!(taken.profile.starts_with(&GNU_MAGIC));
        assert_eq!(Profile::parse(&taken.profile).unwrap().arcs(), [Arc::new(4, 8, 3)]);
    }

    /// Catches a difference of two programs, of which each property alone can tell.
    #[test]
    fn copies_of_two_runs_make_no_profile() {
        for at in 0..RUN.len() {
            let mut other = RUN;
            other[at].1 = "2";
            fails(&copies(12, &RUN), &copies(15, &other), "it has executed another program meanwhile");
        }
        fails(&copies(15, &RUN), &copies(12, &RUN), "the copies of its profile cannot be used");
    }

    /// Catches copies that are taken as they are.
    #[test]
    fn damaged_copies_make_no_profile() {
        let whole = || copies(12, &RUN);
        let side = "the copy of its side file cannot be used";
        fails(&Copies { side: Vec::new(), ..whole() }, &whole(), side);
        fails(&whole(), &Copies { side: b"?".to_vec(), ..whole() }, side);
        fails(&whole(), &Copies { profile: copies(13, &RUN).profile, ..whole() }, "it belongs to another profile");
        let mut damaged = Copies { profile: b"gmon".to_vec(), ..whole() };
        let mut of_it = SideFile::parse(&damaged.side).unwrap();
        of_it.set_live(false);
        of_it.set_profile(Some(Checksum::of(&damaged.profile)));
        damaged.side = of_it.write();
        fails(&damaged, &whole(), "the copy of its profile cannot be used");
        fails(&whole(), &damaged, "the copy of its profile cannot be used");
    }
}
