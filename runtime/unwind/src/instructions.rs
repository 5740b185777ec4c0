//! Runs the instructions of an entry up to a program counter. The result is the rule there.

use core::marker::PhantomData;

use super::architecture::Architecture;
use super::bytes::Cursor;
use super::entry::{Common, Entry};
use super::rule::{Cfa, Place, Rule, Stored};

/// The number of rules that can be remembered at once. Compilers nest at most two.
const REMEMBERED: usize = 3;

/// The rule before the first instruction.
const START: Rule = Rule {
    cfa: Cfa::Register(u8::MAX, 0),
    return_address: Stored::SAME,
    frame_pointer: Stored::SAME,
    base: Stored::SAME,
    stack_pointer: Stored::SAME,
};

struct Run<'e, 'a, A> {
    common: &'e Common<'a>,
    /// The address of the section.
    section: usize,
    rule: Rule,
    /// The rule after the common instructions.
    initial: Option<Rule>,
    /// The remembered rules. They are not in this structure, because compilers copy a long array into a new structure
    /// by a call of memcpy.
    remembered: &'e mut [Rule; REMEMBERED],
    depth: usize,
    /// The address that the next rule is for.
    location: usize,
    pc: usize,
    architecture: PhantomData<A>,
}

/// The rule at `pc`, which is an address of the entry's function. `None` for instructions that are wrong or that this
/// evaluator does not know.
#[inline(never)]
pub(super) fn rule_at<A: Architecture>(entry: &Entry<'_>, section: usize, pc: usize) -> Option<Rule> {
    let mut remembered = [START; REMEMBERED];
    let mut run = Run::<A> {
        common: &entry.common,
        section,
        rule: START,
        initial: None,
        remembered: &mut remembered,
        depth: 0,
        location: entry.start,
        pc,
        architecture: PhantomData,
    };
    run.all(entry.common.program)?;
    if run.location != entry.start {
        return None;
    }
    run.initial = Some(run.rule);
    run.all(entry.program)?;
    Some(run.rule)
}

impl<A: Architecture> Run<'_, '_, A> {
    /// Runs instructions as long as they are for addresses up to `pc`.
    fn all(&mut self, mut cursor: Cursor<'_>) -> Option<()> {
        while !cursor.is_at_end() {
            let byte = cursor.u8()?;
            let low = byte & 0x3f;
            match byte >> 6 {
                1 => self.advance(low.into())?,
                2 => {
                    let offset = self.factored(cursor.uleb()? as i64)?;
                    self.set(low.into(), Place::Stack(offset))?;
                }
                3 => self.restore(low.into())?,
                _ if (0x01..=0x04).contains(&low) => self.advance_far(low, &mut cursor)?,
                _ if (0x0c..=0x0f).contains(&low) || low == 0x12 || low == 0x13 => self.set_cfa(low, &mut cursor)?,
                _ => self.set_place(low, &mut cursor)?,
            }
            if self.location > self.pc {
                break;
            }
        }
        Some(())
    }

    /// Moves to a later address. The addresses of a function only grow.
    fn advance(&mut self, units: usize) -> Option<()> {
        self.location = self.location.checked_add(units.checked_mul(self.common.code_alignment)?)?;
        Some(())
    }

    fn advance_far(&mut self, operation: u8, cursor: &mut Cursor<'_>) -> Option<()> {
        match operation {
            // DW_CFA_set_loc, DW_CFA_advance_loc1, DW_CFA_advance_loc2, DW_CFA_advance_loc4
            0x01 => {
                self.location = cursor.pointer(self.common.encoding, 0).filter(|to| *to >= self.location)?;
                Some(())
            }
            0x02 => self.advance(cursor.u8()?.into()),
            0x03 => self.advance(cursor.u16()?.into()),
            _ => self.advance(cursor.u32()? as usize),
        }
    }

    /// An offset in units of the entry's data alignment.
    fn factored(&self, units: i64) -> Option<i32> {
        units.checked_mul(self.common.data_alignment)?.try_into().ok()
    }

    fn set_cfa(&mut self, operation: u8, cursor: &mut Cursor<'_>) -> Option<()> {
        let register = |cursor: &mut Cursor<'_>| u8::try_from(cursor.uleb()?).ok();
        self.rule.cfa = match (operation, self.rule.cfa) {
            // DW_CFA_def_cfa, DW_CFA_def_cfa_sf
            (0x0c, _) => Cfa::Register(register(cursor)?, i32::try_from(cursor.uleb()?).ok()?),
            (0x12, _) => Cfa::Register(register(cursor)?, self.factored(cursor.sleb()?)?),
            // DW_CFA_def_cfa_register
            (0x0d, Cfa::Register(_, offset)) => Cfa::Register(register(cursor)?, offset),
            // DW_CFA_def_cfa_offset, DW_CFA_def_cfa_offset_sf
            (0x0e, Cfa::Register(register, _)) => Cfa::Register(register, i32::try_from(cursor.uleb()?).ok()?),
            (0x13, Cfa::Register(register, _)) => Cfa::Register(register, self.factored(cursor.sleb()?)?),
            // DW_CFA_def_cfa_expression
            (0x0f, _) => Cfa::Expression(self.expression(cursor)?),
            _ => return None,
        };
        Some(())
    }

    fn set_place(&mut self, operation: u8, cursor: &mut Cursor<'_>) -> Option<()> {
        match operation {
            // DW_CFA_nop
            0x00 => return Some(()),
            // The walk removes the authentication of all return addresses.
            _ if A::AUTHENTICATION.contains(&operation) => return Some(()),
            // DW_CFA_remember_state, DW_CFA_restore_state
            0x0a => {
                *self.remembered.get_mut(self.depth)? = self.rule;
                self.depth += 1;
                return Some(());
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1)?;
                self.rule = *self.remembered.get(self.depth)?;
                return Some(());
            }
            // DW_CFA_GNU_args_size
            0x2e => return cursor.uleb().map(drop),
            _ => {}
        }
        let register = cursor.uleb()?;
        let place = match operation {
            // DW_CFA_offset_extended, DW_CFA_offset_extended_sf, DW_CFA_GNU_negative_offset_extended
            0x05 => Place::Stack(self.factored(cursor.uleb()? as i64)?),
            0x11 => Place::Stack(self.factored(cursor.sleb()?)?),
            0x2f => Place::Stack(self.factored((cursor.uleb()? as i64).checked_neg()?)?),
            // DW_CFA_restore_extended
            0x06 => return self.restore(register),
            // DW_CFA_undefined, DW_CFA_same_value, DW_CFA_register
            0x07 => Place::Undefined,
            0x08 => Place::Same,
            0x09 => Place::Register(u8::try_from(cursor.uleb()?).ok()?),
            // DW_CFA_expression, DW_CFA_val_expression
            0x10 => Place::Expression(self.expression(cursor)?),
            0x16 => Place::ValueExpression(self.expression(cursor)?),
            // DW_CFA_val_offset, DW_CFA_val_offset_sf
            0x14 => Place::Value(self.factored(cursor.uleb()? as i64)?),
            0x15 => Place::Value(self.factored(cursor.sleb()?)?),
            _ => return None,
        };
        self.set(register, place)
    }

    /// The place of a register in a rule, if a walk follows the register.
    fn stored(return_address: u64, rule: &mut Rule, register: u64) -> Option<&mut Stored> {
        if register == return_address {
            Some(&mut rule.return_address)
        } else if register == u64::from(A::FRAME_POINTER) {
            Some(&mut rule.frame_pointer)
        } else if register == u64::from(A::BASE) {
            Some(&mut rule.base)
        } else if register == u64::from(A::STACK_POINTER) {
            Some(&mut rule.stack_pointer)
        } else {
            None
        }
    }

    fn set(&mut self, register: u64, place: Place) -> Option<()> {
        if let Some(stored) = Self::stored(self.common.return_address, &mut self.rule, register) {
            *stored = Stored::of(place)?;
        }
        Some(())
    }

    /// Goes back to the place that the common instructions gave a register.
    fn restore(&mut self, register: u64) -> Option<()> {
        let mut initial = self.initial?;
        let place = Self::stored(self.common.return_address, &mut initial, register).map(|stored| *stored);
        if let Some(stored) = Self::stored(self.common.return_address, &mut self.rule, register) {
            *stored = place?;
        }
        Some(())
    }

    /// The offset of an expression, which the cursor passes.
    fn expression(&self, cursor: &mut Cursor<'_>) -> Option<u32> {
        let offset = u32::try_from(cursor.address().wrapping_sub(self.section)).ok()?;
        let length = cursor.uleb()?;
        cursor.skip(usize::try_from(length).ok()?)?;
        Some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CODE, OTHER, TABLES, section};
    use super::super::{AArch64, Object, Section, X86_64};
    use super::*;

    /// What each function has in common: the CFA is rsp + 8, and the return address is below.
    const COMMON: &[u8] = &[0x0c, 7, 8, 0x90, 1];
    const BEHIND: u8 = 0xf0;

    /// The rule at an offset of a function with these instructions, and the section.
    fn rule(common: &[u8], instructions: &[u8], offset: usize) -> (Option<Rule>, Vec<u8>) {
        let bytes = section(common, 16, &[instructions]);
        let object = Object::new(CODE..OTHER, Section { address: TABLES, bytes: &bytes }, Some(0));
        let rule = object.rule::<X86_64>(CODE + offset).map(|found| found.rule);
        (rule, bytes)
    }

    fn at(instructions: &[u8], offset: usize) -> Option<Rule> {
        rule(COMMON, instructions, offset).0
    }

    fn usual() -> Rule {
        Rule { cfa: Cfa::Register(7, 8), return_address: Stored::of(Place::Stack(-8)).unwrap(), ..START }
    }

    fn with_cfa(offset: i32) -> Option<Rule> {
        Some(Rule { cfa: Cfa::Register(7, offset), ..usual() })
    }

    fn with_frame_pointer(place: Place) -> Option<Rule> {
        Some(Rule { frame_pointer: Stored::of(place).unwrap(), ..usual() })
    }

    #[test]
    fn rules_change_at_the_address_to_which_instructions_advance() {
        let [low, high, ..] = (CODE + usize::from(BEHIND)).to_le_bytes();
        for advance in [
            &[0x01, low, high, 1, 0][..],
            &[0x02, BEHIND],
            &[0x03, BEHIND, 0],
            &[0x04, BEHIND, 0, 0, 0],
            &[0x7f, 0x7f, 0x7f, 0x73],
        ] {
            let instructions = [advance, &[0x0e, 16]].concat();
            let found = [0, 1].map(|more| at(&instructions, usize::from(BEHIND) - 1 + more));
            assert_eq!(found, [with_cfa(8), with_cfa(16)], "{advance:x?}");
        }
        assert_eq!(at(&[0x48, 0x01, 4, 0, 1, 0, 0x0e, 16], 0x20), None, "back");
        assert_eq!(at(&[0x48, 0x01, 8, 0, 1, 0, 0x0e, 16], 0x20), with_cfa(16), "to where it is");
        assert_eq!(rule(&[0x41, 0x0c, 7, 8], &[], 0x20).0, None, "before the function");
    }

    #[test]
    fn instructions_say_where_the_cfa_is() {
        for (instructions, expected) in [
            (&[0x0c, 7, 0x80, 1][..], with_cfa(128)),
            (&[0x0e, 16], with_cfa(16)),
            (&[0x12, 7, 0x7e], with_cfa(16)),
            (&[0x13, 0x7e], with_cfa(16)),
            (&[0x0d, 6], Some(Rule { cfa: Cfa::Register(6, 8), ..usual() })),
            (&[0x2e, 16, 0x0e, 24], with_cfa(24)),
            (&[0x00, 0x0e, 24], with_cfa(24)),
            (&[0x0f, 1, 0x30, 0x0e, 24], None),
            (&[0x0f, 1, 0x30, 0x0d, 7], None),
            (&[0x3f, 0], None),
            (&[0x0e], None),
        ] {
            assert_eq!(at(instructions, 0), expected, "{instructions:x?}");
        }
    }

    #[test]
    fn only_the_processor_of_an_instruction_knows_it() {
        let bytes = section(COMMON, 16, &[&[0x2c, 0x2d, 0x0e, 24]]);
        let object = Object::new(CODE..OTHER, Section { address: TABLES, bytes: &bytes }, Some(0));
        let rules = [object.rule::<AArch64>(CODE), object.rule::<X86_64>(CODE)];
        assert_eq!(rules.map(|found| found.map(|found| found.rule)), [with_cfa(24), None]);
    }

    #[test]
    fn instructions_say_where_registers_are() {
        for (instructions, place) in [
            (&[0x86, 2][..], Place::Stack(-16)),
            (&[0x05, 6, 2], Place::Stack(-16)),
            (&[0x11, 6, 0x7e], Place::Stack(16)),
            (&[0x2f, 6, 2], Place::Stack(16)),
            (&[0x07, 6], Place::Undefined),
            (&[0x07, 6, 0x08, 6], Place::Same),
            (&[0x09, 6, 12], Place::Register(12)),
            (&[0x14, 6, 2], Place::Value(-16)),
            (&[0x15, 6, 0x7e], Place::Value(16)),
            (&[0x8c, 2, 0x07, 12], Place::Same),
        ] {
            assert_eq!(at(instructions, 0), with_frame_pointer(place), "{instructions:x?}");
        }
        let stored = Stored::of(Place::Stack(-24)).unwrap();
        assert_eq!(at(&[0x83, 3], 0), Some(Rule { base: stored, ..usual() }));
        assert_eq!(at(&[0x87, 3], 0), Some(Rule { stack_pointer: stored, ..usual() }));
        assert_eq!(at(&[0x90, 3], 0), Some(Rule { return_address: stored, ..usual() }));
        for (operation, place) in [(0x10, Place::Expression as fn(u32) -> Place), (0x16, Place::ValueExpression)] {
            let (found, bytes) = rule(COMMON, &[operation, 6, 3, 0x77, 0x78, 0x06], 0);
            let offset = bytes.windows(4).position(|bytes| bytes == [3, 0x77, 0x78, 0x06]).unwrap() as u32;
            assert_eq!(found, with_frame_pointer(place(offset)));
        }
        assert_eq!(at(&[0x10, 6, 9, 0x77], 0), None, "an expression that is cut");
    }

    #[test]
    fn places_and_rules_are_restored() {
        let common = [COMMON, &[0x86, 2]].concat();
        let first = with_frame_pointer(Place::Stack(-16));
        for restore in [&[0xc6][..], &[0x06, 6]] {
            let instructions = [&[0x86, 5, 0x41][..], restore, &[0xcc]].concat();
            let found = [0, 1].map(|offset| rule(&common, &instructions, offset).0);
            assert_eq!(found, [with_frame_pointer(Place::Stack(-40)), first], "{restore:x?}");
        }
        assert_eq!(at(&[0x90, 3, 0xd0], 0), Some(usual()));
        assert_eq!(rule(&[0x0c, 7, 8, 0xc6], &[], 0).0, None, "there is nothing to restore yet");
        let nested = [0x0a, 0x0e, 16, 0x0a, 0x0e, 32, 0x0a, 0x41, 0x0b, 0x41, 0x0b, 0x41, 0x0b];
        assert_eq!([0, 1, 2, 3].map(|offset| at(&nested, offset)), [32, 32, 16, 8].map(with_cfa));
        assert_eq!(at(&[0x0a, 0x0a, 0x0a, 0x0a], 0), None, "too many are remembered");
        assert_eq!(at(&[0x0b], 0), None, "none is remembered");
    }
}
