//! Reads the instructions of one image, also if its machine code is not in memory ([`CodeBytes`]), and of all images in
//! their common address space ([`ProgramCode`]): the calls before return addresses, and jumps.

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
    fn placed(self, start: u64) -> CodeBytes<'a> {
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

    /// Whether the instruction before an address is a call, as of mcount, or room in which calls are counted on demand.
    /// `None` as for [`CodeBytes::follows_call`].
    pub(crate) fn follows_counted_call(&self, address: u64) -> Option<bool> {
        let before = self.before(address)?;
        Some(self.code.machine.ends_with_call(&before)? || self.code.machine.ends_with_room(&before))
    }

    /// The target of the direct call before an address, if the bytes before the address look like a direct call.
    pub(super) fn direct_call(&self, address: u64) -> Option<u64> {
        self.code.machine.direct_call(&self.before(address)?, address)
    }

    /// The bytes before an address, as many as the longest call has. `None` for an address outside the code, and for
    /// code that is not in the file.
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

/// The most bytes of a function in which jumps are searched.
const MOST_SEARCHED: u64 = 1 << 16;

/// The jumps in some code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Jumps {
    /// The targets of what looks like direct jumps.
    pub(crate) targets: Vec<u64>,
    /// Whether something looks like a jump whose target the code does not name: through a register or through memory,
    /// but not the jump of a `switch`.
    pub(crate) has_unknown: bool,
}

/// The machine code of all images, in ascending order of addresses.
#[derive(Clone, Default)]
pub(crate) struct ProgramCode<'a> {
    images: Vec<CodeBytes<'a>>,
}

impl<'a> ProgramCode<'a> {
    /// Joins the code of images, each with the address at which its code begins.
    pub(crate) fn new(images: impl Iterator<Item = (CodeBytes<'a>, u64)>) -> ProgramCode<'a> {
        let mut images: Vec<CodeBytes<'a>> = images.map(|(code, start)| code.placed(start)).collect();
        images.sort_by_key(|code| code.range().start);
        ProgramCode { images }
    }

    /// The code of one image, in memory.
    #[cfg(any(test, feature = "internals"))]
    pub(crate) fn in_memory(code: Code<'a>) -> ProgramCode<'a> {
        ProgramCode { images: vec![CodeBytes::in_memory(code)] }
    }

    /// Whether the instruction before an address is a call; `None` if the code is not known.
    pub(crate) fn follows_call(&self, address: u64) -> Option<bool> {
        self.image(address)?.follows_call(address)
    }

    /// The target of the direct call before a return address, if the bytes before the address look like a direct call.
    pub(crate) fn direct_call(&self, return_address: u64) -> Option<u64> {
        self.image(return_address)?.direct_call(return_address)
    }

    /// The jumps in the code between two addresses, the last one included. `None` if the code is not known, or longer
    /// than 64 kilobytes.
    pub(crate) fn jumps(&self, first: u64, last: u64) -> Option<Jumps> {
        let (machine, bytes) = self.bytes(first, last)?;
        let length = bytes.len();
        let start = first.next_multiple_of(machine.step() as u64).wrapping_sub(first) as usize;
        let places = || (start..length).step_by(machine.step()).map(|at| (at, first.wrapping_add(at as u64)));
        let targets = places().filter_map(|(at, pc)| machine.direct_jump(bytes.get(at..)?, pc)).collect();
        Some(Jumps { targets, has_unknown: places().any(|(at, pc)| machine.is_unknown_jump(&bytes, at, pc)) })
    }

    /// The addresses that the code between two addresses loads, the last one included. `None` as for
    /// [`ProgramCode::jumps`].
    pub(crate) fn loaded_addresses(&self, first: u64, last: u64) -> Option<Vec<u64>> {
        let (machine, bytes) = self.bytes(first, last)?;
        Some(machine.loaded_addresses(&bytes, first))
    }

    /// The machine, and the bytes between two addresses, the last one included.
    fn bytes(&self, first: u64, last: u64) -> Option<(Machine, Vec<u8>)> {
        let code = self.image(first)?;
        let length = last.checked_sub(first).filter(|length| *length < MOST_SEARCHED)? as usize + 1;
        let mut bytes = vec![0; length];
        code.read(first, &mut bytes)?;
        let is_known = code.machine() != Machine::Other && bytes.iter().any(|byte| *byte != 0);
        is_known.then(|| (code.machine(), bytes))
    }

    /// The image whose code an address is in, or directly behind.
    fn image(&self, address: u64) -> Option<&CodeBytes<'a>> {
        let after = self.images.partition_point(|code| code.range().start <= address);
        self.images.get(after.checked_sub(1)?).filter(|code| address <= code.range().end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::{Code, Machine};
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

    /// `call 0x1010; jmp 0x2000; jne 0x1000; jmp 0x1002`
    const X86: &[u8] =
        &[0x90, 0x90, 0xe8, 9, 0, 0, 0, 0xe9, 0xf4, 0x0f, 0, 0, 0x0f, 0x85, 0xee, 0xff, 0xff, 0xff, 0xeb, 0xee];

    fn program(code: Code<'_>, start: u64) -> ProgramCode<'_> {
        ProgramCode::new([(CodeBytes::in_memory(code), start)].into_iter())
    }

    #[test]
    fn calls_and_jumps_of_x86() {
        let code = Code { machine: Machine::X86_64, start: 0, bytes: X86 };
        let program = program(code, 0x1000);
        assert_eq!(program.direct_call(0x1007), Some(0x1010));
        assert_eq!(program.direct_call(0x1008), None);
        assert_eq!(program.follows_call(0x1007), Some(true));
        assert_eq!(program.follows_call(0x1008), Some(false));
        let jumps = Jumps { targets: vec![0x2000, 0x1000, 0x1002], has_unknown: false };
        assert_eq!(program.jumps(0x1000, 0x1013), Some(jumps));
        // The code after 0x1013 is not known.
        assert_eq!(program.jumps(0x1000, 0x1014), None);
        assert_eq!(program.jumps(0x900, 0x910), None);
    }

    #[test]
    fn calls_and_jumps_of_aarch64() {
        // bl 0x1010; b 0x0ffc; br x16
        let bytes = [[0; 8].as_slice(), &[4, 0, 0, 0x94], &[0xff, 0xff, 0xff, 0x17], &[0, 0x02, 0x1f, 0xd6]].concat();
        let code = Code { machine: Machine::Aarch64, start: 0, bytes: &bytes };
        let program = program(code, 0x0ff8);
        assert_eq!((program.direct_call(0x1004), program.follows_call(0x1004)), (Some(0x1010), Some(true)));
        assert_eq!((program.direct_call(0x1008), program.follows_call(0x1008)), (None, Some(false)));
        let jumps = |has_unknown| Some(Jumps { targets: vec![0x1000], has_unknown });
        assert_eq!(program.jumps(0x0ff8, 0x1007), jumps(false));
        assert_eq!(program.jumps(0x0ff8, 0x100b), jumps(true));
    }

    #[test]
    fn code_that_is_not_known() {
        let code = Code { machine: Machine::Other, start: 0, bytes: X86 };
        let other = program(code, 0x1000);
        assert_eq!((other.direct_call(0x1007), other.jumps(0x1000, 0x1013)), (None, None));
        let code = Code { machine: Machine::X86_64, start: 0, bytes: &[0; 20] };
        let unread = program(code, 0x1000);
        assert_eq!((unread.follows_call(0x1007), unread.jumps(0x1000, 0x1013)), (None, None));
    }
}
