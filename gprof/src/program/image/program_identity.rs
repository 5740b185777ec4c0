//! The identity of a program: which build of which program a file is.

use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};

use super::elf::File;

/// The identity that a list beside a profile has for the program: the build ID in hexadecimal, padded to whole words,
/// or a checksum of the headers. docs/side-file.md describes both. `None` for a file with only debug information, whose
/// headers differ from the program's.
pub(super) fn of<Elf>(file: &File<'_, Elf>, build_id: Option<&[u8]>) -> Option<String>
where
    Elf: FileHeader<Endian = Endianness>,
{
    if let Some(id) = build_id.filter(|id| !id.is_empty() && id.len() <= 64) {
        let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        return Some(padded_build_id(&digits));
    }
    let segments = file.header.program_headers(file.endian, file.data).unwrap_or_default();
    let loads = || segments.iter().filter(|segment| segment.p_type(file.endian) == elf::PT_LOAD);
    if !loads()
        .any(|segment| segment.p_flags(file.endian).contains(elf::PF_X) && segment.p_filesz(file.endian).into() > 0)
    {
        return None;
    }
    let sizes = |segment: &Elf::ProgramHeader| -> [u64; 3] {
        [segment.p_vaddr(file.endian).into(), segment.p_filesz(file.endian).into(), segment.p_memsz(file.endian).into()]
    };
    let numbers = std::iter::once(file.header.e_entry(file.endian).into()).chain(loads().flat_map(sizes));
    let bytes = numbers.flat_map(u64::to_le_bytes);
    let terms = (0..).zip(bytes).map(|(position, byte)| gmon::layout::mark(position, byte));
    Some(format!("headers:{:016x}", terms.fold(0, u64::wrapping_add)))
}

/// Pads a build ID in hexadecimal with zeros to whole words of four bytes, as the files beside a profile have it.
pub(crate) fn padded_build_id(digits: &str) -> String {
    let width = digits.len().next_multiple_of(8);
    format!("{digits:0<width$}")
}
