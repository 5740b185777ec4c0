//! Reads whole files, and no more of a file than its length: devices have no end, and some regular files of the system, such
//! as `/proc/kmsg`, have a length of 0 and never end either.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, IsTerminal, Read};
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::Path;

/// The most bytes that are read from a pipe, whose length nobody knows beforehand.
const PIPE_LIMIT: u64 = 1 << 30;

/// What tells a file from all other files, whatever path leads there: the device and the number on that device.
pub(crate) type FileKey = (u64, u64);

/// Reads a regular file.
///
/// # Errors
///
/// When the path names no regular file, or the file cannot be read.
pub(crate) fn regular(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    // To read a directory is an error that has the system's own words.
    if metadata.is_file() || metadata.is_dir() { whole(File::open(path)?) } else { Err(not_regular()) }
}

/// Reads the beginning of a regular file: no more than so many bytes.
///
/// # Errors
///
/// When the path names no regular file, or the file cannot be read.
pub(crate) fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { first(file, metadata.len().min(most)) } else { Err(not_regular()) }
}

/// Reads a regular file, or a pipe to its end: shells make pipes for `<(command)`.
///
/// # Errors
///
/// When the path names neither, the file cannot be read, or the pipe has no end.
pub(crate) fn regular_or_pipe(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.file_type().is_fifo() { to_the_end(File::open(path)?) } else { regular(path) }
}

/// Reads the standard input: a regular file, a pipe, or what a person types.
///
/// # Errors
///
/// When the standard input is a device, cannot be read, or has no end.
pub(crate) fn standard_input() -> io::Result<Vec<u8>> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let kind = input.metadata()?.file_type();
    let is_device = kind.is_block_device() || (kind.is_char_device() && !input.is_terminal());
    if is_device { Err(not_regular()) } else { to_the_end(input) }
}

/// A regular file of which parts are in memory, and all else is 0.
pub(crate) struct Partial {
    /// The open file.
    pub(crate) file: File,
    /// As many bytes as the file has.
    pub(crate) bytes: Vec<u8>,
}

impl Partial {
    /// Opens a file, and reads nothing of it.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or there is no memory for all of it.
    pub(crate) fn open(path: &Path) -> io::Result<Partial> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(not_regular());
        }
        Ok(Partial { file, bytes: zeros(metadata.len())? })
    }

    /// Reads a part of the file, as far as it is in the file.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub(crate) fn load(&mut self, range: Range<u64>) -> io::Result<()> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.bytes.len());
        let (mut at, end) = (place(range.start), place(range.end));
        while at < end {
            match self.file.read_at(&mut self.bytes[at..end], at as u64) {
                // The file was made shorter meanwhile.
                Ok(0) => break,
                Ok(read) => at += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether a path leads to anything but a regular file, or nowhere.
pub(crate) fn is_no_file(path: &Path) -> bool {
    !fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Whether a path leads to a device.
pub(crate) fn is_device(path: &Path) -> bool {
    let kind = fs::metadata(path).map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device())
}

/// The key of a file that exists.
pub(crate) fn key(path: &Path) -> Option<FileKey> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// What is said of anything that has no length.
pub(crate) fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

fn whole(mut file: File) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        file.read_exact(&mut [0])?;
    }
    first(file, metadata.len())
}

/// The first bytes of a file.
fn first(file: File, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = room(length)?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// So many bytes that are 0, and take no memory as long as nobody writes there.
fn zeros(length: u64) -> io::Result<Vec<u8>> {
    // Whoever gets memory that is 0 from the standard library without unsafe code gets that memory or ends. So memory of the
    // same length is taken and given back before: nothing else takes memory in between. The compiler must not leave that out
    // as useless.
    drop(black_box(room(length)?));
    Ok(vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?])
}

/// Memory for so many bytes, with none in it.
fn room(length: u64) -> io::Result<Vec<u8>> {
    let none = || io::Error::new(io::ErrorKind::OutOfMemory, format!("no memory for the {length} bytes of the file"));
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).map_err(|_| none())?).map_err(|_| none())?;
    Ok(bytes)
}

fn to_the_end(pipe: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = pipe.take(PIPE_LIMIT + 1).read_to_end(&mut bytes)?;
    if read as u64 > PIPE_LIMIT {
        let why = format!("more than {PIPE_LIMIT} bytes from a pipe: store them in a file");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_refused_and_files_that_claim_no_length_are_empty() {
        for path in ["/dev/zero", "/dev/null"] {
            let refused = [regular(Path::new(path)), regular_or_pipe(Path::new(path))].map(|read| read.unwrap_err());
            assert!(refused.iter().all(|error| error.to_string() == "not a regular file"), "{path}: {refused:?}");
        }
        assert!(is_device(Path::new("/dev/zero")) && !is_device(Path::new("/")));
        // A regular file by its mode, of length 0 by its metadata, and never empty.
        assert_eq!(regular(Path::new("/proc/self/status")).unwrap(), b"");
        assert!(regular(Path::new("/")).unwrap_err().to_string().starts_with("Is a directory"));
    }

    #[test]
    fn no_memory_is_an_error() {
        for length in [1 << 62, u64::MAX] {
            let expected = format!("no memory for the {length} bytes of the file");
            assert_eq!(
                [room(length), zeros(length)].map(|read| read.unwrap_err().to_string()),
                [expected.clone(), expected]
            );
        }
        assert_eq!(zeros(3).unwrap(), [0; 3]);
    }

    #[test]
    fn pipes_without_end() {
        assert_eq!(to_the_end(&b"abc"[..]).unwrap(), b"abc");
        let path = std::env::temp_dir().join(format!("gprof-files-{}", std::process::id()));
        fs::write(&path, b"abc").unwrap();
        assert_eq!((regular(&path).unwrap(), key(&path).is_some()), (b"abc".to_vec(), true));
        fs::remove_file(path).unwrap();
    }
}
