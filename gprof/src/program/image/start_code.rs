//! Finds `_start` and `main` in a stripped program: the start-up code at the program's entry passes the address of
//! `main` to the C library.

use std::ops::Range;

use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, Rela, SectionHeader};
use object::{Endianness, pod};

use super::elf::File;
use super::machine_code::{Code, Machine, distance_aarch64};

/// The longest start-up code in which gprof looks for the address of `main`, in bytes. The start-up code
/// of glibc has 38 to 52 bytes.
const LONGEST: usize = 64;

/// As [`LONGEST`], with a function of the start-up code that only jumps to `main`.
pub(super) const LONGEST_WITH_JUMP: u64 = 2 * LONGEST as u64;

/// The section with the code of this project's start-up objects.
const OUR_SECTION: &[u8] = b"gmon_text";

/// The addresses and names of `_start` and `main`; nothing if the file is no program for a dynamic linker or for a
/// fixed address, or if the code at the entry is not known.
pub(super) fn functions<Elf>(file: &File<'_, Elf>) -> Vec<(u64, &'static str)>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let entry: u64 = file.header.e_entry(file.endian).into();
    let main = || {
        let section = code_section(file, entry).filter(|_| is_program(file))?;
        let is_ours = file.sections.section_name(file.endian, section) == Ok(OUR_SECTION);
        let start_code = if is_ours { 0..u64::MAX } else { entry..entry.saturating_add(LONGEST_WITH_JUMP) };
        let main = main_function(&file.machine_code(section), entry, &start_code, |address| word(file, address))?;
        code_section(file, main).map(|_| main)
    };
    main().map_or_else(Vec::new, |main| vec![(entry, "_start"), (main, "main")])
}

/// The section of code with an address.
fn code_section<'data, Elf>(file: &File<'data, Elf>, address: u64) -> Option<&'data Elf::SectionHeader>
where
    Elf: FileHeader<Endian = Endianness>,
{
    file.sections.iter().find(|section| {
        let offset = address.checked_sub(section.sh_addr(file.endian).into());
        let is_code = section.sh_flags(file.endian).contains(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
        is_code && offset.is_some_and(|offset| offset < section.sh_size(file.endian).into())
    })
}

/// Whether a file is a program: libraries have an entry too, but mostly no start-up code there.
fn is_program<Elf>(file: &File<'_, Elf>) -> bool
where
    Elf: FileHeader<Endian = Endianness>,
{
    let segments = file.header.program_headers(file.endian, file.data).unwrap_or_default();
    let has_linker = segments.iter().any(|segment| segment.p_type(file.endian) == elf::PT_INTERP);
    file.header.e_type(file.endian) == elf::ET_EXEC || has_linker
}

/// Returns the word at an address as the loader leaves the word: relocated if `.rela.dyn` says so.
fn word<Elf>(file: &File<'_, Elf>, address: u64) -> Option<u64>
where
    Elf: FileHeader<Endian = Endianness>,
{
    if let Some((_, section)) = file.sections.section_by_name(file.endian, b".rela.dyn")
        && let Ok(Some((relocations, _))) = section.rela(file.endian, file.data)
        && let Some(entry) = relocations.iter().find(|entry| entry.r_offset(file.endian).into() == address)
    {
        let addend: i64 = entry.r_addend(file.endian).into();
        return Some(addend.cast_unsigned());
    }
    let stored = |section: &Elf::SectionHeader| {
        let offset = address.checked_sub(section.sh_addr(file.endian).into())?;
        let bytes = section.data(file.endian, file.data).ok()?.get(usize::try_from(offset).ok()?..)?;
        let (word, _) = pod::from_bytes::<object::U64<Endianness>>(bytes).ok()?;
        section.sh_flags(file.endian).contains(elf::SHF_ALLOC).then(|| word.get(file.endian))
    };
    file.sections.iter().find_map(stored)
}

/// Returns the target of a function that only jumps, by its code and its address.
type Jump = fn(&Code<'_>, u64) -> Option<u64>;

/// The address that the code at `entry` passes as the first argument of a call; or, if a function in `start_code` has
/// this address and only jumps, the address to which the function jumps. `word` reads memory of the program.
fn main_function(
    code: &Code<'_>,
    entry: u64,
    start_code: &Range<u64>,
    word: impl Fn(u64) -> Option<u64>,
) -> Option<u64> {
    let (passed, jump): (u64, Jump) = match code.machine {
        Machine::X86_64 => (passed_by_x86_64(code, entry, word)?, jump_x86_64),
        Machine::Aarch64 => (passed_by_aarch64(code, entry, word)?, jump_aarch64),
        Machine::X86 | Machine::Other => return None,
    };
    // The program's own `main` may only jump, too.
    let target = if start_code.contains(&passed) { jump(code, passed) } else { None };
    Some(target.unwrap_or(passed))
}

/// The instruction before the call loads `main` into the register of the first argument, %rdi.
fn passed_by_x86_64(code: &Code<'_>, entry: u64, word: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    const LOAD: u64 = 7;
    code.from(entry)?.windows(9).take(LONGEST).zip(entry..).find_map(|(bytes, at)| {
        let &[rex @ 0x48, operation, register, a, b, c, d, call, next] = bytes else { return None };
        // call offset; addr32 call offset, which linkers make of the next; call *offset(%rip)
        let is_call = call == 0xe8 || (call, next) == (0x67, 0xe8) || (call, next) == (0xff, 0x15);
        let operand = i64::from(i32::from_le_bytes([a, b, c, d]));
        let relative = at.wrapping_add(LOAD).wrapping_add_signed(operand);
        let main = match [rex, operation, register] {
            // lea main(%rip),%rdi
            [_, 0x8d, 0x3d] => relative,
            // mov $main,%rdi
            [_, 0xc7, 0xc7] => operand.cast_unsigned(),
            // mov main@GOTPCREL(%rip),%rdi
            [_, 0x8b, 0x3d] if is_call => word(relative)?,
            _ => return None,
        };
        is_call.then_some(main)
    })
}

/// The target of `endbr64; jmp target`.
fn jump_x86_64(code: &Code<'_>, function: u64) -> Option<u64> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const JUMP: [u8; 1] = [0xe9];
    let bytes = code.from(function)?.strip_prefix(&ENDBR64)?.strip_prefix(&JUMP)?;
    let next = function.wrapping_add((ENDBR64.len() + JUMP.len() + 4) as u64);
    Some(next.wrapping_add_signed(i32::from_le_bytes(*bytes.first_chunk()?).into()))
}

/// The first six bits of `b` and `bl`.
const BRANCH: u32 = 0b00_0101;
const CALL: u32 = 0b10_0101;

/// The instructions of AArch64 from an address on.
fn instructions<'code>(code: &Code<'code>, from: u64) -> Option<impl Iterator<Item = u32> + use<'code>> {
    let (instructions, _) = code.from(from)?.as_chunks::<4>();
    Some(instructions.iter().take(LONGEST / 4).map(|bytes| u32::from_le_bytes(*bytes)))
}

/// Two instructions before the call load `main` into x0, as an address or from a word of memory.
fn passed_by_aarch64(code: &Code<'_>, entry: u64, word: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let call = instructions(code, entry)?.position(|instruction| instruction >> 26 == CALL)?;
    let firsts = instructions(code, entry)?.take(call);
    let loads = firsts.zip(instructions(code, entry)?.skip(1)).zip((entry..).step_by(4));
    let passed = loads.filter_map(|((first, second), at)| {
        // adrp x0, page
        (first & 0x9f00_001f == 0x9000_0000).then_some(())?;
        let pages = (first >> 29 & 3) | (first >> 3 & 0x1f_fffc);
        // The number of pages has 21 bits and a sign.
        let pages = i64::from((pages << 11).cast_signed() >> 11);
        let page = (at & !0xfff).wrapping_add_signed(pages << 12);
        let operand = u64::from(second >> 10 & 0xfff);
        match second & 0xffc0_03ff {
            // add x0, x0, operand
            0x9100_0000 => Some(page.wrapping_add(operand)),
            // ldr x0, [x0, operand]
            0xf940_0000 => word(page.wrapping_add(operand * 8)),
            _ => None,
        }
    });
    passed.last()
}

/// The target of `b target` behind instructions that do nothing. glibc's start-up code for programs at a fixed address
/// has such a function.
fn jump_aarch64(code: &Code<'_>, function: u64) -> Option<u64> {
    const NOP: u32 = 0xd503_201f;
    const BTI_C: u32 = 0xd503_245f;
    let mut all = instructions(code, function)?.zip((function..).step_by(4));
    let (branch, at) = all.find(|(instruction, _)| ![NOP, BTI_C].contains(instruction))?;
    (branch >> 26 == BRANCH).then(|| at.wrapping_add_signed(distance_aarch64(branch)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main_in(machine: Machine, bytes: &[u8]) -> Option<u64> {
        let code = Code { machine, start: 0x1000, bytes };
        main_function(&code, 0x1004, &(0x1004..0x1080), |address| (address == 0x2_0018).then_some(0x1_0000))
    }

    #[test]
    fn main_of_x86_64_programs() {
        let found = |load: &[u8], call: &[u8]| {
            // Four bytes before the entry, then `xor %ecx,%ecx`.
            main_in(Machine::X86_64, &[&[0x90; 4][..], &[0x31, 0xc9], load, call, &[0xf4; 4]].concat())
        };
        // Loads: lea -0x10(%rip),%rdi; mov $0x401000,%rdi; mov 0x1f00b(%rip),%rdi
        let loads: [(&[u8], u64); 3] = [
            (&[0x48, 0x8d, 0x3d, 0xf0, 0xff, 0xff, 0xff], 0xffd),
            (&[0x48, 0xc7, 0xc7, 0x00, 0x10, 0x40, 0x00], 0x40_1000),
            (&[0x48, 0x8b, 0x3d, 0x0b, 0xf0, 0x01, 0x00], 0x1_0000),
        ];
        // Calls: call; addr32 call; call *(%rip)
        let calls: [&[u8]; 3] = [&[0xe8, 0, 1, 0, 0], &[0x67, 0xe8, 0, 1, 0, 0], &[0xff, 0x15, 0, 1, 0, 0]];
        for (load, main) in loads {
            for call in calls {
                assert_eq!(found(load, call), Some(main), "{load:x?} {call:x?}");
            }
            // Start-up code calls the C library, and never jumps there.
            assert_eq!(found(load, &[0xe9, 0, 1, 0, 0]), None);
        }
        // Behind the call is `endbr64; jmp 0x20`, to which `lea 5(%rip),%rdi` leads.
        let jump = [calls[0], &[0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0x20, 0, 0, 0]].concat();
        assert_eq!(found(&[0x48, 0x8d, 0x3d, 5, 0, 0, 0], &jump), Some(0x103b));
        // `endbr64; jmp 0x20` is all of a function before the entry, to which `lea -0x11(%rip),%rdi` leads.
        let jump = [0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0x20, 0, 0, 0, 0x90];
        let bytes = [&jump[..], &[0x48, 0x8d, 0x3d, 0xef, 0xff, 0xff, 0xff], calls[0]].concat();
        let code = Code { machine: Machine::X86_64, start: 0x1000, bytes: &bytes };
        let main = |start_code| main_function(&code, 0x100a, &start_code, |_| None);
        assert_eq!(main(0x100a..0x108a), Some(0x1000), "the program's own");
        assert_eq!(main(0..u64::MAX), Some(0x1029), "of the start-up code");
        assert_eq!(found(&[0x48, 0x8d, 0x35, 0, 0, 0, 0], calls[0]), None, "lea 0(%rip),%rsi");
        assert_eq!(main_in(Machine::X86_64, &[0x90; 3]), None);
        assert_eq!(main_in(Machine::X86, &[loads[0].0, calls[0]].concat()), None);
    }

    #[test]
    fn main_of_aarch64_programs() {
        let found = |instructions: &[u32]| {
            let bytes: Vec<u8> = instructions.iter().flat_map(|instruction| instruction.to_le_bytes()).collect();
            main_in(Machine::Aarch64, &bytes)
        };
        // At 0x1000: nop, nop at the entry. Then `adrp x0` with the page of the program or 31 pages behind, and a use.
        const NOP: u32 = 0xd503_201f;
        let [adrp, adrp_31, call] = [0x9000_0000, 0xf000_00e0, 0x9400_0010];
        // ldr x0, [x0, #0x18]: the word at 0x20018
        assert_eq!(found(&[NOP, NOP, adrp_31, 0xf940_0c00, call]), Some(0x1_0000));
        // add x0, x0, #0x14: the code behind the call is `mov x0, x1`, or `bti c; b -0x14`.
        assert_eq!(found(&[NOP, NOP, adrp, 0x9100_5000, call, 0xaa01_03e0]), Some(0x1014));
        assert_eq!(found(&[NOP, NOP, adrp, 0x9100_5000, call, 0xd503_245f, 0x17ff_fffb]), Some(0x1004));
        // adrp x1; add x1, x1
        assert_eq!(found(&[NOP, NOP, 0x9000_0001, 0x9100_5021, call]), None);
        // adrp x0 with the page before, add x0, x0, #0x14
        assert_eq!(found(&[NOP, NOP, 0xf0ff_ffe0, 0x9100_5000, call]), Some(0x14));
        assert_eq!(found(&[NOP, NOP, adrp, 0x9100_5000]), None, "no call");
        // The jump at 0x1000 is before the entry.
        assert_eq!(found(&[0x1400_0010, NOP, adrp, 0x9100_0000, call]), Some(0x1000));
        assert_eq!(found(&[]), None);
    }
}
