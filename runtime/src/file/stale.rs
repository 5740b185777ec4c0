//! Removes the files that an earlier run left beside the file: the side file if this run writes none, and what earlier
//! runtimes wrote instead: a list of objects, and the profiles of these objects.
//!
//! Readers would take these files for this run's, or warn about them each time. Only files that certainly belong to
//! that run are removed: the side file and the list must be this user's, and the profiles must be regular files with
//! the length and the mark that the list has.

use core::ffi::CStr;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use gmon::layout::side_file::MAGIC;

use super::writer::read_back;
use super::{names, output};
use crate::os::Fd;
use crate::ownership::PROCESS;
use crate::state::Inherited;

/// A number of lines that no list reaches, and a length that no line reaches.
const MOST_LINES: usize = 1100;
const MOST_LINE: usize = 8192;
/// The limit of bytes of profiles that are read to verify their marks. Further profiles stay.
const MOST_READ: u64 = 1 << 27;

/// The process that has removed the files: its own files are not stale.
static REMOVED_BY: Inherited<AtomicI32> = Inherited::new("a number of a process: not the child's", AtomicI32::new(0));

/// Removes an earlier run's list of objects with the profiles in the list, and the side file if no new side file will
/// replace it.
pub(super) fn remove(with_side_file: bool) {
    let process = PROCESS.load(Relaxed);
    if REMOVED_BY.swap(process, Relaxed) == process {
        return;
    }
    if with_side_file {
        remove_if(|| names::name_beside(&[names::SIDE]), is_side_file);
    }
    // gmon-run's directory has no files of earlier runtimes.
    if !cfg!(feature = "preload") {
        remove_if(|| names::name_beside(&[b".objects"]), remove_named);
    }
}

/// Removes a file of this user if `is_it` says so. `name` makes the name anew each time.
fn remove_if(name: impl Fn() -> &'static CStr, is_it: impl FnOnce(Fd) -> bool) {
    let Some((file, _)) = output::open_own_beside(name()) else { return };
    let is_it = is_it(file);
    let _ = file.close();
    if is_it {
        output::unlink_beside(name());
    }
}

fn is_side_file(file: Fd) -> bool {
    let mut start = [0; MAGIC.len()];
    file.read_at(&mut start, 0) == Ok(MAGIC.len()) && start == MAGIC
}

/// Removes the profiles of a list; the result says whether the file is a list.
fn remove_named(list: Fd) -> bool {
    // The array is on the writer's stack.
    let mut piece = [0; MOST_LINE];
    let (mut at, mut left) = (0, MOST_READ);
    for _ in 0..MOST_LINES {
        let length = list.read_at(&mut piece, at).unwrap_or(0);
        let read = piece.get(..length).unwrap_or_default();
        let Some(line) = read.iter().position(|byte| *byte == b'\n').and_then(|end| read.get(..end)) else { break };
        if at == 0 && !line.starts_with(b"gmon objects ") {
            return false;
        }
        match line.first() {
            Some(b'o') => _ = remove_profile(line, &mut left),
            // The lines that describe the list, the file and the program.
            Some(b'g' | b'p' | b'l') => {}
            _ => break,
        }
        at += line.len() + 1;
    }
    at > 0
}

/// Removes the profile of a line; `None` if the profile is not as the line says.
fn remove_profile(line: &[u8], left: &mut u64) -> Option<()> {
    let mut words = line.split(|byte| *byte == b' ').skip(2);
    let mut number = |base| number(words.next()?, base);
    let (twins, length, mark) = (number(10)?, number(10)?, number(16)?);
    // The line ends with an absolute path, of which only the last part is needed.
    let name = names::name_of_object(line, twins);
    let (file, size) = output::open_own_beside(name)?;
    let is_it =
        size == length && length <= *left && read_back(file, length as usize).is_ok_and(|found| found.sum == mark);
    let _ = file.close();
    *left = left.saturating_sub(length);
    is_it.then(|| output::unlink_beside(name))
}

/// Parses a number.
#[inline(never)]
fn number(text: &[u8], base: u64) -> Option<u64> {
    text.iter().try_fold(0, |number: u64, byte| {
        let digit = if byte.is_ascii_digit() { byte - b'0' } else { byte.wrapping_sub(b'a').saturating_add(10) };
        let digit = Some(u64::from(digit)).filter(|digit| *digit < base)?;
        number.checked_mul(base)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_of_both_bases() {
        assert_eq!([number(b"120", 10), number(b"00ff", 16), number(b"", 10)], [Some(120), Some(255), Some(0)]);
        assert_eq!(number(b"ffffffffffffffff", 16), Some(u64::MAX));
        for (text, base) in [(&b"1a"[..], 10), (b"-1", 10), (b"fg", 16), (b"F", 16), (b"10000000000000000", 16)] {
            assert_eq!(number(text, base), None, "{}", text.escape_ascii());
        }
    }
}
