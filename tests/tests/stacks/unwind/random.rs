//! Random tables, stacks, and expressions: nothing panics or runs without end. These tests have overflow checks.

use std::collections::HashMap;
use std::sync::OnceLock;

use gmon_unwind::{
    AArch64, Architecture, Cache, MOST_FRAMES, Machine, Memory, Object, Objects, Section, Tables, Walk, X86_64,
    evaluate,
};
use proptest::prelude::*;

use crate::unwind::elf::{Elf, library};
use crate::unwind::signals::SIGNALS;

/// Memory that has a word of a small set at each address: stack addresses, code addresses, and noise.
struct Words {
    words: Vec<usize>,
    written: HashMap<usize, usize>,
}

impl Memory for Words {
    fn read(&self, address: usize) -> Option<usize> {
        if address.is_multiple_of(61) {
            return None;
        }
        let index = address.wrapping_mul(0x9e37_79b9) >> 7;
        self.written.get(&address).copied().or_else(|| self.words.get(index % self.words.len().max(1)).copied())
    }
}

impl Machine for Words {
    fn register(&self, number: u8) -> Option<usize> {
        self.words.get(usize::from(number)).copied()
    }
}

/// Walks through objects whose tables are not sound. A walk ends after a bounded number of frames.
fn walk<A: Architecture>(object: Object<'_>, words: Vec<usize>) {
    let memory = Words { words, written: HashMap::new() };
    let list = [object];
    let tables = Tables { objects: Objects::new(&list, 1), thread: 0, cache: &Cache::<64>::new(), signals: &SIGNALS };
    for context in [0x10_0000, usize::MAX - 64] {
        let mut walk = Walk::<A, _, _, _>::new(&tables, &memory, context);
        assert!(walk.by_ref().count() <= MOST_FRAMES as usize);
        assert!(walk.ending().is_some());
    }
}

/// A real section, into which the test writes noise.
fn sound() -> &'static Elf {
    static ELF: OnceLock<Elf> = OnceLock::new();
    ELF.get_or_init(|| Elf::read(&library("gcc", "libgcc_s.so.1").unwrap()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_tables_give_a_rule_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), pc in any::<usize>()) {
        let mut table = vec![1, 0xff, 0x03, 0x3b, 3, 0, 0, 0];
        table.extend(&bytes);
        for bytes in [&bytes, &table] {
            let section = Section { address: 0x1000, bytes };
            for header in [0, 4, usize::MAX] {
                let object = Object::new(0..usize::MAX, section, Some(header));
                for pc in [pc, pc % 0x2000] {
                    let _ = (object.rule::<X86_64>(pc), object.rule::<AArch64>(pc));
                }
            }
        }
    }

    #[test]
    fn random_instructions_give_a_rule_or_none(program in prop::collection::vec(any::<u8>(), 0..120), common in prop::collection::vec(any::<u8>(), 0..20)) {
        let section = made(&common, &program);
        let object = Object::new(0..usize::MAX, Section { address: 0x1000, bytes: &section }, Some(0));
        for pc in 0x2000..0x2040 {
            let _ = (object.rule::<X86_64>(pc), object.rule::<AArch64>(pc));
        }
    }

    #[test]
    fn random_expressions_end(mut bytes in prop::collection::vec(any::<u8>(), 1..100), words in prop::collection::vec(any::<usize>(), 1..20)) {
        bytes[0] = u8::try_from(bytes.len() - 1).unwrap();
        let memory = Words { words, written: HashMap::new() };
        for offset in [0, 1, u32::MAX] {
            for first in [None, Some(usize::MAX)] {
                let _ = evaluate(Section { address: 0x1000, bytes: &bytes }, offset, first, &memory);
            }
        }
    }

    #[test]
    fn walks_with_noise_in_tables_and_stacks_end(
        noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..60),
        words in prop::collection::vec(prop_oneof![any::<usize>(), 0x10_0000_usize..0x11_0000, 0_usize..0x2_0000], 1..200),
    ) {
        let elf = sound();
        let header = elf.header.unwrap();
        let mut bytes = elf.tables.bytes.clone();
        for (at, byte) in noise {
            let at = at.index(bytes.len() - header);
            bytes[header + at] = byte;
        }
        let object = || Object::new(elf.code.clone(), Section { address: elf.tables.address, bytes: &bytes }, elf.header);
        walk::<X86_64>(object(), words.clone());
        walk::<AArch64>(object(), words);
    }
}

/// A section with an index, a CIE with these instructions, and an FDE of 0x2000..0x2040 with those.
pub(crate) fn made(common: &[u8], program: &[u8]) -> Vec<u8> {
    let entry = |fixed: &[u8], program: &[u8]| {
        let length = u32::try_from(fixed.len() + program.len()).unwrap();
        [length.to_ne_bytes().as_slice(), fixed, program].concat()
    };
    let index = [[1, 0xff, 0x03, 0x3b, 1, 0, 0, 0].as_slice(), &[0, 0x10, 0, 0], &[0; 4]].concat();
    // Version 1, augmentation "zR", alignments 1 and -8, return address 16, addresses of 32 bits.
    let cie = entry(&[0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x03], common);
    let mut section = [index, cie].concat();
    let at = u32::try_from(section.len()).unwrap();
    let distance = at + 4 - 16;
    let fixed = [distance.to_ne_bytes().as_slice(), &0x2000_u32.to_ne_bytes(), &0x40_u32.to_ne_bytes(), &[0]].concat();
    section.extend(entry(&fixed, program));
    section[12..16].copy_from_slice(&at.to_ne_bytes());
    section
}

#[test]
fn the_made_section_is_sound() {
    // The CFA is rsp + 8, and the return address in the slot below; after four bytes, the CFA is rsp + 16.
    let section = made(&[0x0c, 7, 8, 0x90, 1], &[0x44, 0x0e, 16]);
    let object = Object::new(0..usize::MAX, Section { address: 0x1000, bytes: &section }, Some(0));
    let cfa = |pc| object.rule::<X86_64>(pc).map(|found| found.rule.cfa);
    use gmon_unwind::Cfa::Register;
    assert_eq!([cfa(0x2003), cfa(0x2004)], [Some(Register(7, 8)), Some(Register(7, 16))]);
    assert_eq!([cfa(0x1fff), cfa(0x2040)], [None; 2]);
}
