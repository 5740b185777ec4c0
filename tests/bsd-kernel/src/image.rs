//! Program images: the checks of a program's file, and the initial stack.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};

use crate::task::Task;

/// The brand by which a system recognizes its programs.
#[derive(Clone, Copy, Debug)]
pub struct Brand {
    /// The system's value of EI_OSABI, if the system has one.
    pub os_abi: Option<u8>,
    /// The name in the system's notes.
    pub note: &'static [u8],
}

/// The parts of a program's file that the kernel uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The types and descriptions of the system's notes.
    pub notes: Vec<(u32, Vec<u8>)>,
    /// The dynamic linker.
    pub interpreter: Option<PathBuf>,
    /// Addresses of system call instructions and their numbers, from OpenBSD's segment PT_OPENBSD_SYSCALLS: those of
    /// the dynamic linker if there is one.
    pub pinned: Option<Vec<(u32, u32)>>,
    /// The start and the end of the text for which `pinned` holds, before relocation.
    pub text: (u64, u64),
    /// The difference of addresses in memory from `pinned` and `text`, once the program is loaded.
    pub bias: u64,
    /// The memory that OpenBSD makes immutable: loaded segments without mutable ranges, before relocation.
    pub immutable: Vec<Range<u64>>,
    /// Whether the program is position-independent.
    pub is_pie: bool,
}

/// Memory that OpenBSD leaves mutable.
const PT_OPENBSD_MUTABLE: elf::ProgramType = elf::ProgramType(0x65a3_dbe5);
/// OpenBSD's table of system call instructions (`sys/exec_elf.h` 1.108, 2025-07-31). The kernel does not read sections.
const PT_OPENBSD_SYSCALLS: elf::ProgramType = elf::ProgramType(0x65a3_dbe9);

impl Image {
    /// Reads the file of a program.
    ///
    /// # Errors
    ///
    /// ENOEXEC if the file is not an x86-64 program with the brand; otherwise the error of reading the file or its
    /// dynamic linker.
    pub fn read(path: &Path, brand: &Brand) -> Result<Image, Errno> {
        let file =
            |path: &Path| std::fs::read(path).map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw));
        let mut image = Image::parse(&file(path)?, brand).ok_or(Errno::ENOEXEC)?;
        if let Some(path) = &image.interpreter {
            let (linker, _) = Image::segments(&file(path)?, brand).ok_or(Errno::ENOEXEC)?;
            (image.pinned, image.text) = (linker.pinned, linker.text);
        }
        Ok(image)
    }

    /// Notes where Linux has loaded the program.
    pub fn set_bias(&mut self, auxiliary: &[(u64, u64)]) {
        let base = auxiliary.iter().find(|(tag, _)| *tag == AT_BASE).map_or(0, |(_, base)| *base);
        self.bias = if self.interpreter.is_some() { base } else { 0 };
    }

    fn parse(data: &[u8], brand: &Brand) -> Option<Image> {
        let (image, os_abi) = Image::segments(data, brand)?;
        let is_branded = !image.notes.is_empty() || brand.os_abi == Some(os_abi);
        is_branded.then_some(image)
    }

    /// Reads the segments of an executable file, and its value of EI_OSABI.
    fn segments(data: &[u8], brand: &Brand) -> Option<(Image, u8)> {
        let header = elf::FileHeader64::<object::Endianness>::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let is_executable = [elf::ET_EXEC, elf::ET_DYN].contains(&header.e_type(endian));
        if !is_executable || header.e_machine(endian) != elf::EM_X86_64 {
            return None;
        }
        let mut mutable = Vec::new();
        let mut image = Image { is_pie: header.e_type(endian) == elf::ET_DYN, ..Image::default() };
        for segment in header.program_headers(endian, data).ok()? {
            let start = segment.p_vaddr(endian);
            let range = start..start + segment.p_memsz(endian);
            if segment.p_type(endian) == elf::PT_LOAD {
                image.immutable.push(range.start & !PAGE_MASK..(range.end + PAGE_MASK) & !PAGE_MASK);
            }
            match segment.p_type(endian) {
                elf::PT_GNU_RELRO | PT_OPENBSD_MUTABLE => mutable.push(range),
                elf::PT_INTERP => {
                    let path = segment.interpreter(endian, data).ok()??;
                    image.interpreter = Some(PathBuf::from(OsString::from_vec(path.to_vec())));
                }
                elf::PT_LOAD if segment.p_flags(endian).0 & elf::PF_X.0 != 0 => {
                    image.text = (range.start, range.end);
                }
                PT_OPENBSD_SYSCALLS => image.pinned = Some(pairs(segment.data(endian, data).ok()?)),
                _ => {}
            }
            if let Ok(Some(mut notes)) = segment.notes(endian, data) {
                while let Ok(Some(note)) = notes.next() {
                    if note.name() == brand.note {
                        image.notes.push((note.n_type(endian).0, note.desc().to_vec()));
                    }
                }
            }
        }
        for hole in mutable {
            image.immutable = image.immutable.iter().flat_map(|range| without(range, &hole)).collect();
        }
        Some((image, header.e_ident.os_abi.0))
    }
}

const PAGE_MASK: u64 = 0xfff;

/// Returns the parts of a range outside another range.
#[must_use]
pub fn without(range: &Range<u64>, hole: &Range<u64>) -> Vec<Range<u64>> {
    let parts = [range.start..range.end.min(hole.start), range.start.max(hole.end)..range.end];
    parts.into_iter().filter(|part| part.start < part.end).collect()
}

/// Returns the pairs of numbers in a table.
fn pairs(table: &[u8]) -> Vec<(u32, u32)> {
    let (words, _) = table.as_chunks::<4>();
    let (pairs, _) = words.as_chunks::<2>();
    pairs.iter().map(|[address, number]| (u32::from_le_bytes(*address), u32::from_le_bytes(*number))).collect()
}

/// Entries of Linux's auxiliary vector with tags that the BSDs share.
const SHARED_TAGS: [u64; 5] = [AT_PHDR, 4, 5, AT_BASE, AT_ENTRY];
const AT_PHDR: u64 = 3;
const AT_BASE: u64 = 7;
const AT_ENTRY: u64 = 9;

/// The entries of the auxiliary vector of a program that Linux just executed: program headers, base and entry point.
#[must_use]
pub fn auxiliary_vector(task: Task) -> Vec<(u64, u64)> {
    let bytes = std::fs::read(format!("/proc/{}/auxv", task.0)).expect("an executed program has an auxiliary vector");
    let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let (pairs, _) = words.as_chunks::<2>();
    pairs.iter().map(|[tag, value]| (*tag, *value)).filter(|(tag, _)| SHARED_TAGS.contains(tag)).collect()
}

/// The stack of a program at its start.
#[derive(Debug)]
pub struct InitialStack {
    /// The address of argc, where `bytes` belong.
    pub address: u64,
    /// argc, argv, environment, auxiliary vector and strings.
    pub bytes: Vec<u8>,
}

impl InitialStack {
    /// Lays out the stack below an address. `auxiliary` is the vector without the end marker; an empty vector gets no
    /// end marker.
    #[must_use]
    pub fn lay_out(
        below: u64,
        words: &[Vec<u8>],
        environment: &[Vec<u8>],
        auxiliary: Option<&[(u64, u64)]>,
    ) -> InitialStack {
        let strings: usize = words.iter().chain(environment).map(|string| string.len() + 1).sum();
        let mut next = (below - strings as u64) & !7;
        let first_string = next;
        let vector = auxiliary.map_or(0, |auxiliary| 2 * (auxiliary.len() as u64 + 1));
        let slots = 1 + words.len() as u64 + 1 + environment.len() as u64 + 1 + vector;
        let mut table = vec![words.len() as u64];
        for list in [words, environment] {
            for string in list {
                table.push(next);
                next += string.len() as u64 + 1;
            }
            table.push(0);
        }
        for (tag, value) in auxiliary.into_iter().flatten() {
            table.extend([*tag, *value]);
        }
        if auxiliary.is_some() {
            table.extend([0, 0]);
        }
        let mut bytes: Vec<u8> = table.iter().flat_map(|word| word.to_le_bytes()).collect();
        for string in words.iter().chain(environment) {
            bytes.extend_from_slice(string);
            bytes.push(0);
        }
        InitialStack { address: first_string - slots * 8, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_its_parts_in_order() {
        let strings = |list: &[&str]| list.iter().map(|string| string.as_bytes().to_vec()).collect::<Vec<_>>();
        let stack = InitialStack::lay_out(0x1000, &strings(&["ab"]), &strings(&["c=d"]), Some(&[(6, 4096)]));
        let words: Vec<u64> = stack.bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        assert_eq!(stack.address, 0xff8 - 9 * 8);
        assert_eq!(words[..9], [1, 0xff8, 0, 0xffb, 0, 6, 4096, 0, 0]);
        assert_eq!(&stack.bytes[72..], b"ab\0c=d\0");
        let without = InitialStack::lay_out(0x1000, &strings(&["ab"]), &[], None);
        assert_eq!(without.bytes.len(), 4 * 8 + 3);
    }

    #[test]
    fn only_programs_with_the_brand_are_executed() {
        let brand = Brand { os_abi: Some(9), note: b"FreeBSD" };
        assert_eq!(Image::parse(b"#!/bin/sh", &brand), None);
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(Image::parse(&own, &brand), None, "this test is a dynamic program of Linux");
    }
}
