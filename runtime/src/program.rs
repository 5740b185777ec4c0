//! The bounds of the program's text, how far it was moved from where it was linked, and whether it may be profiled.

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
/// PT_NOTE.
const SEGMENT_NOTE: u32 = 4;

/// The note that OpenBSD's kernel wants of a program that calls its `profil`, in words: the length of the name, nothing
/// else, the type, the name.
const NOTE: [u32; 5] = [8, 0, 2, u32::from_ne_bytes(*b"Open"), u32::from_ne_bytes(*b"BSD\0")];
const WORD: usize = size_of::<u32>();

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

/// The run-time address of the executable file's first byte.
pub(crate) fn base() -> usize {
    (&raw const __ehdr_start).addr()
}

/// What must be taken from a run-time address to get the address in the executable file.
pub(crate) fn bias() -> usize {
    let header = header();
    if header.kind != KIND_DYNAMIC {
        return 0;
    }
    segments(SEGMENT_LOAD)
        .find(|segment| segment.offset == 0)
        .map_or(0, |first| (&raw const __ehdr_start).addr().wrapping_sub(first.address as usize))
}

/// Whether the program has the note that lets it be profiled; the start-up objects bring it.
pub(crate) fn may_be_profiled() -> bool {
    let bias = bias();
    segments(SEGMENT_NOTE).any(|segment| {
        let notes = core::ptr::with_exposed_provenance((segment.address as usize).wrapping_add(bias));
        // SAFETY: the segment is a part of the loaded program, which nobody changes, and begins at a whole word.
        let notes = unsafe { core::slice::from_raw_parts(notes, segment.memory_size as usize / WORD) };
        has_note(notes, segment.alignment as usize)
    })
}

/// The first 32 bits of the program's build ID; of one that has none, a hash of its headers.
pub(crate) fn build() -> u32 {
    let bias = bias();
    let noted = segments(SEGMENT_NOTE).find_map(|segment| {
        let notes = core::ptr::with_exposed_provenance((segment.address as usize).wrapping_add(bias));
        // SAFETY: as in `may_be_profiled`.
        let notes = unsafe { core::slice::from_raw_parts(notes, segment.memory_size as usize / WORD) };
        noted_build(notes, segment.alignment as usize)
    });
    noted.unwrap_or_else(|| {
        let header = header();
        let (length, number) = (header.program_headers as usize, usize::from(header.program_headers_number));
        // SAFETY: the headers stand at the beginning of the first segment, which nobody changes.
        let bytes = unsafe {
            core::slice::from_raw_parts(
                (&raw const __ehdr_start).cast::<u8>(),
                length + number * usize::from(header.program_header_size),
            )
        };
        bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    })
}

/// The first word of the build ID if it is one of the notes, as it is printed.
fn noted_build(mut notes: &[u32], alignment: usize) -> Option<u32> {
    const GNU: u32 = u32::from_ne_bytes(*b"GNU\0");
    let alignment = alignment.max(WORD);
    while let [name, rest, ..] = notes {
        if let [4, length, 3, GNU, build, ..] = notes
            && *length as usize >= WORD
        {
            return Some(u32::from_be(*build));
        }
        let end = (3 * WORD + *name as usize).next_multiple_of(alignment) + *rest as usize;
        notes = notes.get(end.next_multiple_of(alignment) / WORD..).unwrap_or(&[]);
    }
    None
}

/// Whether one of the notes is [`NOTE`]. The name, which begins behind three words, and what follows it are each filled up
/// to a multiple of `alignment`.
fn has_note(mut notes: &[u32], alignment: usize) -> bool {
    let alignment = alignment.max(WORD);
    while let [name, rest, ..] = notes {
        if notes.starts_with(&NOTE) {
            return true;
        }
        let end = (3 * WORD + *name as usize).next_multiple_of(alignment) + *rest as usize;
        notes = notes.get(end.next_multiple_of(alignment) / WORD..).unwrap_or(&[]);
    }
    false
}

fn header() -> &'static ElfHeader {
    // SAFETY: the linker defines the symbol at the program's ELF header, which is loaded with its first segment.
    unsafe { &__ehdr_start }
}

/// The program headers of one kind.
fn segments(kind: u32) -> impl Iterator<Item = &'static ProgramHeader> {
    let header = header();
    (0..usize::from(header.program_headers_number))
        .map(|index| {
            let offset = header.program_headers as usize + index * usize::from(header.program_header_size);
            // SAFETY: program headers stand in the first segment too, at that offset from the ELF header.
            unsafe { &*(&raw const __ehdr_start).byte_add(offset).cast::<ProgramHeader>() }
        })
        .filter(move |segment| segment.kind == kind)
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
    fn the_build_id_is_found_among_other_notes() {
        use super::{NOTE, noted_build};
        let build = [4, 8, 3, 0x554e47, 0x0403_0201, 5];
        assert_eq!(noted_build(&[&NOTE[..], &build].concat(), 4), Some(u32::from_be(0x0403_0201)));
        assert_eq!(noted_build(&NOTE, 4), None);
        assert_eq!(super::build(), super::build());
    }

    #[test]
    fn the_note_is_found_among_others_and_nothing_else_is_taken_for_it() {
        use super::{NOTE, has_note};
        let version = [8, 4, 1, NOTE[3], NOTE[4], 0];
        let build = [4, 5, 3, 0x554e47, 0x01020304, 5];
        assert!(has_note(&NOTE, 4) && has_note(&NOTE, 0) && has_note(&NOTE, 8));
        assert!(has_note(&[&build[..], &version, &NOTE].concat(), 4));
        assert!(!has_note(&[&build[..], &version].concat(), 4), "another type of note by the same name");
        let other = [8, 0, 2, u32::from_ne_bytes(*b"NetB"), NOTE[4]];
        assert!(!has_note(&other, 4) && !has_note(&NOTE[..4], 4) && !has_note(&[], 4));
        // What follows a name of 4 bytes begins at the next multiple of 8.
        let property = [4, 16, 5, 0x554e47, 0, 0, 0, 0];
        assert!(has_note(&[&property[..], &NOTE].concat(), 8));
        assert!(!has_note(&[u32::MAX, u32::MAX, 2, 0, 0, 0], 4), "lengths that lead outside");
        assert!(!super::may_be_profiled(), "this program has none");
    }

    #[test]
    fn this_function_is_inside_the_text_and_behind_the_bias() {
        let (start, end) = super::text();
        let here = this_function_is_inside_the_text_and_behind_the_bias as fn() as usize;
        assert!(start <= here && here < end);
        assert!(super::bias() <= start);
    }
}
