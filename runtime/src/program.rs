//! The bounds of the program's text, and how far it was moved from where it was linked.

use core::ffi::c_void;

/// The part of `Elf64_Ehdr` that is needed.
#[repr(C)]
struct ElfHeader {
    identification: [u8; 16],
    kind: u16,
    machine: u16,
    version: u32,
    entry: u64,
    program_headers: u64,
    section_headers: u64,
    flags: u32,
    size: u16,
    program_header_size: u16,
    program_headers_number: u16,
}

/// `Elf64_Phdr`.
#[repr(C)]
struct ProgramHeader {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical: u64,
    file_size: u64,
    memory_size: u64,
    alignment: u64,
}

/// ET_DYN: the program may be loaded anywhere.
const KIND_DYNAMIC: u16 = 3;
/// PT_LOAD.
const SEGMENT_LOAD: u32 = 1;

// Defined by the linker (GNU's, gold and lld alike).
unsafe extern "C" {
    static __ehdr_start: ElfHeader;
    static __executable_start: c_void;
    static etext: c_void;
}

/// The run-time addresses of the program's first byte and of the end of its text.
pub(crate) fn text() -> (usize, usize) {
    ((&raw const __executable_start).addr(), (&raw const etext).addr())
}

/// What must be taken from a run-time address to get the address in the executable file.
pub(crate) fn bias() -> usize {
    let start = &raw const __ehdr_start;
    // SAFETY: the linker defines the symbol at the program's ELF header, which is loaded with its first segment.
    let header = unsafe { &*start };
    if header.kind != KIND_DYNAMIC {
        return 0;
    }
    for index in 0..usize::from(header.program_headers_number) {
        let offset = header.program_headers as usize + index * usize::from(header.program_header_size);
        // SAFETY: program headers stand in the first segment too, at that offset from the ELF header.
        let segment = unsafe { &*start.byte_add(offset).cast::<ProgramHeader>() };
        if segment.kind == SEGMENT_LOAD && segment.offset == 0 {
            return start.addr().wrapping_sub(segment.address as usize);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_structures_have_the_files_layout() {
        assert_eq!(core::mem::offset_of!(super::ElfHeader, program_headers), 32);
        assert_eq!(core::mem::offset_of!(super::ElfHeader, program_headers_number), 56);
        assert_eq!(size_of::<super::ProgramHeader>(), 56);
    }

    #[test]
    fn this_function_is_inside_the_text_and_behind_the_bias() {
        let (start, end) = super::text();
        let here = this_function_is_inside_the_text_and_behind_the_bias as fn() as usize;
        assert!(start <= here && here < end);
        assert!(super::bias() <= start);
    }
}
