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
