//! The checks of the walk through stacks.

use gmon_unwind::{
    AArch64, Architecture, Cache, Cfa, Ending, Ends, Image, MOST_FRAMES, Machine, Memory, OUTER_FRAMES, Object,
    Objects, OuterEnd, OuterEnds, Place, Reach, Rule, Section, SignalFrames, Tables, Trail, Walk, X86_64, evaluate,
};

use crate::Limits;
use crate::parts::{byte, take};

/// Each address that is looked up may run the instructions of the longest entry.
const TABLES: Limits = Limits { bytes_per_byte: 4, bytes: 1 << 10, steps_per_byte: 5_000, steps: 100_000 };

/// Each frame may run the instructions of the longest entry, and may search 4 KB of code for an instruction. Records of
/// 16 bytes are the most frames of a stack that need this search.
const WALKS: Limits = Limits { bytes_per_byte: 16, bytes: 256 << 10, steps_per_byte: 50_000, steps: 300_000_000 };

/// Where the section with the tables is.
const SECTION: usize = 0x10_0000;

/// The input is the distance of an index from the start of a section, and the section. Each rule is the same if other
/// bytes follow the section, and its expressions lie in the section. The evaluator ends for any expression, and so does
/// the reader of program headers.
pub fn tables(input: &[u8]) {
    let mut bytes = input;
    let header = usize::from(byte(&mut bytes));
    let followed = [bytes, &[0xff; 64]].concat();
    TABLES.hold(input.len(), || {
        for pc in places(bytes, header) {
            check_rule::<X86_64>(bytes, &followed, header, pc);
            check_rule::<AArch64>(bytes, &followed, header, pc);
        }
        for offset in [0, header as u32, u32::MAX] {
            check_expression(bytes, &followed, offset);
        }
        let words = Words(bytes);
        let image = Image::at(&words, 0).unwrap_or(Image { bias: 0, segments: header, number: 3 });
        if let Some(parts) = image.parts(&words, false) {
            assert!(!parts.code.is_empty());
            assert!(parts.tables.is_none_or(|(index, segment)| segment.contains(&index)));
        }
        let mut room = [0; 32];
        assert!(image.build_id(&words, &mut room) <= room.len());
    });
}

/// Addresses to look up: those of the first words of the index, as far as a word is the distance of a function from the
/// index.
fn places(bytes: &[u8], header: usize) -> impl Iterator<Item = usize> {
    let words = bytes.get(header..).unwrap_or(&[]).as_chunks().0.iter().skip(1).take(8);
    let starts = words.map(move |word| (SECTION + header).wrapping_add_signed(i32::from_ne_bytes(*word) as isize));
    starts.flat_map(|start| [0, 1, 6, 40].map(|offset| start.wrapping_add(offset)))
}

fn check_rule<A: Architecture>(bytes: &[u8], followed: &[u8], header: usize, pc: usize) {
    let found = |bytes| {
        let object = Object::new(0..usize::MAX, Section { address: SECTION, bytes }, Some(header));
        object.rule::<A>(pc).map(|found| (found.rule, found.is_signal))
    };
    let Some((rule, is_signal)) = found(bytes) else { return };
    assert_eq!(found(followed), Some((rule, is_signal)), "{pc:#x}");
    for offset in expressions(&rule) {
        let end = end_of_expression(bytes, offset as usize);
        assert!(end.is_some_and(|end| end <= bytes.len()), "{pc:#x}: {rule:?}");
        check_expression(bytes, followed, offset);
    }
}

/// The offsets of the expressions of a rule.
fn expressions(rule: &Rule) -> impl Iterator<Item = u32> {
    let of_cfa = if let Cfa::Expression(offset) = rule.cfa { Some(offset) } else { None };
    let stored = [rule.return_address, rule.frame_pointer, rule.base, rule.stack_pointer];
    let of_places = stored.into_iter().filter_map(|stored| match stored.place() {
        Place::Expression(offset) | Place::ValueExpression(offset) => Some(offset),
        _ => None,
    });
    of_cfa.into_iter().chain(of_places)
}

/// The end of an expression, which begins with its length as an unsigned LEB128 number.
fn end_of_expression(bytes: &[u8], offset: usize) -> Option<usize> {
    let rest = bytes.get(offset..)?;
    let digits = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let length = rest[..digits].iter().rev().fold(0_usize, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
    length.checked_add(offset + digits)
}

fn check_expression(bytes: &[u8], followed: &[u8], offset: u32) {
    for first in [None, Some(SECTION)] {
        let value = |section| evaluate(Section { address: SECTION, bytes: section }, offset, first, &Words(bytes));
        let found = value(bytes);
        assert!(found.is_none() || value(followed) == found, "{offset}");
    }
}

/// Memory that has the bytes of an input again and again, except at addresses that end with fifteen ones.
struct Words<'a>(&'a [u8]);

impl Memory for Words<'_> {
    fn read(&self, address: usize) -> Option<usize> {
        if address & 0x7fff == 0x7fff {
            return None;
        }
        let start = address.checked_rem(self.0.len())?;
        let byte = |at: usize| self.0.get((start + at) % self.0.len()).copied().unwrap_or(0);
        Some(usize::from_ne_bytes(std::array::from_fn(byte)))
    }
}

impl Machine for Words<'_> {
    fn register(&self, number: u8) -> Option<usize> {
        self.read(usize::from(number))
    }
}

/// The object with the tables, whose functions lie before and behind the section, and the object without tables.
const CODE: usize = SECTION - 0x2000;
const OTHER: usize = 0x20_0000;
const STACK: usize = 0x80_0000;
/// The context of the interrupted code. Its registers are the words of the stack.
const CONTEXT: usize = 0x90_0000;
/// The bytes of an object, and of the stack.
const SIZE: usize = 0x4000;
const STACK_SIZE: usize = 0x1000;
const REGISTERS: usize = 33;
const OFFSETS: [u16; REGISTERS] = {
    let mut offsets = [0; REGISTERS];
    let mut number = 0;
    while number < REGISTERS {
        offsets[number] = 8 * number as u16;
        number += 1;
    }
    offsets
};
const SIGNALS: SignalFrames = SignalFrames {
    trampoline: &[0x0f, 0x05],
    last_instruction: 0,
    context: 16,
    registers: &OFFSETS,
    program_counter: 8 * REGISTERS as u16,
};

/// A stack of numbers of 16 bits that are the words of the stack again and again, and the code of both objects.
struct Process<'a> {
    stack: &'a [u8],
    code: &'a [u8],
    /// The stack pointer, the frame pointer, and the program counter of the interrupted code, as words of the stack.
    start: [u16; 3],
    /// The numbers of the registers.
    numbers: [u8; 2],
}

/// The word of the stack that a number says: an address of the stack, an address of one of the objects, or a small
/// number.
fn word(number: u16) -> usize {
    let (kind, offset) = (number >> 14, usize::from(number & 0x3fff));
    match kind {
        0 => STACK + 8 * offset % STACK_SIZE,
        1 => CODE + offset,
        2 => OTHER + offset,
        _ => offset,
    }
}

impl Process<'_> {
    fn byte(&self, address: usize) -> Option<u8> {
        let inside = |start: usize, size: usize| address.checked_sub(start).filter(|offset| *offset < size);
        let cyclic = |bytes: &[u8], offset: usize| bytes.get(offset.checked_rem(bytes.len())?).copied();
        let code = inside(CODE, SIZE).or_else(|| inside(OTHER, SIZE));
        if let Some(offset) = code {
            return cyclic(self.code, offset);
        }
        let offset = inside(STACK, STACK_SIZE).or_else(|| inside(CONTEXT, 8 * (REGISTERS + 1)))?;
        let (index, is_context) = (offset / 8, address >= CONTEXT);
        let number = match self.numbers.iter().position(|number| usize::from(*number) == index) {
            Some(place) if is_context => self.start[place],
            None if is_context && index == REGISTERS => self.start[2],
            _ => u16::from_le_bytes([cyclic(self.stack, 2 * index)?, cyclic(self.stack, 2 * index + 1)?]),
        };
        Some(word(number).to_ne_bytes()[offset % 8])
    }
}

impl Memory for Process<'_> {
    fn read(&self, address: usize) -> Option<usize> {
        let mut bytes = [0; size_of::<usize>()];
        for (offset, place) in bytes.iter_mut().enumerate() {
            *place = self.byte(address.checked_add(offset)?)?;
        }
        Some(usize::from_ne_bytes(bytes))
    }
}

/// Room for the outer ends of a few stacks.
struct Room([OuterEnd; 2]);

impl OuterEnds for Room {
    fn list(&self) -> Option<&[OuterEnd]> {
        Some(&self.0)
    }

    fn list_or_new(&self) -> Option<&[OuterEnd]> {
        self.list()
    }
}

/// The input is three numbers for the registers, the numbers of a stack, code, and a section with tables whose index is
/// at the start. Each walk ends, and finds the same with the rules that an earlier walk has remembered. A walk that
/// keeps both ends finds the same frames.
pub fn walk(input: &[u8]) {
    let mut rest = input;
    let start = std::array::from_fn(|_| u16::from_le_bytes([byte(&mut rest), byte(&mut rest)]));
    let (Some(stack), Some(code)) = (take(&mut rest), take(&mut rest)) else { return };
    WALKS.hold(input.len(), || {
        check_walk::<X86_64>(&Process { stack, code, start, numbers: [7, 6] }, rest);
        check_walk::<AArch64>(&Process { stack, code, start, numbers: [31, 29] }, rest);
    });
}

fn check_walk<A: Architecture>(process: &Process<'_>, section: &[u8]) {
    let list = [
        Object::new(CODE..CODE + SIZE, Section { address: SECTION, bytes: section }, Some(0)),
        Object::new(OTHER..OTHER + SIZE, Section { address: 0, bytes: &[] }, None),
    ];
    let cache = Cache::<64>::new();
    let tables = Tables { objects: Objects::new(&list, 1), thread: 0, cache: &cache, signals: &SIGNALS };
    let whole = || {
        let mut walk = Walk::<A, _, _, _>::new(&tables, process, CONTEXT);
        let frames: Vec<_> = walk.by_ref().take(MOST_FRAMES as usize + 1).collect();
        (frames, walk.ending())
    };
    let (frames, ending) = whole();
    assert!(frames.len() <= MOST_FRAMES as usize && ending.is_some(), "{}", frames.len());
    assert!(frames.first().is_none_or(|frame| frame.is_exact));
    assert!(frames.iter().filter(|frame| !frame.is_exact).all(|frame| frame.pc != 0));
    // In the cache, the highest bit of an address tells interrupted code from calls. No program has code at such
    // addresses.
    if frames.iter().all(|frame| frame.pc < usize::MAX / 2) {
        assert_eq!(whole(), (frames.clone(), ending), "from the cache");
    }
    let (ends, mut trail) = (Room([const { OuterEnd::new() }; 2]), Trail::new());
    for reach in [Reach { kept: 70, passed: 2000 }, Reach { kept: 70, passed: 0 }] {
        let mut walk = Walk::<A, _, _, _>::new(&tables, process, CONTEXT);
        let mut inner = Vec::new();
        let walked = Ends { walk: &mut walk, memory: process, remembered: &ends, thread: 8, trail: &mut trail }.run(
            reach,
            |frame| {
                inner.push(frame);
                true
            },
        );
        assert!(inner.len() <= reach.kept && walked.passed <= reach.passed && trail.outer().len() <= OUTER_FRAMES);
        assert!(frames.starts_with(&inner), "{reach:?}");
        if frames.len() < reach.kept {
            assert_eq!((inner.len(), Some(walked.ending)), (frames.len(), ending), "{reach:?}");
        } else if walked.ending == Ending::Outermost {
            assert_eq!(
                (inner.len() + trail.outer().len(), ending),
                (frames.len(), Some(Ending::Outermost)),
                "{reach:?}"
            );
        }
    }
}
