//! The list of shared objects that earlier runtimes wrote beside a profile: `gmon.out.objects` beside `gmon.out`.
//!
//! Today's runtime writes a [side file](crate::side_file) instead. docs/side-file.md describes both.

use alloc::string::String;
use alloc::vec::Vec;
use core::str;

use crate::Error;
use crate::decode::Result;
use crate::side_file::Checksum;

/// The header of a list: the profile that the list belongs to, and the program that wrote the profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// The checksum of the profile; of the first bytes of a live profile.
    pub profile: Checksum,
    /// Whether the profile is live: the program counts in the file, and still runs or was killed.
    pub is_live: bool,
    /// The program. Version 1 does not have it.
    pub program: Option<Program>,
}

/// The program that was profiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The build ID in hexadecimal, or `headers:` and the sum of the program's headers.
    pub identity: String,
    /// The path of the file; `-` if the path is unknown.
    pub path: Vec<u8>,
}

/// A list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectList {
    /// The first lines.
    pub header: Header,
    /// The shared objects that have a profile.
    pub objects: Vec<Object>,
    /// Calls from one object to another. The program has number 0.
    pub calls: Vec<Call>,
    /// Samples in the kernel.
    pub kernel: u64,
    /// Samples in the vDSO.
    pub vdso: u64,
    /// Samples in no object.
    pub elsewhere: u64,
    /// Calls of functions in no object.
    pub calls_elsewhere: u64,
}

/// A shared object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// The number by which calls refer to the object.
    pub number: u64,
    /// The number of earlier objects in the list whose paths have the same last component.
    pub twins: u64,
    /// The checksum of the object's profile.
    pub profile: Checksum,
    /// The build ID in hexadecimal.
    pub build_id: Option<String>,
    /// The path of the object when it was loaded.
    pub path: Vec<u8>,
}

/// Calls from one object to another. Addresses are those of the linker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The number of the caller's object, and the return address.
    pub caller: (u64, u64),
    /// The number of the called object, and the address in the called function.
    pub callee: (u64, u64),
    /// The number of calls.
    pub count: u64,
}

impl Header {
    /// Reads the header of a list. The lines after the header need not be there.
    ///
    /// # Errors
    ///
    /// [`Error::BadLine`] for the first line that is not valid.
    pub fn parse(bytes: &[u8]) -> Result<Header> {
        let mut lines = Lines::new(bytes);
        Header::read(&mut lines).ok_or_else(|| lines.error())
    }

    fn read(lines: &mut Lines<'_>) -> Option<Header> {
        let has_program = match lines.next()? {
            b"gmon objects 1" => false,
            b"gmon objects 2" => true,
            _ => return None,
        };
        let (profile, is_live) = match words(lines.next()?)?[..] {
            ["profile", length, sum] => (checksum(length, sum)?, false),
            ["live", length, sum] if has_program => (checksum(length, sum)?, true),
            _ => return None,
        };
        let program = if has_program { Some(program(lines.next()?)?) } else { None };
        Some(Header { profile, is_live, program })
    }

    /// Whether the list belongs to the profile with these bytes.
    #[must_use]
    pub fn is_of(&self, profile: &[u8]) -> bool {
        (self.is_live || self.profile.length == profile.len() as u64) && self.profile.begins(profile)
    }
}

impl ObjectList {
    /// Reads a list.
    ///
    /// # Errors
    ///
    /// [`Error::BadLine`] for the first line that is not valid, and for the line after the last one if the list was
    /// cut short.
    pub fn parse(bytes: &[u8]) -> Result<ObjectList> {
        let mut lines = Lines::new(bytes);
        ObjectList::read(&mut lines).ok_or_else(|| lines.error())
    }

    fn read(lines: &mut Lines<'_>) -> Option<ObjectList> {
        let mut list = ObjectList { header: Header::read(lines)?, ..ObjectList::default() };
        loop {
            match lines.next()? {
                b"end" => return Some(list),
                line => list.add(line)?,
            }
        }
    }

    /// Adds the content of one line. `None` if the line is not valid.
    fn add(&mut self, line: &[u8]) -> Option<()> {
        if let Some(object) = line.strip_prefix(b"object ") {
            self.objects.push(listed(object)?);
            return Some(());
        }
        let (sum, count) = match words(line)?[..] {
            ["arc", from, frompc, to, selfpc, count] => {
                let (caller, callee) = ((number(from)?, number(frompc)?), (number(to)?, number(selfpc)?));
                self.calls.push(Call { caller, callee, count: number(count)? });
                return Some(());
            }
            ["samples", "kernel", count] => (&mut self.kernel, count),
            ["samples", "vdso", count] => (&mut self.vdso, count),
            ["samples", "elsewhere", count] => (&mut self.elsewhere, count),
            ["calls", "elsewhere", count] => (&mut self.calls_elsewhere, count),
            _ => return None,
        };
        *sum = number(count)?;
        Some(())
    }
}

/// The lines of a file.
struct Lines<'a> {
    /// The bytes after the lines that were returned; `None` after the last line.
    rest: Option<&'a [u8]>,
    /// The number of lines that were asked for.
    number: u64,
    /// The offset of the last of these lines, and of the line after it.
    offset: u64,
    next_offset: u64,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Lines<'a> {
        Lines { rest: Some(bytes), number: 0, offset: 0, next_offset: 0 }
    }

    /// The next line, without its newline; `None` at the end of the file.
    fn next(&mut self) -> Option<&'a [u8]> {
        (self.number, self.offset) = (self.number.saturating_add(1), self.next_offset);
        let rest = self.rest?;
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, after) = match end.and_then(|end| rest.split_at_checked(end)) {
            Some((line, after)) => (line, after.get(1..)),
            None => (rest, None),
        };
        self.rest = after;
        self.next_offset = self.offset.saturating_add(line.len() as u64).saturating_add(u64::from(end.is_some()));
        Some(line)
    }

    /// The error for the last line that was asked for.
    fn error(&self) -> Error {
        Error::BadLine { line: self.number, offset: self.offset }
    }
}

/// The words of a line that contains no path.
fn words(line: &[u8]) -> Option<Vec<&str>> {
    str::from_utf8(line).ok().map(|line| line.split(' ').collect())
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

fn checksum(length: &str, sum: &str) -> Option<Checksum> {
    Some(Checksum { length: number(length)?, sum: u64::from_str_radix(sum, 16).ok()? })
}

/// The identity and the path in a `program` line.
fn program(line: &[u8]) -> Option<Program> {
    let line = line.strip_prefix(b"program ")?;
    let (identity, path) = line.split_at_checked(line.iter().position(|byte| *byte == b' ')?)?;
    Some(Program { identity: str::from_utf8(identity).ok()?.into(), path: file(path.strip_prefix(b" ")?) })
}

/// Decodes a path: any bytes, with a newline written as `\012`.
fn file(mut left: &[u8]) -> Vec<u8> {
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
    path
}

/// What follows `object` in a line. The path comes last.
fn listed(line: &[u8]) -> Option<Object> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let mut word = || words.next().and_then(|word| str::from_utf8(word).ok());
    let (at, twins, length, sum, build_id) = (word()?, word()?, word()?, word()?, word()?);
    Some(Object {
        number: number(at)?,
        twins: number(twins)?,
        profile: checksum(length, sum)?,
        build_id: (build_id != "-").then(|| build_id.into()),
        path: file(words.next()?),
    })
}
