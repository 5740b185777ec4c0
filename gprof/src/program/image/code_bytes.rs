//! Reads single instructions of an image, also if the image's machine code is not in memory.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::machine_code::{Code, LONGEST_CALL, Machine};
use super::program::Image;

/// The machine code of an image, in memory or in the open file.
#[derive(Clone, Copy)]
pub(crate) struct CodeBytes<'a> {
    code: Code<'a>,
    /// The file, and the offset of the code in the file.
    file: Option<(&'a File, u64)>,
}

impl<'a> CodeBytes<'a> {
    /// Makes a reader for the code of an image. `file` is the image's file if parts of the file are not in memory.
    pub(crate) fn new(image: &Image<'a>, file: Option<&'a File>) -> CodeBytes<'a> {
        CodeBytes { code: image.machine_code, file: file.map(|file| (file, image.text_offset)) }
    }

    /// Code in memory.
    #[cfg(any(test, feature = "internals"))]
    pub(crate) fn in_memory(code: Code<'a>) -> CodeBytes<'a> {
        CodeBytes { code, file: None }
    }

    /// The code of an image, in memory or in the open file, at another address.
    pub(super) fn placed(self, start: u64) -> CodeBytes<'a> {
        CodeBytes { code: Code { start, ..self.code }, ..self }
    }

    /// The addresses of the code.
    pub(super) fn range(&self) -> Range<u64> {
        self.code.start..self.code.start.saturating_add(self.code.bytes.len() as u64)
    }

    /// The architecture.
    pub(super) fn machine(&self) -> Machine {
        self.code.machine
    }

    /// Whether the instruction before an address is a call. `None` for an address outside the code, for code that is
    /// not in the file, and for machines whose call instructions are not known.
    pub(crate) fn follows_call(&self, address: u64) -> Option<bool> {
        self.code.machine.ends_with_call(&self.before(address)?)
    }

    /// The target of the direct call before an address, if the bytes before the address look like a direct call.
    pub(super) fn direct_call(&self, address: u64) -> Option<u64> {
        self.code.machine.direct_call(&self.before(address)?, address)
    }

    /// The bytes before an address, as many as the longest call has. `None` for an address outside the code, and for code
    /// that is not in the file.
    fn before(&self, address: u64) -> Option<[u8; LONGEST_CALL]> {
        let mut before = [0; LONGEST_CALL];
        self.read(address.checked_sub(LONGEST_CALL as u64)?, &mut before)?;
        (before != [0; LONGEST_CALL]).then_some(before)
    }

    /// Reads the code at an address. `None` if not all of it is in the code. Code that is not in the file is all zeros.
    pub(super) fn read(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        let start = address.checked_sub(self.code.start)?;
        let at = usize::try_from(start).ok()?;
        let in_memory = self.code.bytes.get(at..at.checked_add(bytes.len())?)?;
        bytes.copy_from_slice(in_memory);
        if let Some((file, offset)) = self.file.filter(|_| bytes.iter().all(|byte| *byte == 0)) {
            file.read_exact_at(bytes, offset.checked_add(start)?).ok()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Machine;
    use std::fs;

    const CODE: &[u8] = &[0x90, 0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 0, 0, 0];

    fn all(code: &CodeBytes<'_>) -> Vec<Option<bool>> {
        (0x1000..0x1014).map(|address| code.follows_call(address)).collect()
    }

    #[test]
    fn code_in_memory_and_in_a_file() {
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: CODE };
        let mut expected = vec![None; 7];
        expected.extend([Some(false), Some(false), Some(true)]);
        expected.extend([Some(false); 7]);
        // The last windows contain only zeros or reach past the code.
        expected.extend([None, None, None]);
        assert_eq!(all(&CodeBytes::in_memory(code)), expected);
        let path = std::env::temp_dir().join(format!("gprof-code-{}", std::process::id()));
        fs::write(&path, [b"header", CODE].concat()).unwrap();
        let file = File::open(&path).unwrap();
        let unread = Code { bytes: &[0; CODE.len()], ..code };
        assert_eq!(all(&CodeBytes { code: unread, file: Some((&file, 6)) }), expected);
        assert!(all(&CodeBytes::in_memory(unread)).iter().all(Option::is_none));
        // The file was cut short after it was opened.
        fs::write(&path, b"header").unwrap();
        assert!(all(&CodeBytes { code: unread, file: Some((&file, 6)) }).iter().all(Option::is_none));
        let other = Code { machine: Machine::Other, ..code };
        assert!(all(&CodeBytes::in_memory(other)).iter().all(Option::is_none));
        fs::remove_file(path).unwrap();
    }
}
