//! DWARF's stack machine, as far as unwind tables use it: PLT stubs, realigned stacks, and signal trampolines.

use super::bytes::{Cursor, Section};
use super::memory::Memory;

/// What an expression can ask for.
pub trait Machine: Memory {
    /// The value of a register, by its DWARF number, if it is known.
    fn register(&self, number: u8) -> Option<usize>;
}

/// The depth of the stack. PLT stubs need 3.
const DEPTH: usize = 8;
/// The number of operations after which an expression that loops is given up.
const MOST_OPERATIONS: u32 = 256;

struct Stack {
    values: [usize; DEPTH],
    depth: usize,
}

impl Stack {
    fn push(&mut self, value: usize) -> Option<()> {
        *self.values.get_mut(self.depth)? = value;
        self.depth += 1;
        Some(())
    }

    /// The value this far below the top.
    fn pick(&self, below: usize) -> Option<usize> {
        let index = self.depth.checked_sub(1)?.checked_sub(below)?;
        self.values.get(index).copied()
    }

    fn pop(&mut self) -> Option<usize> {
        let value = self.pick(0)?;
        self.depth -= 1;
        Some(value)
    }
}

/// Evaluates the expression whose length is at an offset of the section. `first` is on the stack at the start: the CFA,
/// for the place of a register.
#[must_use]
#[inline(never)]
pub fn evaluate(section: Section<'_>, offset: u32, first: Option<usize>, machine: &impl Machine) -> Option<usize> {
    let mut cursor = section.at(offset as usize);
    let length = cursor.uleb()?;
    let whole = cursor.split(usize::try_from(length).ok()?)?;
    let mut stack = Stack { values: [0; DEPTH], depth: 0 };
    if let Some(first) = first {
        stack.push(first)?;
    }
    let mut at = whole;
    for _ in 0..MOST_OPERATIONS {
        if at.is_at_end() {
            return stack.pop();
        }
        let operation = at.u8()?;
        match operation {
            // DW_OP_skip, DW_OP_bra
            0x2f | 0x28 => {
                let distance = at.u16()?.cast_signed();
                if operation == 0x2f || stack.pop()? != 0 {
                    let target = at.address().wrapping_add_signed(distance.into());
                    at = whole;
                    at.skip(target.checked_sub(whole.address())?)?;
                }
            }
            _ => push(&mut stack, operation, &mut at, machine)
                .or_else(|| arrange(&mut stack, operation, &mut at))
                .unwrap_or_else(|| compute(&mut stack, operation, &mut at))?,
        }
    }
    None
}

/// Operations that push a number, a register, or a word of memory. `None` for other operations.
fn push(stack: &mut Stack, operation: u8, at: &mut Cursor<'_>, machine: &impl Machine) -> Option<Option<()>> {
    let signed = |value: i64| value as usize;
    let value = match operation {
        0x03 => at.u64().map(|address| address as usize),                // addr
        0x08 => at.u8().map(Into::into),                                 // const1u
        0x09 => at.u8().map(|value| signed(value.cast_signed().into())), // const1s
        0x0a => at.u16().map(Into::into),                                // const2u
        0x0b => at.u16().map(|value| signed(value.cast_signed().into())), // const2s
        0x0c => at.u32().map(|value| value as usize),                    // const4u
        0x0d => at.u32().map(|value| signed(value.cast_signed().into())), // const4s
        0x0e | 0x0f => at.u64().map(|value| value as usize),             // const8u, const8s
        0x10 => at.uleb().map(|value| value as usize),                   // constu
        0x11 => at.sleb().map(signed),                                   // consts
        0x30..=0x4f => Some(usize::from(operation - 0x30)),              // lit0 to lit31
        // breg0 to breg31, bregx
        0x70..=0x8f => plus(machine.register(operation - 0x70), at.sleb()),
        0x92 => {
            let number = at.uleb().and_then(|number| u8::try_from(number).ok());
            plus(number.and_then(|number| machine.register(number)), at.sleb())
        }
        0x06 => stack.pop().and_then(|address| machine.read(address)), // deref
        // deref_size
        0x94 => at.u8().filter(|size| (1..=8).contains(size)).and_then(|size| {
            let unused = 64 - 8 * u32::from(size);
            stack.pop().and_then(|address| machine.read(address)).map(|word| word << unused >> unused)
        }),
        _ => return None,
    };
    Some(value.and_then(|value| stack.push(value)))
}

fn plus(value: Option<usize>, offset: Option<i64>) -> Option<usize> {
    Some(value?.wrapping_add(offset? as usize))
}

/// Operations that rearrange the stack. `None` for other operations.
fn arrange(stack: &mut Stack, operation: u8, at: &mut Cursor<'_>) -> Option<Option<()>> {
    let done = match operation {
        0x12 => stack.pick(0).and_then(|value| stack.push(value)), // dup
        0x13 => stack.pop().map(drop),                             // drop
        0x14 => stack.pick(1).and_then(|value| stack.push(value)), // over
        0x15 => at.u8().and_then(|below| stack.pick(below.into())).and_then(|value| stack.push(value)), // pick
        0x16 => swap(stack),                                       // swap
        0x17 => rotate(stack),                                     // rot
        0x96 => Some(()),                                          // nop
        _ => return None,
    };
    Some(done)
}

fn swap(stack: &mut Stack) -> Option<()> {
    let (top, second) = (stack.pop()?, stack.pop()?);
    stack.push(top)?;
    stack.push(second)
}

/// Moves the top below the two values under it.
fn rotate(stack: &mut Stack) -> Option<()> {
    let (top, second, third) = (stack.pop()?, stack.pop()?, stack.pop()?);
    stack.push(top)?;
    stack.push(third)?;
    stack.push(second)
}

/// Operations that compute from the top of the stack.
fn compute(stack: &mut Stack, operation: u8, at: &mut Cursor<'_>) -> Option<()> {
    let top = stack.pop()?;
    let value = match operation {
        0x19 => top.cast_signed().unsigned_abs(), // abs
        0x1f => top.wrapping_neg(),
        0x20 => !top,
        0x23 => top.wrapping_add(at.uleb()? as usize), // plus_uconst
        _ => binary(operation, stack.pop()?, top)?,
    };
    stack.push(value)
}

/// The value of an operation with the second value and the top.
fn binary(operation: u8, second: usize, top: usize) -> Option<usize> {
    let shift = u32::try_from(top).ok().filter(|count| *count < usize::BITS);
    let (left, right) = (second.cast_signed(), top.cast_signed());
    Some(match operation {
        0x1a => second & top,
        0x1b => left.checked_div(right)?.cast_unsigned(), // div
        0x1c => second.wrapping_sub(top),
        0x1d => second.checked_rem(top)?, // mod
        0x1e => second.wrapping_mul(top),
        0x21 => second | top,
        0x22 => second.wrapping_add(top),
        0x24 => shift.map_or(0, |count| second << count),
        0x25 => shift.map_or(0, |count| second >> count),
        0x26 => (left >> shift.unwrap_or(usize::BITS - 1)).cast_unsigned(), // shra
        0x27 => second ^ top,
        0x29 => (left == right).into(),
        0x2a => (left >= right).into(),
        0x2b => (left > right).into(),
        0x2c => (left <= right).into(),
        0x2d => (left < right).into(),
        0x2e => (left != right).into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::memory::Words;
    use super::*;

    /// Memory, and registers with a thousand times their numbers, of which 200 is not known.
    struct Made(Words);

    impl Memory for Made {
        fn read(&self, address: usize) -> Option<usize> {
            self.0.read(address)
        }
    }

    impl Machine for Made {
        fn register(&self, number: u8) -> Option<usize> {
            (number != 200).then(|| usize::from(number) * 1000)
        }
    }

    /// The value of an expression in the middle of a section.
    fn value(operations: &[u8], first: Option<usize>) -> Option<usize> {
        let bytes = [&[0x31, operations.len() as u8], operations, &[0x31]].concat();
        let machine = Made(Words::from([(16, 0x8877_6655_4433_2211), (24, usize::MAX)]));
        evaluate(Section { address: 0x1000, bytes: &bytes }, 1, first, &machine)
    }

    /// The values that operations leave on the stack, the top first.
    fn stack(operations: &[u8]) -> Vec<usize> {
        let below = |number: usize| value(&[operations, &vec![0x13; number]].concat(), None);
        (0..=DEPTH).map_while(below).collect()
    }

    fn negative(number: isize) -> usize {
        number.cast_unsigned()
    }

    #[test]
    fn numbers_registers_and_words_are_pushed() {
        let eight = [0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0x80];
        let with = |operation: u8, operand: &[u8]| [&[operation], operand].concat();
        for (operations, pushed) in [
            (with(0x03, &eight), 0x8000_0000_ffff_fffe),
            (with(0x08, &eight[..1]), 0xfe),
            (with(0x09, &eight[..1]), negative(-2)),
            (with(0x0a, &eight[..2]), 0xfffe),
            (with(0x0b, &eight[..2]), negative(-2)),
            (with(0x0c, &eight[..4]), 0xffff_fffe),
            (with(0x0d, &eight[..4]), negative(-2)),
            (with(0x0e, &eight), 0x8000_0000_ffff_fffe),
            (with(0x0f, &eight), 0x8000_0000_ffff_fffe),
            (with(0x10, &[0xff, 0x7f]), 0x3fff),
            (with(0x11, &[0xfe, 0x7f]), negative(-2)),
            (vec![0x30], 0),
            (vec![0x31], 1),
            (vec![0x4f], 31),
            (vec![0x70, 3], 3),
            (vec![0x77, 0x78], 7000 - 8),
            (vec![0x8f, 0], 31_000),
            (vec![0x92, 33, 0x70], 33_000 - 16),
            (vec![0x40, 0x06], 0x8877_6655_4433_2211),
            (vec![0x40, 0x94, 1], 0x11),
            (vec![0x40, 0x94, 3], 0x33_2211),
            (vec![0x40, 0x94, 7], 0x77_6655_4433_2211),
            (vec![0x40, 0x94, 8], 0x8877_6655_4433_2211),
            (vec![0x48, 0x94, 4], 0xffff_ffff),
        ] {
            assert_eq!(stack(&operations), [pushed], "{operations:x?}");
        }
        for unknown in [
            &[0x92, 0xc8, 1, 0][..],
            &[0x92, 0x80, 2, 0],
            &[0x40, 0x94, 0],
            &[0x40, 0x94, 9],
            &[0x31, 0x06],
            &[0x06],
            &[0x03],
            &[0x97],
        ] {
            assert_eq!(stack(unknown), [], "{unknown:x?}");
        }
    }

    #[test]
    fn the_stack_is_rearranged() {
        for (operations, left) in [
            (&[0x31, 0x32, 0x12][..], &[2, 2, 1][..]),
            (&[0x31, 0x32, 0x13], &[1]),
            (&[0x31, 0x32, 0x14], &[1, 2, 1]),
            (&[0x31, 0x32, 0x33, 0x15, 0], &[3, 3, 2, 1]),
            (&[0x31, 0x32, 0x33, 0x15, 2], &[1, 3, 2, 1]),
            (&[0x31, 0x32, 0x33, 0x15, 3], &[]),
            (&[0x31, 0x32, 0x33, 0x16], &[2, 3, 1]),
            (&[0x31, 0x32, 0x33, 0x34, 0x17], &[3, 2, 4, 1]),
            (&[0x31, 0x96], &[1]),
            (&[0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38], &[8, 7, 6, 5, 4, 3, 2, 1]),
            (&[0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39], &[]),
            (&[0x31, 0x16], &[]),
            (&[0x31, 0x32, 0x17], &[]),
        ] {
            assert_eq!(stack(operations), left, "{operations:x?}");
        }
        assert_eq!(value(&[], Some(7)), Some(7));
        assert_eq!(value(&[0x31, 0x1c], Some(7)), Some(6), "the first value is below");
        assert_eq!(value(&[], None), None);
    }

    #[test]
    fn values_are_computed() {
        let signed = |number: isize| [&[0x0f][..], &number.to_ne_bytes()].concat();
        for (number, operation, result) in
            [(-5, &[0x19][..], 5), (5, &[0x19], 5), (5, &[0x1f], -5), (5, &[0x20], -6), (-5, &[0x23, 0x80, 1], 123)]
        {
            let operations = [&signed(number), operation].concat();
            assert_eq!(stack(&operations), [negative(result)], "{number} {operation:x?}");
        }
        for (second, operation, top, result) in [
            (12, 0x1a, 10, Some(8)),
            (-7, 0x1b, 2, Some(-3)),
            (7, 0x1b, 0, None),
            (5, 0x1c, 7, Some(-2)),
            (7, 0x1d, 4, Some(3)),
            (-1, 0x1d, 10, Some(5)),
            (7, 0x1d, 0, None),
            (6, 0x1e, -7, Some(-42)),
            (12, 0x21, 10, Some(14)),
            (12, 0x22, -10, Some(2)),
            (3, 0x24, 4, Some(48)),
            (3, 0x24, 63, Some(isize::MIN)),
            (3, 0x24, 64, Some(0)),
            (3, 0x24, -1, Some(0)),
            (0xf0, 0x25, 4, Some(15)),
            (-1, 0x25, 63, Some(1)),
            (-1, 0x25, 64, Some(0)),
            (-16, 0x26, 3, Some(-2)),
            (-16, 0x26, 64, Some(-1)),
            (16, 0x26, 64, Some(0)),
            (12, 0x27, 10, Some(6)),
            (12, 0x27, 12, Some(0)),
            (12, 0x18, 10, None),
        ] {
            let operations = [&signed(second)[..], &signed(top), &[operation]].concat();
            let expected: Vec<_> = result.map(negative).into_iter().collect();
            assert_eq!(stack(&operations), expected, "{second} {operation:x} {top}");
        }
        // Equal, at least, more, at most, less, different.
        for (second, top, results) in [
            (2, 2, [1, 1, 0, 1, 0, 0]),
            (1, 2, [0, 0, 0, 1, 1, 1]),
            (2, 1, [0, 1, 1, 0, 0, 1]),
            (-1, 1, [0, 0, 0, 1, 1, 1]),
        ] {
            let compare = |operation: u8| value(&[&signed(second)[..], &signed(top), &[operation]].concat(), None);
            let found = [0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e].map(|operation| compare(operation).unwrap());
            assert_eq!(found, results, "{second} {top}");
        }
    }

    #[test]
    fn branches_go_to_operations_of_the_expression() {
        for (operations, left) in [
            (&[0x31, 0x2f, 1, 0, 0x32, 0x33][..], &[3, 1][..]),
            (&[0x30, 0x28, 1, 0, 0x32, 0x33], &[3, 2]),
            (&[0x32, 0x28, 1, 0, 0x32, 0x33], &[3]),
            (&[0x31, 0x2f, 0, 0], &[1]),
            (&[0x31, 0x2f, 1, 0], &[]),
            (&[0x28, 0, 0], &[]),
            // Counts from 3 down to 0.
            (&[0x33, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff], &[0]),
            (&[0x31, 0x2f, 0xfd, 0xff], &[]),
            (&[0x31, 0x2f, 0xfc, 0xff], &[]),
            (&[0x31, 0x2f, 0xfb, 0xff], &[]),
        ] {
            assert_eq!(stack(operations), left, "{operations:x?}");
        }
    }
}
