//! Parses the list of shared objects that the runtime writes beside a profile.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::load::outside::OutsideImages;

/// The length and the checksum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum {
    length: u64,
    sum: u64,
}

impl Checksum {
    /// Whether the file consists of these bytes.
    pub(super) fn is_of(self, bytes: &[u8]) -> bool {
        self.length == bytes.len() as u64 && self.begins(bytes)
    }

    /// Whether the file begins with these bytes.
    fn begins(self, bytes: &[u8]) -> bool {
        let Some(bytes) = usize::try_from(self.length).ok().and_then(|length| bytes.get(..length)) else {
            return false;
        };
        let sum = || {
            let marks = (0..).zip(bytes).map(|(position, byte)| gmon::layout::mark(position, *byte));
            marks.fold(0, u64::wrapping_add)
        };
        self.sum == sum()
    }
}

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
        if self.is_live { self.profile.begins(profile) } else { self.profile.is_of(profile) }
    }
}

/// A shared object in a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListedObject {
    /// The number by which arcs refer to the object.
    pub(super) number: u64,
    /// The number of earlier objects with the same file name.
    same_name_before: u64,
    /// The checksum of the object's profile.
    pub(super) profile: Checksum,
    /// The object's build ID in hexadecimal, if it has one.
    pub(super) build_id: Option<String>,
    /// The object's path when it was loaded.
    pub(super) path: PathBuf,
}

impl ListedObject {
    /// The suffix that the name of the object's profile adds to the name of the program's profile.
    pub(super) fn suffix(&self) -> OsString {
        let mut suffix = self.path.file_name().unwrap_or_default().to_owned();
        if self.same_name_before > 0 {
            suffix.push(format!(".{}", self.same_name_before.saturating_add(1)));
        }
        suffix
    }
}

/// A parsed list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ObjectList {
    /// The profile that the list belongs to, and the program.
    pub(super) header: Header,
    /// The shared objects.
    pub(super) objects: Vec<ListedObject>,
    /// Calls between objects: the caller's object and address, the callee's object and address, and the count. The
    /// program has number 0.
    pub(super) arcs: Vec<([u64; 4], u64)>,
    /// Samples and calls outside all objects.
    pub(super) outside_images: OutsideImages,
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
        let mut list =
            ObjectList { header, objects: Vec::new(), arcs: Vec::new(), outside_images: OutsideImages::default() };
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
        if let Some(object) = line.strip_prefix(b"object ") {
            self.objects.push(listed(object)?);
            return Some(());
        }
        let sum = match words(line)?[..] {
            ["arc", from, frompc, to, selfpc, count] => {
                let ends = [number(from)?, number(frompc)?, number(to)?, number(selfpc)?];
                self.arcs.push((ends, number(count)?));
                return Some(());
            }
            ["samples", "kernel", count] => (&mut self.outside_images.kernel, count),
            ["samples", "vdso", count] => (&mut self.outside_images.vdso, count),
            ["samples", "elsewhere", count] => (&mut self.outside_images.elsewhere, count),
            ["calls", "elsewhere", count] => (&mut self.outside_images.calls, count),
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
fn listed(line: &[u8]) -> Option<ListedObject> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let mut word = || words.next().and_then(|word| std::str::from_utf8(word).ok());
    let (at, same_name_before, length, sum, build_id) = (word()?, word()?, word()?, word()?, word()?);
    let path = file(words.next()?);
    Some(ListedObject {
        number: number(at)?,
        same_name_before: number(same_name_before)?,
        profile: checksum(length, sum)?,
        build_id: (build_id != "-").then(|| build_id.to_owned()),
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "gmon objects 1\nprofile 3 00000000000000ff\n\
        object 1 0 9 1f beef /lib/a b.so\nobject 7 1 8 2 - /x\\012y/a b.so\n\
        arc 0 16 7 32 5\nsamples kernel 3\nsamples vdso 2\nsamples elsewhere 1\ncalls elsewhere 4\nend\n";

    #[test]
    fn a_list() {
        let list = ObjectList::parse(LIST.as_bytes()).unwrap();
        assert_eq!(list.header, Header { profile: Checksum { length: 3, sum: 255 }, is_live: false, program: None });
        let [one, two] = &list.objects[..] else { panic!("{list:?}") };
        assert_eq!((one.number, one.build_id.as_deref(), one.path.to_str()), (1, Some("beef"), Some("/lib/a b.so")));
        assert_eq!((two.number, two.build_id.as_deref(), two.path.to_str()), (7, None, Some("/x\ny/a b.so")));
        assert_eq!([one.suffix(), two.suffix()], ["a b.so", "a b.so.2"]);
        assert_eq!(list.arcs, [([0, 16, 7, 32], 5)]);
        assert_eq!(list.outside_images, OutsideImages { kernel: 3, vdso: 2, elsewhere: 1, calls: 4 });
    }

    #[test]
    fn the_program() {
        let newer =
            LIST.replacen("objects 1\nprofile 3 00000000000000ff", "objects 2\nlive 2 5\nprogram headers:ab /a b", 1);
        let list = ObjectList::parse(newer.as_bytes()).unwrap();
        assert_eq!(list.header.program, Some(("headers:ab".to_owned(), "/a b".into())));
        assert_eq!(Header::parse(newer.as_bytes()), Ok(list.header));
        assert_eq!(list.objects.len(), 2);
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

    #[test]
    fn a_mark_is_of_the_very_bytes() {
        let sum = gmon::layout::mark(0, b'a').wrapping_add(gmon::layout::mark(2, b'b'));
        let mark = Checksum { length: 4, sum };
        assert!(mark.is_of(b"a\0b\0"));
        for other in [&b"a\0b"[..], b"a\0b\0\0", b"b\0a\0", b"\0ab\0", b"a\0c\0"] {
            assert!(!mark.is_of(other), "{other:?}");
        }
    }
}
