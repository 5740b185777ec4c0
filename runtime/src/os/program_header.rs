//! The program headers of 64-bit ELF files.

/// `Elf64_Phdr`.
#[repr(C)]
pub(crate) struct ProgramHeader {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    physical: u64,
    pub(crate) file_size: u64,
    pub(crate) memory_size: u64,
    pub(crate) alignment: u64,
}

/// PT_LOAD.
pub(crate) const SEGMENT_LOAD: u32 = 1;
/// PT_PHDR.
#[allow(dead_code, reason = "only a runtime in a shared object looks for the headers themselves")]
pub(crate) const SEGMENT_HEADERS: u32 = 6;
/// PF_X.
pub(crate) const EXECUTABLE: u32 = 1;
