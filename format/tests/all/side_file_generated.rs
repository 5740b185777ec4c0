//! Code that programs generate while they run: its functions in side files and in sums.

use gmon::side_file::{
    Accumulator, Call, CutReason, ELSEWHERE, GENERATED, KERNEL, Kind, Object, PROGRAM, Place, SideFile,
    function_addresses,
};
use gmon::{Error, Part};
use proptest::prelude::*;

use crate::side::{self, code};

fn elsewhere(address: u64) -> Place {
    Place { object: ELSEWHERE, address }
}

/// The number of the object that is generated code.
fn generated(side: &SideFile) -> u32 {
    side.objects().find(|(_, object)| object.kind == Kind::Generated).unwrap().0
}

/// The name of the function of a place; empty for other places.
fn name(side: &SideFile, place: Place) -> &str {
    let mut named = side.functions(place.object).iter().enumerate();
    let name = named.find(|(index, _)| function_addresses(*index).contains(&place.address));
    name.map_or("", |(_, name)| std::str::from_utf8(name).unwrap())
}

/// The names of all nodes of the tree, with their ticks.
fn nodes(side: &SideFile) -> Vec<(&str, u64)> {
    side.contexts().nodes().iter().map(|node| (name(side, node.place()), node.ticks())).collect()
}

/// The names of all samples, with their ticks.
fn samples(side: &SideFile) -> Vec<(&str, u64)> {
    let of = |samples: &gmon::side_file::Samples| samples.object();
    let bins = side.samples().iter().flat_map(|samples| samples.bins().map(move |bin| (of(samples), bin)));
    bins.map(|(object, (bin, ticks))| (name(side, Place { object, address: bin.start }), ticks)).collect()
}

/// A program that calls `outer`, which calls `inner` as its last instruction, and both have samples.
fn calls_generated_code() -> SideFile {
    let mut side = side::small();
    let main = side.add_context(None, code(0x1010), 0).unwrap();
    let outer = side.add_context(Some(main), elsewhere(0x7f00_0000_0020), 0).unwrap();
    side.add_context(Some(outer), elsewhere(0x7f00_0000_0020), 5).unwrap();
    side.add_context(Some(outer), Place { object: KERNEL, address: 0 }, 2).unwrap();
    side.add_context(Some(main), elsewhere(0x7f00_0000_0010), 3).unwrap();
    side.add_context(Some(main), elsewhere(0), 1).unwrap();
    side.add_samples(None, ELSEWHERE, 4, 0x7f00_0000_0020 / 4, 5).unwrap();
    side.add_samples(None, ELSEWHERE, 4, 0x7f00_0000_0010 / 4, 3).unwrap();
    side.add_samples(None, ELSEWHERE, 1, 0, 1).unwrap();
    side.add_call(None, Call { caller: elsewhere(0x7f00_0000_0020), callee: code(0x1100), count: 7 }).unwrap();
    side
}

const MAP: &[u8] = b"7f0000000010 10 outer\n7f0000000020 10 inner\n";

#[test]
fn functions_have_their_names_and_return_addresses_belong_to_the_call_before_them() {
    let mut side = calls_generated_code();
    assert!(side.name_generated_code(MAP));
    let object = side.object(generated(&side)).unwrap();
    assert_eq!((&object.path[..], object.code.clone()), (GENERATED, 0..32));
    assert_eq!(nodes(&side), [("", 0), ("outer", 0), ("inner", 5), ("", 2), ("outer", 3), ("", 1)]);
    assert_eq!(samples(&side), [("", 1), ("inner", 5), ("outer", 3)]);
    let call = side.calls()[0].calls()[0];
    assert_eq!((name(&side, call.caller), call.callee, call.count), ("outer", code(0x1100), 7));
    // The address before a return address is in the function too.
    let caller = side.contexts().nodes()[1].place();
    assert_eq!(name(&side, Place { address: caller.address - 1, ..caller }), "outer");
    assert_eq!(SideFile::parse(&side.write()), Ok(side.clone()));
    let before = side.clone();
    assert!(!side.name_generated_code(MAP));
    assert_eq!(side, before, "names are given once");
}

#[test]
fn code_without_a_name_is_one_function() {
    let mut side = calls_generated_code();
    assert!(side.name_generated_code(b"7f0000000020 10 inner\n"));
    assert_eq!(nodes(&side), [("", 0), ("[jit]", 0), ("inner", 5), ("", 2), ("[jit]", 3), ("", 1)]);
    let mut nothing = side::small();
    nothing.add_context(None, elsewhere(0), 1).unwrap();
    nothing.add_samples(None, ELSEWHERE, 1, 0, 1).unwrap();
    nothing.add_cut(CutReason::NO_STACK, 1).unwrap();
    let before = nothing.clone();
    assert!(!nothing.name_generated_code(MAP), "nothing has an address");
    assert_eq!(nothing, before);
}

#[test]
fn sums_have_functions_by_name() {
    let sum_of = |maps: &[&[u8]]| {
        let mut sum = Accumulator::new();
        for map in maps {
            let mut side = calls_generated_code();
            side.name_generated_code(map);
            sum.add(&side).unwrap();
        }
        sum.finish()
    };
    let other: &[u8] = b"7f0000000010 10 inner\n7f0000000020 10 a third\n";
    let sum = sum_of(&[MAP, other, b""]);
    let names: Vec<&[u8]> = sum.functions(generated(&sum)).iter().map(AsRef::as_ref).collect();
    assert_eq!(names, [&b"[jit]"[..], b"a third", b"inner", b"outer"]);
    assert_eq!(samples(&sum), [("[jit]", 8), ("a third", 5), ("inner", 8), ("outer", 3), ("", 3)]);
    assert_eq!(sum.contexts().total(), 3 * 11);
    assert_eq!(sum.object(generated(&sum)).unwrap().code, 0..64);
    assert_eq!(sum, sum_of(&[b"", other, MAP]), "the order does not matter");
    let mut again = Accumulator::new();
    again.add(&sum_of(&[other, b""])).unwrap();
    let mut side = calls_generated_code();
    side.name_generated_code(MAP);
    again.add(&side).unwrap();
    assert_eq!(again.finish(), sum, "a sum can be a summand");
}

#[test]
fn functions_that_are_refused() {
    let mut side = side::small();
    side.add_object(1, Object::new(Kind::Generated, GENERATED)).unwrap();
    assert_eq!(side.add_function(1, b"a").unwrap(), 0..16);
    assert_eq!(side.add_function(1, b"a").unwrap(), 16..32);
    let empty = side.add_function(1, b"").unwrap_err();
    assert!(matches!(empty, Error::Impossible { part: Part::FunctionName, value: 0 }), "{empty}");
    for object in [PROGRAM, 2] {
        let refused = side.add_function(object, b"a").unwrap_err();
        assert!(matches!(refused, Error::Impossible { part: Part::Object, .. }), "{refused}");
    }
}

#[test]
fn a_file_in_which_functions_are_of_no_generated_code_is_refused() {
    let mut side = side::small();
    side.add_object(1, Object::new(Kind::Generated, GENERATED)).unwrap();
    side.add_function(1, b"name").unwrap();
    let bytes = side.write();
    let at = bytes.windows(4).position(|tag| tag == b"FUNC").unwrap() + 16;
    for (change, part) in [((at, 0), Part::Object), ((at, 7), Part::Object), ((at + 1, 0), Part::FunctionName)] {
        let ((place, byte), mut changed) = (change, bytes.clone());
        changed[place] = byte;
        let found = SideFile::parse(&changed).unwrap_err();
        assert!(matches!(found, Error::BadValue { part: found, .. } if found == part), "{found}");
    }
}

proptest! {
    #[test]
    fn naming_code_loses_nothing(
        mut side in side::side_file(),
        map in "([0-9a-f]{1,16} [0-9a-f]{1,10} [a-c]{0,2}\n){0,8}",
    ) {
        let before = side.clone();
        let ticks = |side: &SideFile| side.samples().iter().map(gmon::side_file::Samples::total).sum::<u64>();
        side.name_generated_code(map.as_bytes());
        prop_assert_eq!(side.contexts().total(), before.contexts().total());
        prop_assert_eq!(side.contexts().nodes().len(), before.contexts().nodes().len());
        prop_assert_eq!(ticks(&side), ticks(&before));
        // Reading may join samples of one object.
        let read = SideFile::parse(&side.write()).unwrap();
        prop_assert_eq!((ticks(&read), read.contexts()), (ticks(&side), side.contexts()));
        let sum = |side: &SideFile| {
            let mut sum = Accumulator::new();
            sum.add(side).map(|()| sum.finish())
        };
        if let Ok(sum) = sum(&side) {
            prop_assert_eq!(ticks(&sum), ticks(&side));
        }
    }
}
