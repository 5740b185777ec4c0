//! Reads whole files, but never more bytes than the file's length: devices have no end, and some regular files of the
//! system, such as `/proc/kmsg`, have length 0 and no end.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, IsTerminal, Read, Seek};
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The maximum number of bytes that are read from a pipe, whose length is not known beforehand.
const PIPE_LIMIT: u64 = 1 << 30;

/// The identity of a file, whatever its path: the device, and the inode number on that device.
pub(crate) type FileKey = (u64, u64);

/// Reads a regular file.
///
/// # Errors
///
/// When the path names no regular file, or the file cannot be read.
pub(crate) fn regular(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    // Reading a directory fails with the system's own message.
    if metadata.is_file() || metadata.is_dir() { whole(File::open(path)?) } else { Err(not_regular()) }
}

/// Reads the first bytes of a regular file, `most` at most.
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
/// When the path names anything else, the file cannot be read, or the pipe has too many bytes.
pub(crate) fn regular_or_pipe(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_fifo() || (kind.is_char_device() && is_descriptor(path)) {
        opened(File::open(path)?)
    } else {
        regular(path)
    }
}

/// Whether a path names an open file of this process. The BSDs show such files as devices. To open the path there gives
/// the file itself, which may be a pipe.
fn is_descriptor(path: &Path) -> bool {
    path.parent() == Some(Path::new("/dev/fd")) || path == "/dev/stdin"
}

/// Reads an open file: a regular file, or a pipe to its end.
fn opened(file: File) -> io::Result<Vec<u8>> {
    let kind = file.metadata()?.file_type();
    match (kind.is_fifo(), kind.is_file()) {
        (true, _) => to_the_end(file),
        (_, true) => whole(file),
        _ => Err(not_regular()),
    }
}

/// Reads an open regular file from its beginning.
///
/// # Errors
///
/// When the file is no regular file, has more than `most` bytes, or cannot be read.
pub(crate) fn open_within(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    if metadata.len() > most {
        let why = format!("more than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut file = file.try_clone()?;
    file.rewind()?;
    first(file, metadata.len())
}

/// Reads the standard input: a regular file, a pipe, or a terminal.
///
/// # Errors
///
/// When the standard input is another device, cannot be read, or has too many bytes.
pub(crate) fn standard_input() -> io::Result<Vec<u8>> {
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let kind = input.metadata()?.file_type();
    let is_device = kind.is_block_device() || (kind.is_char_device() && !input.is_terminal());
    if is_device { Err(not_regular()) } else { to_the_end(input) }
}

/// A regular file. Parts of it are in memory; the rest of the memory is 0.
pub(crate) struct Partial {
    /// The open file.
    pub(crate) file: File,
    /// The content of the file, at the length of the file.
    pub(crate) bytes: Vec<u8>,
}

impl Partial {
    /// Opens a file without reading it.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, or there is no memory for its whole length.
    pub(crate) fn open(path: &Path) -> io::Result<Partial> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(not_regular());
        }
        Ok(Partial { file, bytes: zeros(metadata.len())? })
    }

    /// Reads a part of the file, up to the end of the file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub(crate) fn load(&mut self, range: Range<u64>) -> io::Result<()> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.bytes.len());
        let (mut at, end) = (place(range.start), place(range.end));
        while at < end {
            match self.file.read_at(&mut self.bytes[at..end], at as u64) {
                // The file was cut short after it was opened.
                Ok(0) => break,
                Ok(read) => at += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Opens a regular file.
///
/// # Errors
///
/// When the path names no regular file, or the file cannot be opened.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for a writer.
    if is_no_file(path) { Err(not_regular()) } else { File::open(path) }
}

/// Whether a path names anything but a regular file, or nothing.
pub(crate) fn is_no_file(path: &Path) -> bool {
    !fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Whether a path names a device, and not an open file of this process.
pub(crate) fn is_device(path: &Path) -> bool {
    let kind = fs::metadata(path).map(|metadata| metadata.file_type());
    kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device()) && !is_descriptor(path)
}

/// The suffixes of the files that runs leave beside their profiles.
pub(crate) const COMPANIONS: [&str; 2] = ["side", "objects"];

/// The path of a file beside a profile: the profile's path with this suffix.
pub(crate) fn companion(profile: &Path, suffix: impl AsRef<OsStr>) -> PathBuf {
    let mut name = OsString::from(profile);
    name.push(".");
    name.push(suffix.as_ref());
    name.into()
}

/// The path of a file of the profiled machine on this machine. `sysroot` is the directory that has a copy of the
/// profiled machine's files.
pub(crate) fn below(sysroot: Option<&Path>, path: &Path) -> PathBuf {
    match sysroot {
        Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
        None => path.to_owned(),
    }
}

/// The key of an existing file.
pub(crate) fn key(path: &Path) -> Option<FileKey> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// The error for anything but a regular file.
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

/// Reads the first bytes of a file.
fn first(file: File, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = room(length)?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Allocates zeros, which take no memory until they are written to.
fn zeros(length: u64) -> io::Result<Vec<u8>> {
    // Safe code can only get zeroed memory in a way that aborts when there is none. So allocate and free the same
    // length first, which can fail cleanly; nothing allocates in between. `black_box` keeps the compiler from
    // removing this.
    drop(black_box(room(length)?));
    Ok(vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?])
}

/// Allocates an empty vector with this capacity.
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
    use std::io::Write;
    use std::os::fd::{AsRawFd, OwnedFd};

    use super::*;

    #[test]
    fn devices_are_refused_and_files_that_claim_no_length_are_empty() {
        for path in ["/dev/zero", "/dev/null"] {
            let refused = [regular(Path::new(path)), regular_or_pipe(Path::new(path))].map(|read| read.unwrap_err());
            assert!(refused.iter().all(|error| error.to_string() == "not a regular file"), "{path}: {refused:?}");
        }
        assert!(is_device(Path::new("/dev/zero")) && !is_device(Path::new("/")));
        // An open file is what it is: here, a device.
        let zero = File::open("/dev/zero").unwrap();
        let path = format!("/dev/fd/{}", zero.as_raw_fd());
        assert_eq!(regular_or_pipe(Path::new(&path)).unwrap_err().to_string(), "not a regular file");
        assert_eq!(opened(zero).unwrap_err().to_string(), "not a regular file");
        // This is a regular file by its mode, has length 0 in its metadata, and always has content.
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
    fn open_pipes_and_files_are_read() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"abc").unwrap();
        drop(writer);
        assert_eq!(opened(File::from(OwnedFd::from(reader))).unwrap(), b"abc");
        let executable = std::env::current_exe().unwrap();
        let bytes = opened(File::open(&executable).unwrap()).unwrap();
        assert!(bytes.starts_with(b"\x7fELF") && bytes.len() as u64 == fs::metadata(executable).unwrap().len());
        assert!(is_descriptor(Path::new("/dev/fd/63")) && is_descriptor(Path::new("/dev/stdin")));
        assert!(!is_descriptor(Path::new("/dev/fd")) && !is_descriptor(Path::new("/dev/null")));
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
