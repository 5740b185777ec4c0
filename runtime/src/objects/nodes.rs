//! The places of the nodes of the tree of calling contexts.
//!
//! The address of a node is a program counter or a return address. A return address follows a call, which can be the last
//! instruction of the code. So an address that is in no code can be the end of the code before it.

use super::loaded::{ADDRESS_BITS, ELSEWHERE, NOWHERE, is_object, known, place};

/// The [`place`] of the address of a node among the known mappings. An address in no object is in the place too, except
/// an address of the kernel.
///
/// # Safety
///
/// As for [`super::look`].
pub(crate) unsafe fn node_place(address: usize) -> usize {
    // SAFETY: the caller's promise.
    among(address, |pc| unsafe { place(pc) })
}

/// The place of the address of a node, where `place` knows those of code.
fn among(address: usize, place: impl Fn(usize) -> usize) -> usize {
    match place(address) {
        NOWHERE => match place(address.wrapping_sub(1)) {
            NOWHERE => ELSEWHERE << ADDRESS_BITS | address & ((1 << ADDRESS_BITS) - 1),
            before => before + 1,
        },
        found => found,
    }
}

/// The place of the address of a node in an object that the latest look has not found any more. Addresses in other objects
/// have no such place: they stay as they are.
///
/// # Safety
///
/// As for [`super::look`].
pub(crate) unsafe fn gone_place(address: usize) -> Option<usize> {
    // SAFETY: the caller's promise.
    let known = unsafe { known() }?;
    let is_gone = |pc| known.now().at(pc).is_some_and(|loaded| is_object(loaded.object) && !known.next().has(loaded));
    let is_end = || known.now().at(address).is_none() && is_gone(address.wrapping_sub(1));
    let place = |pc| known.objects.place(known.now(), pc);
    (is_gone(address) || is_end()).then(|| among(address, place))
}

#[cfg(test)]
mod tests {
    use super::super::{ADDRESS_BITS, is_object, look_at_all, number};
    use super::*;

    unsafe extern "C" {
        fn getpid() -> i32;
    }

    #[test]
    fn addresses_of_nodes_become_places_also_of_an_object_that_is_gone() {
        // SAFETY: no other test looks.
        let known = unsafe {
            look_at_all();
            known().unwrap()
        };
        let library = getpid as *const () as usize;
        let own = addresses_of_nodes_become_places_also_of_an_object_that_is_gone as fn() as usize;
        let loaded = *known.now().at(library).unwrap();
        // SAFETY: as above, in the whole test.
        let [place, gone] = [|pc| unsafe { Some(node_place(pc)) }, |pc| unsafe { gone_place(pc) }];
        let expected = loaded.object << ADDRESS_BITS | (library - loaded.bias);
        assert_eq!(place(library), Some(expected));
        assert!(is_object(number(place(own).unwrap())));
        let end = loaded.bias + known.objects.get(loaded.object).unwrap().highpc;
        assert_eq!(place(end), Some(loaded.object << ADDRESS_BITS | (end - loaded.bias)), "behind the last call");
        let here = &raw const expected;
        assert_eq!(place(here.addr()), Some(ELSEWHERE << ADDRESS_BITS | here.addr()), "no code");

        // SAFETY: as above; nobody has a reference to the mappings that are filled.
        let next = unsafe { known.next_to_fill() };
        next.number = 0;
        known.now().entries().iter().for_each(|loaded| next.push(*loaded));
        assert_eq!([gone(library), gone(own)], [None; 2], "nothing is gone");
        next.number = 0;
        known.now().entries().iter().filter(|other| other.object != loaded.object).for_each(|other| next.push(*other));
        assert_eq!([gone(library), gone(own), gone(here.addr())], [Some(expected), None, None]);
        if known.now().at(loaded.end).is_none() {
            assert!(gone(loaded.end).is_some(), "behind the last call");
        }
    }
}
