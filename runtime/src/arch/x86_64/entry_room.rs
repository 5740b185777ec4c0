//! Room at the entries of functions, as compilers make it with `-fpatchable-function-entry=7,5`: five bytes of nops
//! before the function, and two in the function, behind an endbr64.
//!
//! The two bytes in the function are its *gate*. To count the calls, the gate becomes a jump to the five bytes, which
//! are a jump to the function's *thunk*. The thunk calls the code that counts, and jumps behind the gate.
//!
//! Other threads may call the function at any moment. gcc makes a gate of two nops, between which a thread may stand.
//! So the second byte of the gate becomes an instruction that only changes flags, which are free at an entry, and this
//! byte is the distance of the jump as well. The first byte follows when all processors have executed the second.

/// The bytes of a record that [`Room::of`] looks at.
pub(crate) const ROOM_SIZE: usize = 11;
/// The size of a thunk.
pub(crate) const THUNK_SIZE: usize = 16;
/// The size of what is before the thunks of an object: the address of the code that counts.
pub(crate) const ISLAND_SIZE: usize = 16;
/// How far the thunks may be from a function.
pub(crate) const REACH: usize = (1 << 31) - (1 << 24);
/// The length of a jump.
const JUMP: usize = 5;
/// The opcode of a jump.
const JUMP_OPCODE: u8 = 0xe9;
const NOP: u8 = 0x90;
/// The prefix of the nop of two bytes, which clang makes.
const NOP_PREFIX: u8 = 0x66;
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
const SHORT_JUMP: u8 = 0xeb;
/// The distance from a record to the first address of its function.
pub(crate) const LABELS: &[usize] = &[JUMP];

/// Whether the unwind tables are asked where functions start, because room in functions looks like room before them.
pub(crate) const TELLS_ROOM_BY_TABLES: bool = true;

/// The room of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// The distance of the gate from the record.
    gate: u8,
    /// The first byte of the gate while calls are not counted.
    first: u8,
}

/// Bytes to write at a distance from a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) distance: usize,
    pub(crate) bytes: [u8; JUMP],
    pub(crate) length: usize,
}

/// The changes by which the counting of a function's calls begins, and those by which it ends. Before each change but
/// the first, all processors must execute the change before.
pub(crate) const STEPS_ON: usize = 3;
pub(crate) const STEPS_OFF: usize = 2;

impl Room {
    /// No room yet.
    pub(crate) const NONE: Room = Room { gate: 0, first: 0 };

    /// The room at a record, if the code there is room of the expected form.
    pub(crate) fn of(code: &[u8; ROOM_SIZE]) -> Option<Room> {
        let (before, function) = code.split_at_checked(JUMP)?;
        let skipped = if function.starts_with(&ENDBR64) { ENDBR64.len() } else { 0 };
        match *function.get(skipped..)? {
            [first @ (NOP | NOP_PREFIX), NOP, ..] if before.iter().all(|byte| *byte == NOP) => {
                Some(Room { gate: (JUMP + skipped) as u8, first })
            }
            _ => None,
        }
    }

    /// The address behind the gate of the room at `record`.
    pub(crate) fn body(self, record: usize) -> usize {
        record.wrapping_add(usize::from(self.gate)).wrapping_add(2)
    }

    /// A change by which counting begins, for the room at `record`; `None` if the thunk is too far away.
    pub(crate) fn on(self, step: usize, record: usize, thunk: usize) -> Option<Change> {
        let gate = usize::from(self.gate);
        // From the address behind the gate back to the record.
        let distance = (gate as u8).wrapping_add(2).wrapping_neg();
        Some(match step {
            0 => Change { distance: 0, bytes: jump(record, thunk)?, length: JUMP },
            1 => Change::of_byte(gate + 1, distance),
            _ => Change::of_byte(gate, SHORT_JUMP),
        })
    }

    /// A change by which counting ends.
    pub(crate) fn off(self, step: usize) -> Change {
        let gate = usize::from(self.gate);
        if step == 0 { Change::of_byte(gate, self.first) } else { Change::of_byte(gate + 1, NOP) }
    }
}

impl Change {
    fn of_byte(distance: usize, byte: u8) -> Change {
        Change { distance, bytes: [byte, 0, 0, 0, 0], length: 1 }
    }
}

/// A jump at `from`; `None` if the target is too far away.
fn jump(from: usize, to: usize) -> Option<[u8; JUMP]> {
    let [a, b, c, d] = distance(from.wrapping_add(JUMP), to)?;
    Some([JUMP_OPCODE, a, b, c, d])
}

/// The distance from the address behind an instruction to its target.
fn distance(behind: usize, to: usize) -> Option<[u8; 4]> {
    i32::try_from(to.wrapping_sub(behind).cast_signed()).ok().map(i32::to_le_bytes)
}

/// What is before the thunks of an object, at any address: the address of the code that counts.
pub(crate) fn island(counter: usize) -> [u8; ISLAND_SIZE] {
    let mut bytes = [0; ISLAND_SIZE];
    bytes.iter_mut().zip(counter.to_le_bytes()).for_each(|(place, byte)| *place = byte);
    bytes
}

/// The thunk at `thunk`: a call of the code at `counter`, whose address is at `island` too, and a jump to `body`. All
/// registers keep their values: compilers may use any register across the call of a function that they know.
pub(crate) fn thunk(thunk: usize, island: usize, counter: usize, body: usize) -> Option<[u8; THUNK_SIZE]> {
    /// A prefix without effect gives both calls the same length.
    const CALL: [u8; 2] = [0x67, 0xe8];
    const CALL_OF_ADDRESS: [u8; 2] = [0xff, 0x15];
    const TRAP: u8 = 0xcc;
    let behind = thunk.wrapping_add(JUMP_IN_THUNK);
    let (call, target) = match distance(behind, counter) {
        Some(distance) => (CALL, distance),
        None => (CALL_OF_ADDRESS, distance(behind, island)?),
    };
    let mut code = [TRAP; THUNK_SIZE];
    let parts: [&[u8]; 3] = [&call, &target, &jump(behind, body)?];
    code.iter_mut().zip(parts.into_iter().flatten()).for_each(|(place, byte)| *place = *byte);
    Some(code)
}

/// The target of the jump at `pc`, if the eight bytes `code` there begin with the jump from a record to a thunk, or
/// from a thunk to a function.
pub(crate) fn target_of_jump(pc: usize, code: u64) -> Option<usize> {
    let [opcode, a, b, c, d, ..] = code.to_le_bytes();
    let distance = i32::from_le_bytes([a, b, c, d]);
    (opcode == JUMP_OPCODE).then(|| pc.wrapping_add(JUMP).wrapping_add_signed(distance as isize))
}

/// The code of the jump at `pc`, for [`target_of_jump`]; `None` if the code is no such jump.
///
/// # Safety
///
/// The instruction at `pc` must be there, and readable.
pub(crate) unsafe fn jump_at(pc: usize) -> Option<u64> {
    let code: *const u8 = core::ptr::with_exposed_provenance(pc);
    // SAFETY: the caller's promise. A jump has four more bytes.
    unsafe {
        let distance = || u64::from(code.add(1).cast::<u32>().read_unaligned());
        (code.read() == JUMP_OPCODE).then(|| distance() << 8 | u64::from(JUMP_OPCODE))
    }
}

/// Makes changed code visible to the processors, which do that by themselves.
pub(crate) fn make_visible(_: usize, _: usize) {}

/// The distance of the jump to the function in its thunk.
pub(crate) const JUMP_IN_THUNK: usize = 6;

/// The unwind rule in a thunk, as instructions of `.eh_frame`: the return address is at the top of the stack. The
/// second byte of the result is the column of the return address.
pub(crate) const THUNK_RULE: [u8; 8] = {
    const DEF_CFA: u8 = 0x0c;
    const STACK_POINTER: u8 = 7;
    const RETURN_ADDRESS: u8 = 16;
    const OFFSET: u8 = 0x80;
    [DEF_CFA, STACK_POINTER, 8, OFFSET | RETURN_ADDRESS, 1, 0, 0, 0]
};
pub(crate) const RETURN_ADDRESS_COLUMN: u8 = 16;
pub(crate) const DATA_ALIGNMENT: u8 = 0x78; // -8

#[cfg(test)]
mod tests {
    use super::*;

    const GCC: [u8; ROOM_SIZE] = [0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x55, 0x53, 0x50, 0x89];
    const CLANG: [u8; ROOM_SIZE] = [0x90, 0x90, 0x90, 0x90, 0x90, 0x66, 0x90, 0x55, 0x53, 0x50, 0x89];
    const GCC_ENDBR: [u8; ROOM_SIZE] = [0x90, 0x90, 0x90, 0x90, 0x90, 0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0x90];
    const CLANG_ENDBR: [u8; ROOM_SIZE] = [0x90, 0x90, 0x90, 0x90, 0x90, 0xf3, 0x0f, 0x1e, 0xfa, 0x66, 0x90];

    #[test]
    fn room_of_compilers_is_known_and_nothing_else() {
        assert_eq!(Room::of(&GCC), Some(Room { gate: 5, first: 0x90 }));
        assert_eq!(Room::of(&CLANG), Some(Room { gate: 5, first: 0x66 }));
        assert_eq!(Room::of(&GCC_ENDBR), Some(Room { gate: 9, first: 0x90 }));
        assert_eq!(Room::of(&CLANG_ENDBR), Some(Room { gate: 9, first: 0x66 }));
        for wrong in [0, 4, 6] {
            let mut code = GCC;
            code[wrong] = 0xcc;
            assert_eq!(Room::of(&code), None, "{wrong}");
        }
        let mut code = GCC;
        code[5] = 0x0f;
        assert_eq!(Room::of(&code), None);
    }

    #[test]
    fn the_gate_leads_to_the_thunk_and_back() {
        for (code, gate, back) in [(GCC, 5_usize, 0xf9), (GCC_ENDBR, 9, 0xf5), (CLANG, 5, 0xf9)] {
            let room = Room::of(&code).unwrap();
            let (record, thunk_at, island_at) = (0x40_1000, 0x30_0010, 0x30_0000);
            let mut changed = code;
            let mut apply = |change: Change| {
                changed[change.distance..][..change.length].copy_from_slice(&change.bytes[..change.length]);
            };
            for step in 0..STEPS_ON {
                apply(room.on(step, record, thunk_at).unwrap());
            }
            let gate_code = [changed[gate], changed[gate + 1]];
            assert_eq!(gate_code, [0xeb, back]);
            let target = record + gate + 2 - usize::from(back.wrapping_neg());
            assert_eq!(target, record, "the gate jumps to the record");
            let jump = i32::from_le_bytes(changed[1..5].try_into().unwrap());
            assert_eq!((changed[0], record.wrapping_add(5).wrapping_add_signed(jump as isize)), (0xe9, thunk_at));
            for step in 0..STEPS_OFF {
                let change = room.off(step);
                changed[change.distance..][..change.length].copy_from_slice(&change.bytes[..change.length]);
            }
            assert_eq!(changed[5..], code[5..], "the function is as before");
            let body = room.body(record);
            assert_eq!(body, record + gate + 2);
            let code = thunk(thunk_at, island_at, 0x7000_0000_0000, body).unwrap();
            let target = |code: &[u8], behind: usize| {
                let distance = i32::from_le_bytes(code[behind - 4..behind].try_into().unwrap());
                (thunk_at + behind).wrapping_add_signed(distance as isize)
            };
            assert_eq!((&code[..2], code[6]), (&[0xff, 0x15][..], 0xe9));
            assert_eq!([6, 11].map(|behind| target(&code, behind)), [island_at, body]);
            let near = thunk(thunk_at, island_at, 0x50_0000, body).unwrap();
            assert_eq!((&near[..2], target(&near, 6)), (&[0x67, 0xe8][..], 0x50_0000));
            let at_jump = u64::from_le_bytes(code[JUMP_IN_THUNK..][..8].try_into().unwrap());
            assert_eq!(target_of_jump(thunk_at + JUMP_IN_THUNK, at_jump), Some(record + gate + 2));
            assert_eq!(target_of_jump(record, 0x90), None);
        }
    }

    #[test]
    fn a_thunk_out_of_reach_is_refused() {
        let room = Room::of(&GCC).unwrap();
        assert!(room.on(0, 0x40_1000, 0x40_1000 + REACH).is_some());
        assert_eq!(room.on(0, 0x40_1000, 0x40_1000 + (1 << 32)), None);
        assert_eq!(thunk(0x7000_0000_0000, 0x7000_0000_0100, 0x40_1000, 0x40_1000), None);
    }
}
