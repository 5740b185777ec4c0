//! The bounds of the program's text, its load bias, and whether it may be profiled.

use core::ops::Range;

use gmon::layout::mark;

use crate::os::linked;
pub(crate) use crate::os::linked::text;
use crate::os::program_header::{EXECUTABLE, ProgramHeader, SEGMENT_LOAD};

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

/// ET_DYN: the program may be loaded anywhere.
const KIND_DYNAMIC: u16 = 3;
/// PT_INTERP.
const SEGMENT_INTERPRETER: u32 = 3;
/// PT_DYNAMIC, DT_DEBUG, DT_NULL.
const SEGMENT_DYNAMIC: u32 = 2;
const DYNAMIC_DEBUG: usize = 21;
const DYNAMIC_END: usize = 0;
/// PT_NOTE.
const SEGMENT_NOTE: u32 = 4;

/// The note that OpenBSD's kernel requires of a program that calls `profil`: the type, and the words of the name. The
/// note has no contents.
const PROFIL: (u32, &[u32]) = (2, &[u32::from_ne_bytes(*b"Open"), u32::from_ne_bytes(*b"BSD\0")]);
/// The note of the build ID (NT_GNU_BUILD_ID).
const BUILD_ID: (u32, &[u32]) = (3, &[u32::from_ne_bytes(*b"GNU\0")]);
const WORD: usize = size_of::<u32>();

/// The run-time address of the executable file's first byte.
pub(crate) fn base() -> usize {
    linked::headers().addr()
}

/// The load bias: the difference of a run-time address and the address in the executable file.
#[inline(never)]
pub(crate) fn bias() -> usize {
    let header = header();
    if header.kind != KIND_DYNAMIC {
        return 0;
    }
    segments(SEGMENT_LOAD)
        .find(|segment| segment.offset == 0)
        .map_or(0, |first| linked::headers().addr().wrapping_sub(first.address as usize))
}

/// The addresses of the program's code in the executable file, as those of other objects in multiples of 16.
pub(crate) fn code() -> Range<usize> {
    let code = segments(SEGMENT_LOAD).filter(|segment| segment.flags & EXECUTABLE != 0);
    let (start, end) = code.fold((usize::MAX, 0), |(start, end), segment| {
        let address = segment.address as usize;
        (start.min(address), end.max(address.saturating_add(segment.memory_size as usize)))
    });
    if start < end { start & !15..end.saturating_add(15) & !15 } else { 0..0 }
}

/// Whether a dynamic linker has loaded the program.
#[allow(dead_code, reason = "only systems that do not profile dynamic programs ask")]
pub(crate) fn has_interpreter() -> bool {
    segments(SEGMENT_INTERPRETER).next().is_some()
}

/// The address of the dynamic linker's `struct r_debug`, for debuggers; `None` in a static program. Call this after the
/// dynamic linker has loaded the program.
pub(crate) fn linker_data() -> Option<usize> {
    let bias = bias();
    let segment = segments(SEGMENT_DYNAMIC).next()?;
    let entries = core::ptr::with_exposed_provenance((segment.address as usize).wrapping_add(bias));
    // SAFETY: the segment is a part of the loaded program, which only the dynamic linker changes, at the start.
    let entries: &[[usize; 2]] =
        unsafe { core::slice::from_raw_parts(entries, segment.memory_size as usize / size_of::<[usize; 2]>()) };
    let entries = entries.iter().take_while(|[tag, _]| *tag != DYNAMIC_END);
    let [_, address] = entries.into_iter().find(|[tag, _]| *tag == DYNAMIC_DEBUG)?;
    (*address != 0).then_some(*address)
}

/// Whether the program may be profiled: a runtime in a shared object was asked to profile any program; other programs
/// have the note of the start-up objects.
pub fn may_be_profiled() -> bool {
    cfg!(feature = "preload") || has_start_object()
}

/// Whether the program has the note that allows profiling, which the start-up objects contain.
pub(crate) fn has_start_object() -> bool {
    note(PROFIL).is_some_and(<[u32]>::is_empty)
}

/// The bytes of the build ID, padded with zeros to whole words.
pub(crate) fn build_id() -> Option<&'static [u8]> {
    // SAFETY: the words are bytes too.
    note(BUILD_ID).map(|words| unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) })
}

/// Passes numbers from the headers to `each` that identify a program without a build ID: the entry point, and the
/// address and the sizes of each loaded segment. `strip` does not change them.
fn for_each_of_layout(mut each: impl FnMut(u64)) {
    each(header().entry);
    for segment in segments(SEGMENT_LOAD) {
        [segment.address, segment.file_size, segment.memory_size].into_iter().for_each(&mut each);
    }
}

/// The contents of the program's note with this type and name, in whole words.
#[inline(never)]
fn note(wanted: (u32, &[u32])) -> Option<&'static [u32]> {
    let bias = bias();
    segments(SEGMENT_NOTE).find_map(|segment| {
        let notes = core::ptr::with_exposed_provenance((segment.address as usize).wrapping_add(bias));
        // SAFETY: the segment is a part of the loaded program, which nobody changes, and is aligned to a word.
        let notes = unsafe { core::slice::from_raw_parts(notes, segment.memory_size as usize / WORD) };
        note_among(notes, segment.alignment as usize, wanted)
    })
}

/// The first 32 bits of the program's build ID, or of the sum of its layout if it has no build ID.
pub(crate) fn build() -> u32 {
    match build_id() {
        Some([a, b, c, d, ..]) => u32::from_be_bytes([*a, *b, *c, *d]),
        _ => layout_sum() as u32,
    }
}

/// The sum of marks of the numbers that identify a program without a build ID.
pub(crate) fn layout_sum() -> u64 {
    let (mut sum, mut position) = (0, 0);
    for_each_of_layout(|number| {
        sum = add_marks(sum, position, number);
        position += size_of::<u64>() as u64;
    });
    sum
}

/// Adds the marks of a number's bytes, lowest byte first.
#[inline(never)]
fn add_marks(sum: u64, position: u64, number: u64) -> u64 {
    let marks = (position..).zip(number.to_le_bytes()).map(|(position, byte)| mark(position, byte));
    marks.fold(sum, u64::wrapping_add)
}

/// The contents of the note with this type and name. The name starts behind three words; the name and the contents
/// are each padded to a multiple of `alignment`.
fn note_among<'a>(mut notes: &'a [u32], alignment: usize, (wanted, name): (u32, &[u32])) -> Option<&'a [u32]> {
    let alignment = alignment.max(WORD);
    while let [name_size, size, kind, rest @ ..] = notes {
        let start = (3 * WORD + *name_size as usize).next_multiple_of(alignment);
        let end = start + *size as usize;
        if *kind == wanted && *name_size as usize == size_of_val(name) && rest.starts_with(name) {
            return notes.get(start / WORD..end.div_ceil(WORD));
        }
        notes = notes.get(end.next_multiple_of(alignment) / WORD..).unwrap_or(&[]);
    }
    None
}

fn header() -> &'static ElfHeader {
    // SAFETY: the linker defines the symbol as the program's ELF header, which is loaded with its first segment.
    unsafe { &*linked::headers().cast() }
}

/// The program headers of one kind.
fn segments(kind: u32) -> impl Iterator<Item = &'static ProgramHeader> {
    let header = header();
    (0..usize::from(header.program_headers_number))
        .map(|index| {
            let offset = header.program_headers as usize + index * usize::from(header.program_header_size);
            // SAFETY: program headers are in the first segment too, at that offset from the ELF header.
            unsafe { &*linked::headers().byte_add(offset).cast::<ProgramHeader>() }
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
    fn a_note_is_found_among_others_and_nothing_else_is_taken_for_it() {
        use super::{BUILD_ID, PROFIL, note_among};
        let [open, bsd] = *PROFIL.1 else { panic!() };
        let profil = [8, 0, 2, open, bsd];
        let version = [8, 4, 1, open, bsd, 0];
        let build = [4, 8, 3, BUILD_ID.1[0], 0x01020304, 5];
        let has = |notes: &[u32], alignment| note_among(notes, alignment, PROFIL) == Some(&[]);
        assert!(has(&profil, 4) && has(&profil, 0));
        let all = [&build[..], &version, &profil].concat();
        assert!(has(&all, 4));
        assert_eq!(note_among(&all, 4, BUILD_ID), Some(&build[4..]));
        assert_eq!(note_among(&[&profil[..], &build].concat(), 4, BUILD_ID), Some(&build[4..]));
        assert!(!has(&[&build[..], &version].concat(), 4), "another type of note by the same name");
        let other = [8, 0, 2, u32::from_ne_bytes(*b"NetB"), bsd];
        assert!(!has(&other, 4) && !has(&profil[..4], 4) && !has(&[], 4));
        // The contents behind a name of 4 bytes start at the next multiple of 8.
        let property = [4, 16, 5, 0x554e47, 0, 0, 0, 0];
        assert!(has(&[&property[..], &profil].concat(), 4));
        assert_eq!(note_among(&[&property[..], &build].concat(), 8, BUILD_ID), Some(&build[4..]));
        assert!(!has(&[u32::MAX, u32::MAX, 2, 0, 0, 0], 4), "lengths that lead outside");
        assert_eq!(note_among(&build[..5], 4, BUILD_ID), None, "one that is cut");
        assert!(!super::may_be_profiled(), "this program has none");
    }

    #[test]
    fn this_function_is_inside_the_text_and_behind_the_bias() {
        let (start, end) = super::text();
        let here = this_function_is_inside_the_text_and_behind_the_bias as fn() as usize;
        assert!(start <= here && here < end);
        assert!(super::bias() <= start);
    }

    /// The program headers in the file of this program: the words of each.
    fn headers_in_file() -> (Vec<u8>, Vec<Vec<usize>>) {
        let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let word = |at: usize| usize::from_ne_bytes(file[at..at + 8].try_into().unwrap());
        let (start, number) = (word(32), usize::from(u16::from_ne_bytes([file[56], file[57]])));
        let headers = (0..number).map(|index| (0..7).map(|field| word(start + 56 * index + 8 * field)).collect());
        let headers = headers.collect();
        (file, headers)
    }

    #[test]
    fn the_headers_of_this_program_are_those_of_its_file() {
        let (file, headers) = headers_in_file();
        let of_kind = |kind| headers.iter().filter(move |header| header[0] as u32 == kind);
        // SAFETY: the first bytes of this program.
        let first: [u8; 64] = unsafe { *(super::base() as *const [u8; 64]) };
        assert_eq!(first[..], file[..64]);
        let code: Vec<_> = of_kind(1).filter(|header| header[0] >> 32 & 1 == 1).collect();
        let start = code.iter().map(|header| header[2] & !15).min().unwrap();
        let end = code.iter().map(|header| (header[2] + header[5]).next_multiple_of(16)).max().unwrap();
        assert_eq!(super::code(), start..end);
        let entry = usize::from_ne_bytes(file[24..32].try_into().unwrap());
        let layout = of_kind(1).flat_map(|header| [header[2], header[4], header[5]]);
        let bytes: Vec<_> = std::iter::once(entry).chain(layout).flat_map(usize::to_le_bytes).collect();
        let marks = bytes.iter().enumerate().map(|(position, byte)| super::mark(position as u64, *byte));
        assert_eq!(super::layout_sum(), marks.fold(0, u64::wrapping_add));
        // All notes, one by one.
        let mut build_id = None;
        for header in of_kind(4) {
            let (mut notes, alignment) = (&file[header[1]..header[1] + header[4]], header[6].max(4));
            while !notes.is_empty() {
                let [name, length, kind] =
                    [0, 4, 8].map(|at| u32::from_ne_bytes(notes[at..at + 4].try_into().unwrap()));
                let start = (12 + name as usize).next_multiple_of(alignment);
                let end = start + length as usize;
                let words = |bytes: &[u8]| -> Vec<u32> {
                    bytes.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
                };
                let (wanted, contents) = (words(&notes[12..12 + name as usize]), words(&notes[start..end]));
                assert_eq!(super::note((kind, &wanted)), Some(&contents[..]), "{kind}");
                if kind == 3 && name == 4 {
                    build_id = Some(notes[start..end].to_vec());
                }
                notes = notes.get(end.next_multiple_of(alignment)..).unwrap_or(&[]);
            }
        }
        assert_eq!(super::note((99, super::BUILD_ID.1)), None);
        assert_eq!(super::build_id(), build_id.as_deref());
        let expected =
            build_id.map_or(super::layout_sum() as u32, |id| u32::from_be_bytes(id[..4].try_into().unwrap()));
        assert_eq!(super::build(), expected);
    }

    #[test]
    fn the_dynamic_linker_has_data_for_debuggers() {
        let (_, headers) = headers_in_file();
        // A program with an interpreter (PT_INTERP) has a dynamic linker.
        let is_dynamic = headers.iter().any(|header| header[0] as u32 == 3);
        let data = super::linker_data();
        assert_eq!(data.is_some(), is_dynamic);
        if let Some(data) = data {
            // SAFETY: `struct r_debug` begins with the version and the address of the list, whose first entry is this
            // program.
            let [version, list] = unsafe { *(data as *const [usize; 2]) };
            assert!((1..=2).contains(&(version as u32)));
            // SAFETY: as above; the entry begins with the load bias.
            assert_eq!(unsafe { *(list as *const usize) }, super::bias());
        }
    }
}
