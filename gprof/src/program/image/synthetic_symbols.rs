//! Makes symbols for functions without symbols: stubs for functions of other files, and functions that only the
//! unwind tables contain.

use std::collections::HashMap;
use std::io::Write;
use std::sync::OnceLock;

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, RunTimeEndian, UnwindSection};

use super::symbols::Symbol;

/// Storage for an image: synthetic names, the content of the separate debug file, and MiniDebugInfo.
#[derive(Debug, Default)]
pub struct ImageStorage {
    text: OnceLock<Vec<u8>>,
    pub(super) debug_file: OnceLock<Vec<u8>>,
    /// The decompressed MiniDebugInfo.
    pub(super) mini_debug_info: OnceLock<Vec<u8>>,
}

/// The suffix that the name of a stub adds to the name of its function.
pub(super) const STUB: &[u8] = gmon_demangle::PLT_SUFFIX;

/// The beginning of the name of a function that only the unwind tables contain.
const UNNAMED: &str = "func_0x";

/// Whether only the unwind tables contain this function of a stripped file. The dynamic symbols of such a file are
/// never static.
pub(super) fn is_guess(symbol: &Symbol<'_>) -> bool {
    symbol.is_static
}

/// Functions without symbols, in the order in which they are found.
#[derive(Debug, Default)]
pub(super) struct SyntheticSymbols {
    /// For each function its address, whether it is only a guess from the unwind tables, and the end of its name in
    /// `text`.
    functions: Vec<(u64, bool, usize)>,
    text: Vec<u8>,
}

impl SyntheticSymbols {
    /// Adds the stub through which a function of another file is called.
    pub(super) fn add_stub(&mut self, address: u64, name: &[u8]) {
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(STUB);
        self.functions.push((address, false, self.text.len()));
    }

    /// Adds the code of a function whose symbol is that of a descriptor.
    pub(super) fn add_code(&mut self, address: u64, name: &[u8]) {
        self.text.push(b'.');
        self.text.extend_from_slice(name);
        self.functions.push((address, false, self.text.len()));
    }

    /// Adds a function of the unwind tables by its name, if that is `known`.
    fn add_guess(&mut self, address: u64, known: Option<&str>) {
        // Writing to memory does not fail.
        let _ = match known {
            Some(name) => write!(self.text, "{name}"),
            None => write!(self.text, "{UNNAMED}{address:x}"),
        };
        self.functions.push((address, true, self.text.len()));
    }

    /// The symbols of all functions that were found. Their names go into `storage`, which must be empty.
    pub(super) fn into_symbols(self, storage: &ImageStorage) -> impl Iterator<Item = Symbol<'_>> {
        let text = storage.text.get_or_init(|| self.text);
        let mut start = 0;
        self.functions.into_iter().filter_map(move |(address, is_static, end)| {
            let name = text.get(start..end)?;
            start = end;
            Some(Symbol { address, name, is_static, is_func: true })
        })
    }

    /// Adds the functions in the unwind tables. `address` is the address of the section `bytes`; `known` has the
    /// addresses and names of some functions.
    pub(super) fn add_unwound(
        &mut self,
        (bytes, address): (&[u8], u64),
        endian: RunTimeEndian,
        address_size: u8,
        known: &[(u64, &str)],
    ) {
        let mut section = EhFrame::from(EndianSlice::new(bytes, endian));
        section.set_address_size(address_size);
        let bases = BaseAddresses::default().set_eh_frame(address);
        // Many functions share one common part, which is parsed once.
        let mut common = HashMap::new();
        let mut entries = section.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(function) = entry else {
                continue;
            };
            let function = function.parse(|section, bases, offset| {
                common.entry(offset.0).or_insert_with(|| section.cie_from_offset(bases, offset)).clone()
            });
            if let Ok(function) = function
                && function.initial_address() != 0
                && function.len() != 0
            {
                let start = function.initial_address();
                let name = known.iter().find(|(address, _)| *address == start).map(|(_, name)| *name);
                self.add_guess(start, name);
            }
        }
    }
}

/// A section of stubs.
pub(super) struct Stubs<'data> {
    pub(super) address: u64,
    pub(super) bytes: &'data [u8],
    /// The size of a stub in bytes.
    pub(super) size: u64,
}

impl Stubs<'_> {
    /// The stubs of an x86 file. Each jumps through a word of memory; `slot` has the function for the address of the
    /// word.
    pub(super) fn by_jumps(&self, is_wide: bool, slot: impl Fn(u64) -> Option<usize>) -> Vec<(u64, usize)> {
        const JUMP: [u8; 2] = [0xff, 0x25];
        let mut found: Vec<(u64, usize)> = Vec::new();
        for (at, code) in self.bytes.windows(6).enumerate() {
            let (jump, Some(operand)) = (code.starts_with(&JUMP), code.last_chunk()) else {
                continue;
            };
            let operand = u32::from_le_bytes(*operand);
            let behind = self.address.wrapping_add(at as u64 + 6);
            let target =
                if is_wide { behind.wrapping_add_signed(operand.cast_signed().into()) } else { u64::from(operand) };
            let start = self.address.wrapping_add(at as u64 / self.size.max(1) * self.size);
            if jump
                && let Some(slot) = slot(target)
                && found.last().is_none_or(|(last, _)| *last != start)
            {
                found.push((start, slot));
            }
        }
        found
    }

    /// The stubs of other machines: one for each slot, in the same order, after a header of the remaining size.
    pub(super) fn by_order(&self, slots: usize) -> Vec<(u64, usize)> {
        let all = self.size.saturating_mul(slots as u64);
        let Some(head) = (self.bytes.len() as u64).checked_sub(all) else {
            return Vec::new();
        };
        (0..slots).map(|slot| (self.address.wrapping_add(head + slot as u64 * self.size), slot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made() {
        let storage = ImageStorage::default();
        let mut synthetic = SyntheticSymbols::default();
        synthetic.add_stub(0x10, b"puts");
        synthetic.add_guess(0x1f, None);
        synthetic.add_guess(0x20, Some("main"));
        let symbols: Vec<_> = synthetic.into_symbols(&storage).map(|symbol| (symbol.address, symbol.name)).collect();
        assert_eq!(symbols, [(0x10, b"puts@plt".as_slice()), (0x1f, b"func_0x1f"), (0x20, b"main")]);
    }

    #[test]
    fn stubs_are_told_by_their_jumps() {
        // A header, then `endbr64; bnd jmp *0x3000(%rip)` and `jmp *0x2fe8(%rip)`, sixteen bytes each.
        let mut bytes = vec![0x90; 16];
        bytes.extend([0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0x00, 0x30, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([0xff, 0x25, 0xe8, 0x2f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let stubs = Stubs { address: 0x1000, bytes: &bytes, size: 16 };
        let slot = |target| [0x401b, 0x400e].iter().position(|known| *known == target);
        assert_eq!(stubs.by_jumps(true, slot), [(0x1010, 0), (0x1020, 1)]);
        assert_eq!(stubs.by_jumps(false, |target| (target == 0x2fe8).then_some(7)), [(0x1020, 7)]);
        assert_eq!(stubs.by_order(2), [(0x1010, 0), (0x1020, 1)]);
        assert_eq!(stubs.by_order(4), []);
    }
}
