//! Joins the functions of several images in one table.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Buckets, Function, FunctionId, Functions};

/// The functions of one image, and the image's new place.
#[derive(Debug)]
pub struct ImageFunctions<'data> {
    /// The functions, with the addresses that the linker gave.
    pub functions: Functions<'data>,
    /// The number that is added to each address, with wrapping.
    pub shift: u64,
    /// The last address of the image before it is moved. No function extends past it.
    pub last: u64,
    /// The label that distinguishes the image's functions from functions of the same name in other images.
    pub label: String,
}

impl<'data> Functions<'data> {
    /// Joins the functions of several images in one table. After moving, the images must be in ascending order
    /// without overlaps.
    #[must_use]
    pub fn join(parts: Vec<ImageFunctions<'data>>) -> Functions<'data> {
        let mut whole = Functions::from_sorted(Vec::new(), 0);
        for ImageFunctions { functions, shift, last, label } in parts {
            // A number of 32 bits identifies each function.
            let is_full = u32::try_from(whole.len().saturating_add(functions.len())).is_err();
            let Some(first) = u32::try_from(whole.len()).ok().filter(|_| !is_full) else { break };
            let moved = |id: FunctionId| FunctionId(id.0 + first);
            whole.joined.images.push((FunctionId(first), shift, label));
            whole.sorted.extend(functions.sorted.into_iter().map(|function| {
                let address = function.address.wrapping_add(shift);
                // In a damaged file, the last function may end before it starts, or past all addresses.
                let end = |end: u64| match end.min(last).checked_sub(function.address) {
                    Some(size) => address.wrapping_add(size),
                    None => address.wrapping_sub(1),
                };
                Function {
                    address,
                    last: end(function.last),
                    reach: end(function.reach),
                    counts_for: moved(function.counts_for),
                    called_as: function.called_as.map(moved),
                    ..function
                }
            }));
        }
        whole.starts = whole.sorted.iter().map(|function| function.address).collect();
        whole.buckets = Buckets::new(&whole.starts);
        whole.joined.is_shared = shared(&whole);
        whole
    }

    /// The handle in the joined table of a function of one image.
    #[must_use]
    pub fn moved(&self, image: usize, id: FunctionId) -> Option<FunctionId> {
        let (first, ..) = self.joined.images.get(image)?;
        self.id(first.index() + id.index())
    }

    /// The index of a function's image.
    #[must_use]
    pub fn image(&self, id: FunctionId) -> usize {
        self.joined.image(id)
    }

    /// An address in a function as the linker gave it, before the image was moved.
    #[must_use]
    pub fn linked(&self, id: FunctionId, address: u64) -> u64 {
        let shift = self.joined.images.get(self.image(id)).map_or(0, |(_, shift, _)| *shift);
        address.wrapping_sub(shift)
    }

    /// The name of a function, with the label of its image if another image has a function of the same name.
    pub fn labelled<'a>(&self, id: FunctionId, name: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        if self.joined.is_shared.get(id.index()) != Some(&true) {
            return name;
        }
        match self.joined.images.get(self.image(id)) {
            Some((.., label)) => Cow::Owned([&name, b" (".as_slice(), label.as_bytes(), b")"].concat()),
            None => name,
        }
    }
}

/// For each function, whether another image has a function of the same name.
fn shared(functions: &Functions<'_>) -> Vec<bool> {
    let mut known: HashMap<&[u8], (usize, bool)> = HashMap::new();
    for id in functions.ids() {
        let image = functions.image(id);
        let (first, is_shared) = known.entry(functions[id].name).or_insert((image, false));
        *is_shared |= *first != image;
    }
    functions.ids().map(|id| known.get(functions[id].name).is_some_and(|(_, is_shared)| *is_shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::image::Symbol;

    fn part(names: &[&'static str], shift: u64, label: &str) -> ImageFunctions<'static> {
        let symbol = |(at, name): (u64, &&'static str)| Symbol {
            address: 0x1000 + 16 * at,
            name: name.as_bytes(),
            is_static: false,
            is_func: true,
        };
        let mut functions = Functions::new((0..).zip(names).map(symbol).collect(), 0x1100);
        functions.merge_copies(&HashMap::new());
        ImageFunctions { functions, shift, last: 0x10ff, label: label.to_owned() }
    }

    #[test]
    fn functions_of_two_images() {
        let all = Functions::join(vec![
            part(&["main", "f", "g.part.0"], 0, "a.out"),
            part(&["f", "g", "f.cold"], 0x1000, "libx.so"),
        ]);
        let name = |address| {
            let id = all.find(address)?;
            Some((
                String::from_utf8(all.labelled(id, all[id].name.into()).into_owned()).unwrap(),
                all.linked(id, all[id].address),
            ))
        };
        let expect = |name: &str, address| Some((name.to_owned(), address));
        assert_eq!(name(0x1010), expect("f (a.out)", 0x1010));
        assert_eq!(name(0x10ff), expect("g.part.0", 0x1020));
        assert_eq!([name(0x1100), name(0x1fff), name(0x2100)], [None, None, None]);
        assert_eq!(name(0x2000), expect("f (libx.so)", 0x1000));
        assert_eq!(name(0x201f), expect("g", 0x1010));
        // Copies and labels belong to functions of their own image.
        let owners: Vec<usize> = all.ids().map(|id| all[id].counts_for.index()).collect();
        assert_eq!(owners, [0, 1, 2, 3, 4, 3]);
        let called: Vec<_> = all.ids().map(|id| all[id].called_as.map(FunctionId::index)).collect();
        assert_eq!(called, [0, 1, 2, 3, 4, 5].map(Some));
        assert!(all.as_slice().iter().all(|function| function.reach == function.last));
        assert_eq!(all.ids().map(|id| all.image(id)).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1]);
        let moved = |image, at| all.moved(image, FunctionId(at)).map(FunctionId::index);
        assert_eq!([moved(0, 1), moved(1, 0), moved(1, 2), moved(2, 0)], [Some(1), Some(3), Some(5), None]);
    }

    #[test]
    fn a_last_function_without_an_end() {
        let mut lost = part(&["main"], 0x5000, "a.out");
        for (last, reaches) in [(u64::MAX, Some(0x60ff)), (0x1000, Some(0x6000)), (0xfff, None)] {
            lost.functions.sorted[0].last = last;
            let functions = std::mem::replace(&mut lost.functions, part(&["main"], 0, "").functions);
            let joined =
                Functions::join(vec![ImageFunctions { functions, shift: 0x5000, last: 0x10ff, label: String::new() }]);
            let found = (0x5f00..0x6200).rev().find(|address| joined.find(*address).is_some());
            assert_eq!(found, reaches, "{last:#x}");
        }
    }
}
