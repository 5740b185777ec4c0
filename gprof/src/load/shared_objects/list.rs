//! Parses the list of shared objects that the runtime writes beside a profile.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use gmon::side_file::Checksum;

use super::counts::{ObjectCounts, RunCounts, RunObject};
use crate::image;

/// The header of a list: the profile that the list belongs to, and the program that wrote the profile.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    profile: Checksum,
    /// Whether the program counted in the profile's file itself and is still running or was killed. The checksum then
    /// covers only the profile's header.
    is_live: bool,
    /// The identity and the path of the program; `None` in version 1.
    pub(super) program: Option<(String, PathBuf)>,
}

impl Header {
    /// Reads the header of a list. The lines after the header need not be there.
    ///
    /// # Errors
    ///
    /// The number of the first line that is not valid.
    pub(super) fn parse(bytes: &[u8]) -> Result<Header, usize> {
        Header::lines(&mut bytes.split(|byte| *byte == b'\n'))
    }

    fn lines<'a>(lines: &mut impl Iterator<Item = &'a [u8]>) -> Result<Header, usize> {
        let mut next = || lines.next().unwrap_or_default();
        let has_program = match next() {
            b"gmon objects 1" => false,
            b"gmon objects 2" => true,
            _ => return Err(1),
        };
        let profile = words(next()).and_then(|words| match words[..] {
            ["profile", length, sum] => Some((checksum(length, sum)?, false)),
            ["live", length, sum] if has_program => Some((checksum(length, sum)?, true)),
            _ => None,
        });
        let (profile, is_live) = profile.ok_or(2_usize)?;
        let program = if has_program { Some(program(next()).ok_or(3_usize)?) } else { None };
        Ok(Header { profile, is_live, program })
    }

    /// The number of lines in the header.
    fn length(&self) -> usize {
        2 + usize::from(self.program.is_some())
    }

    /// Whether the list belongs to the profile with these bytes.
    pub(super) fn is_of(&self, profile: &[u8]) -> bool {
        (self.is_live || self.profile.length == profile.len() as u64) && self.profile.begins(profile)
    }
}

/// A parsed list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ObjectList {
    /// The profile that the list belongs to, and the program.
    pub(super) header: Header,
    pub(super) counts: RunCounts,
}

impl ObjectList {
    /// Parses a list.
    ///
    /// # Errors
    ///
    /// The number of the first line that is not valid.
    pub(super) fn parse(bytes: &[u8]) -> Result<ObjectList, usize> {
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let header = Header::lines(&mut lines)?;
        let mut last = header.length();
        let mut list = ObjectList { header, counts: RunCounts::default() };
        for (number, line) in (last + 1..).zip(lines) {
            if line == b"end" {
                return Ok(list);
            }
            list.line(line).ok_or(number)?;
            last = number;
        }
        // The list ends without its last line: it was cut short.
        Err(last + 1)
    }

    /// Parses one line. Returns `None` if the line is not valid.
    fn line(&mut self, line: &[u8]) -> Option<()> {
        let counts = &mut self.counts;
        if let Some(object) = line.strip_prefix(b"object ") {
            counts.objects.push(listed(object)?);
            return Some(());
        }
        let sum = match words(line)?[..] {
            ["arc", from, frompc, to, selfpc, count] => {
                let ends = [number(from)?, number(frompc)?, number(to)?, number(selfpc)?];
                counts.arcs.push((ends, number(count)?));
                return Some(());
            }
            ["samples", "kernel", count] => (&mut counts.outside_images.kernel, count),
            ["samples", "vdso", count] => (&mut counts.outside_images.vdso, count),
            ["samples", "elsewhere", count] => (&mut counts.outside_images.elsewhere, count),
            ["calls", "elsewhere", count] => (&mut counts.outside_images.calls, count),
            _ => return None,
        };
        *sum.0 = number(sum.1)?;
        Some(())
    }
}

/// The words of a line that contains no path.
fn words(line: &[u8]) -> Option<Vec<&str>> {
    std::str::from_utf8(line).ok().map(|line| line.split(' ').collect())
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

fn checksum(length: &str, sum: &str) -> Option<Checksum> {
    Some(Checksum { length: number(length)?, sum: u64::from_str_radix(sum, 16).ok()? })
}

/// The identity and the path in a `program` line.
fn program(line: &[u8]) -> Option<(String, PathBuf)> {
    let line = line.strip_prefix(b"program ")?;
    let (identity, path) = line.split_at_checked(line.iter().position(|byte| *byte == b' ')?)?;
    Some((std::str::from_utf8(identity).ok()?.to_owned(), file(path.strip_prefix(b" ")?)))
}

/// Decodes a path: any bytes, with a newline written as `\012`.
fn file(mut left: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    while let Some((byte, rest)) = left.split_first() {
        match left.strip_prefix(b"\\012") {
            Some(rest) => {
                path.push(b'\n');
                left = rest;
            }
            None => {
                path.push(*byte);
                left = rest;
            }
        }
    }
    OsString::from_vec(path).into()
}

/// Parses what follows `object` in a line. The path comes last.
fn listed(line: &[u8]) -> Option<RunObject> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let mut word = || words.next().and_then(|word| std::str::from_utf8(word).ok());
    let (at, same_name_before, length, sum, build_id) = (word()?, word()?, word()?, word()?, word()?);
    let path = file(words.next()?);
    let mut suffix = path.file_name().unwrap_or_default().to_owned();
    match number(same_name_before)? {
        0 => {}
        before => suffix.push(format!(".{}", before.saturating_add(1))),
    }
    Some(RunObject {
        number: number(at)?,
        identity: (build_id != "-").then(|| image::padded_build_id(build_id)),
        counts: ObjectCounts::File { suffix, checksum: checksum(length, sum)? },
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::outside::OutsideImages;

    const LIST: &str = "gmon objects 1\nprofile 3 00000000000000ff\n\
        object 1 0 9 1f beef /lib/a b.so\nobject 7 1 8 2 - /x\\012y/a b.so\n\
        arc 0 16 7 32 5\nsamples kernel 3\nsamples vdso 2\nsamples elsewhere 1\ncalls elsewhere 4\nend\n";

    #[test]
    fn a_list() {
        let list = ObjectList::parse(LIST.as_bytes()).unwrap();
        assert_eq!(list.header, Header { profile: Checksum { length: 3, sum: 255 }, is_live: false, program: None });
        let object = |number, identity: Option<&str>, path: &str, suffix: &str, checksum| RunObject {
            number,
            identity: identity.map(str::to_owned),
            path: path.into(),
            counts: ObjectCounts::File { suffix: suffix.into(), checksum },
        };
        let one = object(1, Some("beef0000"), "/lib/a b.so", "a b.so", Checksum { length: 9, sum: 0x1f });
        let two = object(7, None, "/x\ny/a b.so", "a b.so.2", Checksum { length: 8, sum: 2 });
        assert_eq!(list.counts.objects, [one, two]);
        assert_eq!(list.counts.arcs, [([0, 16, 7, 32], 5)]);
        assert_eq!(list.counts.outside_images, OutsideImages { kernel: 3, vdso: 2, elsewhere: 1, calls: 4 });
    }

    #[test]
    fn the_program() {
        let newer =
            LIST.replacen("objects 1\nprofile 3 00000000000000ff", "objects 2\nlive 2 5\nprogram headers:ab /a b", 1);
        let list = ObjectList::parse(newer.as_bytes()).unwrap();
        assert_eq!(list.header.program, Some(("headers:ab".to_owned(), "/a b".into())));
        assert_eq!(Header::parse(newer.as_bytes()), Ok(list.header));
        assert_eq!(list.counts.objects.len(), 2);
        for (line, from, to) in
            [(1, "objects 2", "objects 1"), (3, "program", "programs"), (3, " /a b", ""), (6, "arc", "arch")]
        {
            let line = if line == 1 { 2 } else { line };
            assert_eq!(ObjectList::parse(newer.replacen(from, to, 1).as_bytes()), Err(line), "{to}");
        }
    }

    #[test]
    fn the_beginning_of_a_live_profile_is_enough() {
        let profile =
            Checksum { length: 2, sum: gmon::layout::mark(0, b'a').wrapping_add(gmon::layout::mark(1, b'b')) };
        let live = Header { profile, is_live: true, program: None };
        assert!(live.is_of(b"ab") && live.is_of(b"abc") && !live.is_of(b"a") && !live.is_of(b"bb"));
        assert!(!Header { is_live: false, ..live }.is_of(b"abc"));
    }

    #[test]
    fn what_is_none_is_refused_wherever_it_is_cut_or_changed() {
        for end in 0..LIST.len() - "\n".len() {
            assert!(ObjectList::parse(&LIST.as_bytes()[..end]).is_err(), "{end}");
        }
        for (line, from, to) in [
            (1, "objects 1", "objects 3"),
            (3, "objects 1", "objects 2"),
            (2, "00ff", "00fg"),
            (3, "object 1", "object -1"),
            (3, " beef /lib/a b.so", ""),
            (5, "arc 0", "arc"),
            (6, "kernel", "colonel"),
            (9, "elsewhere 4", "elsewhere 99999999999999999999"),
        ] {
            assert_eq!(ObjectList::parse(LIST.replacen(from, to, 1).as_bytes()), Err(line), "{to}");
        }
    }
}
