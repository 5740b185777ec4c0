//! How to find the caller of a frame: the registers that a walk follows.

/// Where the canonical frame address (CFA) is: on x86-64 and AArch64, the value of the stack pointer in the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cfa {
    /// A register, by its DWARF number, plus a number of bytes.
    Register(u8, i32),
    /// The result of the expression whose length is at this offset of the section.
    Expression(u32),
}

/// Where the caller's value of a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the register itself.
    Same,
    /// Nowhere. An undefined return address marks the outermost frame.
    Undefined,
    /// In memory, this far from the CFA.
    Stack(i32),
    /// The value is the CFA plus a number of bytes.
    Value(i32),
    /// In another register.
    Register(u8),
    /// In memory, where the expression says whose length is at this offset of the section.
    Expression(u32),
    /// The value is the result of the expression whose length is at this offset of the section.
    ValueExpression(u32),
}

/// A place in 32 bits, because the stack on which handlers run is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored(u32);

/// The number of bits that name the kind of place.
const KIND_BITS: u32 = 3;

impl Stored {
    /// The place of a register that keeps its value.
    pub(super) const SAME: Stored = Stored(0);
    /// The place of a register without a value.
    pub(super) const UNDEFINED: Stored = Stored(1);

    /// `None` if a number is too large: tables of 512 MB, and frames of 256 MB.
    pub(super) fn of(place: Place) -> Option<Stored> {
        let (kind, number) = match place {
            Place::Same => (0, 0),
            Place::Undefined => (1, 0),
            Place::Stack(offset) => (2, offset),
            Place::Value(offset) => (3, offset),
            Place::Register(number) => (4, number.into()),
            Place::Expression(offset) => (5, offset.cast_signed()),
            Place::ValueExpression(offset) => (6, offset.cast_signed()),
        };
        let stored = Stored(number.cast_unsigned() << KIND_BITS | kind);
        (stored.place() == place).then_some(stored)
    }

    /// The place.
    #[must_use]
    pub fn place(self) -> Place {
        let (offset, number) = (self.0.cast_signed() >> KIND_BITS, self.0 >> KIND_BITS);
        match self.0 & ((1 << KIND_BITS) - 1) {
            0 => Place::Same,
            1 => Place::Undefined,
            2 => Place::Stack(offset),
            3 => Place::Value(offset),
            4 => Place::Register(number as u8),
            5 => Place::Expression(number),
            _ => Place::ValueExpression(number),
        }
    }
}

/// How to find the caller's registers, as far as a walk follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The CFA.
    pub cfa: Cfa,
    /// The return address.
    pub return_address: Stored,
    /// The caller's frame pointer.
    pub frame_pointer: Stored,
    /// The caller's base register: see [`BASE`](super::Architecture::BASE).
    pub base: Stored,
    /// The caller's stack pointer; `Same` if it is the CFA, as nearly always.
    pub stack_pointer: Stored,
}

/// The registers in which the CFA of a packed rule can be: the number that [`Rule::pack`] stores for each.
#[derive(Clone, Copy)]
pub(super) struct Packing {
    pub(super) registers: [u8; 3],
}

const CFA_BITS: u32 = 20;
const PLACE_BITS: u32 = 13;
/// Bit 0 is set, so a packed rule is not 0. Bits 1 and 2 name the CFA's register.
const CFA_SHIFT: u32 = 3;
const PLACES_SHIFT: u32 = CFA_SHIFT + CFA_BITS;
/// All packed offsets are multiples of a word.
const WORD: i32 = 8;
const SAME: u64 = 0;
const UNDEFINED: u64 = 1;

impl Rule {
    /// The rule of a frame without a caller.
    pub(super) const OUTERMOST: Rule = Rule {
        cfa: Cfa::Register(u8::MAX, 0),
        return_address: Stored::UNDEFINED,
        frame_pointer: Stored::SAME,
        base: Stored::SAME,
        stack_pointer: Stored::SAME,
    };

    /// Whether the return address is above the CFA, on the stack of the caller as the rule describes it. This is the
    /// rule of glibc's `_dl_runtime_resolve` on AArch64: the PLT has pushed two words, the second of them the return
    /// address, and the CFA is the stack pointer behind the push.
    pub(super) fn is_return_address_above(&self) -> bool {
        matches!(self.return_address.place(), Place::Stack(offset) if offset >= 0)
    }

    /// The rule in 64 bits, or `None` if it does not fit: expressions and very large frames, which are rare.
    pub(super) fn pack(&self, packing: Packing) -> Option<u64> {
        let Cfa::Register(register, offset) = self.cfa else {
            return None;
        };
        if self.stack_pointer != Stored::SAME {
            return None;
        }
        let number = packing.registers.iter().position(|known| *known == register)?;
        let words = u64::try_from(offset / WORD).ok().filter(|words| *words < 1 << CFA_BITS && offset % WORD == 0)?;
        let mut packed = 1 | (number as u64) << 1 | words << CFA_SHIFT;
        for (index, place) in [self.return_address, self.frame_pointer, self.base].into_iter().enumerate() {
            packed |= pack_place(place)? << (PLACES_SHIFT + index as u32 * PLACE_BITS);
        }
        Some(packed)
    }

    /// The rule that was packed.
    pub(super) fn unpack(packed: u64, packing: Packing) -> Option<Rule> {
        let register = packing.registers.get((packed >> 1 & 3) as usize)?;
        let words = (packed >> CFA_SHIFT & ((1 << CFA_BITS) - 1)) as i32;
        let place = |index: u32| unpack_place(packed >> (PLACES_SHIFT + index * PLACE_BITS) & ((1 << PLACE_BITS) - 1));
        Some(Rule {
            cfa: Cfa::Register(*register, words.wrapping_mul(WORD)),
            return_address: place(0)?,
            frame_pointer: place(1)?,
            base: place(2)?,
            stack_pointer: Stored::SAME,
        })
    }
}

/// Slots lie below the CFA. The slot at CFA - 8 is stored as 2.
fn pack_place(stored: Stored) -> Option<u64> {
    match stored.place() {
        Place::Same => Some(SAME),
        Place::Undefined => Some(UNDEFINED),
        Place::Stack(offset) if offset < 0 && offset % WORD == 0 => {
            let stored = u64::from(offset.unsigned_abs() / WORD.unsigned_abs()) + UNDEFINED;
            (stored < 1 << PLACE_BITS).then_some(stored)
        }
        _ => None,
    }
}

fn unpack_place(packed: u64) -> Option<Stored> {
    match packed {
        SAME => Some(Stored::SAME),
        UNDEFINED => Some(Stored::UNDEFINED),
        slot => Stored::of(Place::Stack((UNDEFINED as i32).wrapping_sub(slot as i32).wrapping_mul(WORD))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKING: Packing = Packing { registers: [7, 6, 3] };

    fn rule(register: u8, offset: i32, places: [Place; 3]) -> Rule {
        let [return_address, frame_pointer, base] = places.map(|place| Stored::of(place).unwrap());
        Rule { cfa: Cfa::Register(register, offset), return_address, frame_pointer, base, stack_pointer: Stored::SAME }
    }

    #[test]
    fn usual_rules_survive_packing() {
        for register in PACKING.registers {
            for offset in [0, 8, 16, 4096, 8 * ((1 << CFA_BITS) - 1)] {
                for place in [Place::Same, Place::Undefined, Place::Stack(-8), Place::Stack(-8 * 8190)] {
                    let rule = rule(register, offset, [Place::Stack(-16), place, place]);
                    let packed = rule.pack(PACKING).unwrap();
                    assert!(packed & 1 == 1);
                    assert_eq!(Rule::unpack(packed, PACKING), Some(rule));
                }
            }
        }
    }

    #[test]
    fn places_are_stored() {
        let numbers = [0, 1, -1, -8, (1 << 28) - 1, -(1 << 28)];
        let places = numbers.into_iter().flat_map(|number| [Place::Stack(number), Place::Value(number)]);
        let offsets = [0, 1, (1 << 29) - 1];
        let expressions = offsets.into_iter().flat_map(|at| [Place::Expression(at), Place::ValueExpression(at)]);
        let others = [Place::Same, Place::Undefined, Place::Register(0), Place::Register(255)];
        for place in places.chain(expressions).chain(others) {
            assert_eq!(Stored::of(place).map(Stored::place), Some(place));
        }
        for place in [Place::Stack(1 << 28), Place::Value(i32::MIN), Place::Expression(1 << 29)] {
            assert_eq!(Stored::of(place), None);
        }
    }

    #[test]
    fn other_rules_are_not_packed() {
        let same = [Place::Same; 3];
        for offset in [-8, 4, 8 << CFA_BITS, i32::MAX, i32::MIN] {
            assert_eq!(rule(7, offset, same).pack(PACKING), None);
        }
        assert_eq!(rule(10, 8, same).pack(PACKING), None);
        let places = [0, 8, -4, -8 * 8191, -(1 << 28)].map(Place::Stack);
        let others = [Place::Value(-8), Place::Register(6), Place::Expression(0), Place::ValueExpression(0)];
        for place in places.into_iter().chain(others) {
            assert_eq!(rule(7, 8, [place, Place::Same, Place::Same]).pack(PACKING), None, "{place:?}");
        }
    }
}
