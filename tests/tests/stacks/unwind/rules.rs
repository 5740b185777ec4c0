//! Each row of the unwind tables of the system's libraries and of compiled programs: the evaluator's rule is gimli's.

use std::collections::BTreeSet;
use std::path::Path;

use gimli::{
    BaseAddresses, CieOrFde, EhFrame, Encoding, Evaluation, EvaluationResult, Expression, LittleEndian, Location,
    Register, RegisterRule, UnwindContext, UnwindExpression, UnwindSection, UnwindTableRow, Value, Vendor,
};
use gmon_unwind::{AArch64, Architecture, Cfa, Machine, Memory, Place, Rule, X86_64, evaluate};

use crate::unwind::compiled;
use crate::unwind::elf::{Elf, library};

type Bytes<'a> = gimli::EndianSlice<'a, LittleEndian>;

/// What was compared.
#[derive(Default)]
struct Compared {
    rows: usize,
    expressions: BTreeSet<usize>,
}

/// The address and length of an expression's bytes.
fn ours_at(elf: &Elf, offset: u32) -> (usize, usize) {
    let bytes = &elf.tables.bytes[offset as usize..];
    let digits = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let length = bytes[..digits].iter().rev().fold(0, |value, byte| value << 7 | usize::from(byte & 0x7f));
    (elf.tables.address + offset as usize + digits, length)
}

fn theirs_at(elf: &Elf, expression: UnwindExpression<usize>) -> (usize, usize) {
    (elf.frames.address + expression.offset, expression.length)
}

/// A place in a form that both evaluators have.
#[derive(Debug, PartialEq, Eq)]
enum Common {
    Same,
    Undefined,
    Stack(i64),
    Value(i64),
    Register(u16),
    Expression((usize, usize)),
    ValueExpression((usize, usize)),
}

fn ours(elf: &Elf, place: Place) -> Common {
    match place {
        Place::Same => Common::Same,
        Place::Undefined => Common::Undefined,
        Place::Stack(offset) => Common::Stack(offset.into()),
        Place::Value(offset) => Common::Value(offset.into()),
        Place::Register(number) => Common::Register(number.into()),
        Place::Expression(at) => Common::Expression(ours_at(elf, at)),
        Place::ValueExpression(at) => Common::ValueExpression(ours_at(elf, at)),
    }
}

fn theirs(elf: &Elf, rule: Option<RegisterRule<usize>>) -> Common {
    match rule {
        None | Some(RegisterRule::SameValue) => Common::Same,
        Some(RegisterRule::Undefined) => Common::Undefined,
        Some(RegisterRule::Offset(offset)) => Common::Stack(offset),
        Some(RegisterRule::ValOffset(offset)) => Common::Value(offset),
        Some(RegisterRule::Register(Register(number))) => Common::Register(number),
        Some(RegisterRule::Expression(expression)) => Common::Expression(theirs_at(elf, expression)),
        Some(RegisterRule::ValExpression(expression)) => Common::ValueExpression(theirs_at(elf, expression)),
        Some(rule) => panic!("{}: {rule:?}", elf.name),
    }
}

fn same_rule<A: Architecture>(elf: &Elf, rule: &Rule, row: &UnwindTableRow<usize>, compared: &mut Compared) {
    let at = || format!("{} at {:#x}", elf.name, row.start_address());
    match (rule.cfa, row.cfa()) {
        (Cfa::Register(number, offset), gimli::CfaRule::RegisterAndOffset { register, offset: expected }) => {
            assert_eq!((u16::from(number), i64::from(offset)), (register.0, *expected), "{}", at());
        }
        (Cfa::Expression(offset), gimli::CfaRule::Expression(expression)) => {
            assert_eq!(ours_at(elf, offset), theirs_at(elf, *expression), "{}", at());
            compared.expressions.insert(offset as usize);
        }
        (ours, theirs) => panic!("{}: {ours:?} {theirs:?}", at()),
    }
    let places = [
        (A::RETURN_ADDRESS, rule.return_address),
        (A::FRAME_POINTER, rule.frame_pointer),
        (A::BASE, rule.base),
        (A::STACK_POINTER, rule.stack_pointer),
    ];
    for (number, place) in places {
        let expected = theirs(elf, row.register(Register(number.into())));
        let place = place.place();
        assert_eq!(ours(elf, place), expected, "{}: register {number}", at());
        if let Place::Expression(offset) | Place::ValueExpression(offset) = place {
            compared.expressions.insert(offset as usize);
        }
    }
}

/// Compares all rows of a file.
fn compare<A: Architecture>(elf: &Elf, vendor: Vendor) -> Compared {
    let mut section = EhFrame::new(&elf.frames.bytes, LittleEndian);
    section.set_address_size(8);
    section.set_vendor(vendor);
    let bases = BaseAddresses::default().set_eh_frame(elf.frames.address as u64);
    let (object, mut compared) = (elf.object(), Compared::default());
    let mut context = UnwindContext::new();
    let mut entries = section.entries(&bases);
    while let Some(entry) = entries.next().unwrap() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let fde = partial.parse(|_, bases, offset| section.cie_from_offset(bases, offset)).unwrap();
        let mut table = fde.rows(&section, &bases, &mut context).unwrap();
        while let Some(row) = table.next_row().unwrap() {
            // The last row of a function without code is empty.
            for pc in [row.start_address(), row.end_address().wrapping_sub(1)] {
                if !row.contains(pc) || !fde.contains(pc) {
                    continue;
                }
                let found = object.rule::<A>(pc as usize).unwrap_or_else(|| panic!("{}: no rule at {pc:#x}", elf.name));
                assert_eq!(found.is_signal, fde.is_signal_trampoline(), "{} at {pc:#x}", elf.name);
                same_rule::<A>(elf, &found.rule, row, &mut compared);
            }
            compared.rows += 1;
        }
    }
    for offset in &compared.expressions {
        same_results(elf, *offset as u32);
    }
    compared
}

/// Registers and memory with recognizable contents.
struct Invented(usize);

impl Invented {
    fn mixed(&self, value: usize) -> usize {
        (value ^ self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    }
}

impl Memory for Invented {
    fn read(&self, address: usize) -> Option<usize> {
        Some(self.mixed(address))
    }
}

impl Machine for Invented {
    fn register(&self, number: u8) -> Option<usize> {
        Some(self.mixed(number.into()))
    }
}

/// Compares the results of an expression, from several states.
fn same_results(elf: &Elf, offset: u32) {
    let (address, length) = ours_at(elf, offset);
    let start = address - elf.tables.address;
    let bytes = Bytes::new(&elf.tables.bytes[start..start + length], LittleEndian);
    let encoding = Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 4 };
    for seed in 0..64 {
        let machine = Invented(seed);
        for first in [None, Some(machine.mixed(usize::MAX))] {
            let mut evaluation = Expression(bytes).evaluation(encoding);
            if let Some(first) = first {
                evaluation.set_initial_value(first as u64);
            }
            let expected = result(&mut evaluation, &machine);
            // An expression of a CFA may have no use for a first value, and others need it.
            if let Some(expected) = expected {
                let found = evaluate(elf.section(), offset, first, &machine);
                assert_eq!(found, Some(expected), "{}: the expression at {address:#x}", elf.name);
            } else {
                assert!(first.is_none(), "{}: gimli cannot evaluate {address:#x}", elf.name);
            }
        }
    }
}

fn result(evaluation: &mut Evaluation<Bytes<'_>>, machine: &Invented) -> Option<usize> {
    let mut step = evaluation.evaluate().ok()?;
    loop {
        step = match step {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = machine.mixed(register.0.into());
                evaluation.resume_with_register(Value::Generic(value as u64)).ok()?
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let unused = 64 - 8 * u32::from(size);
                let value = machine.mixed(address as usize) as u64;
                evaluation.resume_with_memory(Value::Generic(value << unused >> unused)).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result().last()?.location {
        Location::Address { address } => Some(address as usize),
        _ => None,
    }
}

const LIBRARIES: [&str; 5] = ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libmvec.so.1"];

fn compare_libraries<A: Architecture>(compiler: &str, loader: &str, vendor: Vendor) -> usize {
    let mut rows = 0;
    for name in LIBRARIES.into_iter().chain([loader]) {
        let Some(path) = library(compiler, name) else {
            eprintln!("SKIPPED: {compiler} has no {name}");
            continue;
        };
        let compared = compare::<A>(&Elf::read(&path).unwrap(), vendor);
        println!("{}: {} rows, {} expressions", path.display(), compared.rows, compared.expressions.len());
        rows += compared.rows;
    }
    rows
}

#[test]
fn rules_of_the_systems_libraries_are_those_of_gimli() {
    assert!(compare_libraries::<X86_64>("gcc", "ld-linux-x86-64.so.2", Vendor::Default) > 10_000);
    let musl = Path::new("/lib/ld-musl-x86_64.so.1");
    if let Some(elf) = musl.exists().then(|| Elf::read(musl)).flatten() {
        compare::<X86_64>(&elf, Vendor::Default);
    }
}

#[test]
fn rules_of_aarch64_libraries_are_those_of_gimli() {
    if library("aarch64-linux-gnu-gcc", "libc.so.6").is_some() {
        assert!(
            compare_libraries::<AArch64>("aarch64-linux-gnu-gcc", "ld-linux-aarch64.so.1", Vendor::AArch64) > 10_000
        );
    } else {
        eprintln!("SKIPPED: no C library for AArch64");
    }
}

#[test]
fn rules_of_the_vdso_are_those_of_gimli() {
    let Some(bytes) = compiled::vdso() else {
        eprintln!("SKIPPED: the kernel gives no vDSO");
        return;
    };
    let compared = compare::<X86_64>(&Elf::parse("vdso".to_owned(), &bytes).unwrap(), Vendor::Default);
    assert!(compared.rows > 0);
}

#[test]
fn rules_of_compiled_programs_are_those_of_gimli() {
    let (mut rows, mut expressions) = (0, 0);
    for elf in compiled::objects("gcc") {
        let compared = compare::<X86_64>(&elf, Vendor::Default);
        rows += compared.rows;
        expressions += compared.expressions.len();
    }
    println!("{rows} rows, {expressions} expressions");
    assert!(rows > 1000 && expressions > 10, "{rows} {expressions}");
}

#[test]
fn rules_of_programs_compiled_for_aarch64_are_those_of_gimli() {
    let objects = compiled::objects("aarch64-linux-gnu-gcc");
    let rows: usize = objects.iter().map(|elf| compare::<AArch64>(elf, Vendor::AArch64).rows).sum();
    println!("{rows} rows of {} objects", objects.len());
    assert!(objects.is_empty() || rows > 20 * objects.len(), "{rows}");
}
