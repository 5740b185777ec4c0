//! Room at the entries of functions, as compilers make it with `-fpatchable-function-entry=4,2` or `=2`: nops in the
//! function, behind a `bti c`, and perhaps nops before the function.
//!
//! The first nop in the function is its *gate*. To count the calls, the gate becomes a branch to the function's
//! *thunk*. The thunk keeps x30 in x9, calls the code that counts, and branches behind the gate. Processors may execute
//! a nop while it becomes a branch, and the reverse; x9 to x15 are free at an entry.

use core::arch::asm;

/// The bytes of a record that [`Room::of`] looks at.
pub(crate) const ROOM_SIZE: usize = 16;
/// The size of a thunk.
pub(crate) const THUNK_SIZE: usize = 16;
/// The size of what is before the thunks of an object: code that branches to the code that counts, and its address.
pub(crate) const ISLAND_SIZE: usize = 16;
/// How far the thunks may be from a function.
pub(crate) const REACH: usize = (1 << 27) - (1 << 22);
/// The size of an instruction.
const WORD: usize = 4;
const NOP: u32 = 0xd503_201f;
const BTI_C: u32 = 0xd503_245f;
const BRANCH: u32 = 0x1400_0000;
const BRANCH_WITH_LINK: u32 = 0x9400_0000;
/// `mov x9, x30`.
const KEEP_LINK: u32 = 0xaa1e_03e9;
/// The bits of a branch that are not its distance.
const BRANCH_OPCODE: u32 = 0xfc00_0000;
/// The distances from a record to the first address of its function: behind two nops, at the nops, or before a `bti c`
/// that is before the nops.
pub(crate) const LABELS: &[usize] = &[2 * WORD, 0, WORD.wrapping_neg()];

/// Whether the unwind tables are asked where functions start, because room in functions looks like room before them.
pub(crate) const TELLS_ROOM_BY_TABLES: bool = false;

/// The room of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The distance of the gate from the record.
    gate: u8,
}

/// Bytes to write at a distance from a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) distance: usize,
    pub(crate) bytes: [u8; WORD],
    pub(crate) length: usize,
}

/// The changes by which the counting of a function's calls begins, and those by which it ends.
pub(crate) const STEPS_ON: usize = 1;
pub(crate) const STEPS_OFF: usize = 1;

impl Room {
    /// No room yet.
    pub(crate) const NONE: Room = Room { gate: 0 };

    /// The room at a record, if the code there is room of the expected form.
    pub(crate) fn of(code: &[u8; ROOM_SIZE]) -> Option<Room> {
        let word = |index: usize| {
            let bytes = code.get(index * WORD..)?.first_chunk()?;
            Some(u32::from_le_bytes(*bytes))
        };
        let gate = match [word(0)?, word(1)?, word(2)?, word(3)?] {
            // Nops before the function and in the function; or more nops in the function, of which any can be the gate.
            [NOP, NOP, BTI_C, NOP] => 3 * WORD,
            [NOP, NOP, NOP, _] => 2 * WORD,
            [NOP, _, _, _] => 0,
            _ => return None,
        };
        Some(Room { gate: gate as u8 })
    }

    /// The address behind the gate of the room at `record`.
    pub(crate) fn body(self, record: usize) -> usize {
        self.gate(record).wrapping_add(WORD)
    }

    fn gate(self, record: usize) -> usize {
        record.wrapping_add(usize::from(self.gate))
    }

    /// The change by which counting begins, for the room at `record`; `None` if the thunk is too far away.
    pub(crate) fn on(self, _: usize, record: usize, thunk: usize) -> Option<Change> {
        Some(self.change(branch(BRANCH, self.gate(record), thunk)?))
    }

    /// The change by which counting ends.
    pub(crate) fn off(self, _: usize) -> Change {
        self.change(NOP)
    }

    fn change(self, instruction: u32) -> Change {
        Change { distance: usize::from(self.gate), bytes: instruction.to_le_bytes(), length: WORD }
    }
}

/// A branch at `from`; `None` if the target is too far away.
fn branch(opcode: u32, from: usize, to: usize) -> Option<u32> {
    const FARTHEST: isize = 1 << 27;
    let distance = to.wrapping_sub(from).cast_signed();
    (-FARTHEST..FARTHEST).contains(&distance).then_some(opcode | (distance >> 2) as u32 & !BRANCH_OPCODE)
}

/// What is before the thunks of an object: `ldr x16, #8`, `br x16`, and the address of the code that counts.
pub(crate) fn island(counter: usize) -> [u8; ISLAND_SIZE] {
    const LOAD: u32 = 0x5800_0050;
    const BRANCH_TO_X16: u32 = 0xd61f_0200;
    let code = [LOAD.to_le_bytes(), BRANCH_TO_X16.to_le_bytes()];
    let mut bytes = [0; ISLAND_SIZE];
    let parts = code.as_flattened().iter().copied().chain(counter.to_le_bytes());
    bytes.iter_mut().zip(parts).for_each(|(place, byte)| *place = byte);
    bytes
}

/// The thunk at `thunk`: a call of the code that counts by way of `island`, and a branch to `body`.
pub(crate) fn thunk(thunk: usize, island: usize, _: usize, body: usize) -> Option<[u8; THUNK_SIZE]> {
    let call = branch(BRANCH_WITH_LINK, thunk.wrapping_add(WORD), island)?;
    let leave = branch(BRANCH, thunk.wrapping_add(2 * WORD), body)?;
    const TRAP: u32 = 0xd420_0000;
    let mut bytes = [0; THUNK_SIZE];
    let code = [KEEP_LINK, call, leave, TRAP].map(u32::to_le_bytes);
    bytes.iter_mut().zip(code.as_flattened()).for_each(|(place, byte)| *place = *byte);
    Some(bytes)
}

/// The target of the branch at `pc`, if the eight bytes `code` there begin with the branch of a gate or of a thunk.
pub(crate) fn target_of_jump(pc: usize, code: u64) -> Option<usize> {
    let code = code as u32;
    // The distance is signed and counts instructions.
    let distance = (code << 6).cast_signed() >> 4;
    (code & BRANCH_OPCODE == BRANCH).then(|| pc.wrapping_add_signed(distance as isize))
}

/// The code of the instruction at `pc`, for [`target_of_jump`].
///
/// # Safety
///
/// The instruction at `pc` must be there, and readable.
pub(crate) unsafe fn jump_at(pc: usize) -> Option<u64> {
    // SAFETY: the caller's promise.
    Some(u64::from(unsafe { core::ptr::with_exposed_provenance::<u32>(pc & !(WORD - 1)).read() }))
}

/// Makes changed code visible to the processors.
pub(crate) fn make_visible(address: usize, length: usize) {
    /// No cache has shorter lines.
    const LINE: usize = 16;
    let lines = || (address & !(LINE - 1)..address + length).step_by(LINE);
    for line in lines() {
        // SAFETY: changes no memory.
        unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) };
    }
    // SAFETY: as above.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    for line in lines() {
        // SAFETY: as above.
        unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) };
    }
    // SAFETY: as above.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}

/// The distance of the branch to the function in its thunk.
pub(crate) const JUMP_IN_THUNK: usize = 2 * WORD;

/// The unwind rule in a thunk, as instructions of `.eh_frame`: nothing is on the stack, and the return address is in
/// x30.
pub(crate) const THUNK_RULE: [u8; 8] = {
    const DEF_CFA: u8 = 0x0c;
    const STACK_POINTER: u8 = 31;
    [DEF_CFA, STACK_POINTER, 0, 0, 0, 0, 0, 0]
};
pub(crate) const RETURN_ADDRESS_COLUMN: u8 = 30;
pub(crate) const DATA_ALIGNMENT: u8 = 0x78; // -8

#[cfg(test)]
mod tests {
    use super::*;

    fn code(words: [u32; 4]) -> [u8; ROOM_SIZE] {
        words.map(u32::to_le_bytes).as_flattened().try_into().unwrap()
    }

    #[test]
    fn room_of_compilers_is_known_and_nothing_else() {
        const OTHER: u32 = 0xa9be_7bfd;
        assert_eq!(Room::of(&code([NOP, NOP, BTI_C, NOP])), Some(Room { gate: 12 }));
        assert_eq!(Room::of(&code([NOP, NOP, NOP, NOP])), Some(Room { gate: 8 }));
        assert_eq!(Room::of(&code([NOP, NOP, OTHER, OTHER])), Some(Room { gate: 0 }));
        assert_eq!(Room::of(&code([OTHER, NOP, NOP, NOP])), None);
    }

    #[test]
    fn the_gate_leads_to_the_thunk_and_back() {
        let room = Room::of(&code([NOP, NOP, BTI_C, NOP])).unwrap();
        let (record, at, island_at) = (0x40_1000, 0x30_0010, 0x30_0000);
        let change = room.on(0, record, at).unwrap();
        let instruction = u32::from_le_bytes(change.bytes);
        let distance = ((instruction << 6) as i32 >> 4) as isize;
        assert_eq!((change.distance, (record + 12).wrapping_add_signed(distance)), (12, at));
        assert_eq!(u32::from_le_bytes(room.off(0).bytes), NOP);
        let code = thunk(at, island_at, 0, room.body(record)).unwrap();
        let word = |index: usize| u32::from_le_bytes(code[index * 4..][..4].try_into().unwrap());
        assert_eq!([word(0), word(1), word(2)], [0xaa1e_03e9, 0x97ff_fffb, 0x1404_03fd + 3]);
        assert_eq!(thunk(0x7000_0000_0000, 0x7000_0000_0100, 0, 0x40_1000), None);
    }
}
