//! Pairs of images: a program or shared object in the base, and the same in the other profiles.

use std::collections::HashMap;
use std::hash::Hash;

use crate::program::image::address_space::Mapping;

/// Images, of which some have a pair.
struct Images<'m> {
    base: &'m [Mapping],
    new: &'m [Mapping],
    /// For each image of the other profiles, the image of the base.
    pairs: Vec<Option<usize>>,
    /// Whether each image of the base has a pair.
    is_taken: Vec<bool>,
}

impl Images<'_> {
    fn pair(&mut self, base: usize, new: usize) {
        self.pairs[new] = Some(base);
        self.is_taken[base] = true;
    }

    /// Pairs the images with the same key, where only one image on each side has the key.
    fn pair_by<K: Eq + Hash>(&mut self, key: impl Fn(&Mapping) -> Option<K>) {
        // For each key, the images that have it: the number, and the last one.
        let mut known: HashMap<K, [(usize, usize); 2]> = HashMap::new();
        let mut add = |side: usize, at: usize, mapping: &Mapping| {
            if let Some(key) = key(mapping) {
                let found = &mut known.entry(key).or_default()[side];
                *found = (found.0 + 1, at);
            }
        };
        let base = self.base.iter().enumerate().filter(|(at, _)| !self.is_taken[*at]);
        base.for_each(|(at, mapping)| add(0, at, mapping));
        let new = self.new.iter().enumerate().filter(|(at, _)| self.pairs[*at].is_none());
        new.for_each(|(at, mapping)| add(1, at, mapping));
        for found in known.into_values() {
            if let [(1, base), (1, new)] = found {
                self.pair(base, new);
            }
        }
    }
}

/// Returns for each image of the other profiles its image in the base, if there is one. `named` is how many images at the
/// beginning the user named, on each side. A pair has the same build ID, or else the same path, the same last part of the path, or
/// the same last part up to `.so`. The images that the user named and that have no pair then are paired in their order.
pub(super) fn pairs(base: &[Mapping], new: &[Mapping], named: [usize; 2]) -> Vec<Option<usize>> {
    let mut images = Images { base, new, pairs: vec![None; new.len()], is_taken: vec![false; base.len()] };
    if named == [1, 1] && !base.is_empty() && !new.is_empty() {
        images.pair(0, 0);
    }
    images.pair_by(|mapping| mapping.build_id.clone());
    images.pair_by(|mapping| Some(mapping.path.clone()));
    images.pair_by(|mapping| mapping.path.file_name().map(|name| name.as_encoded_bytes().to_vec()));
    images.pair_by(|mapping| mapping.path.file_name().map(|name| unversioned(name.as_encoded_bytes()).to_vec()));
    let left = (0..named[0].min(base.len())).filter(|at| !images.is_taken[*at]).collect::<Vec<_>>();
    let lacking = (0..named[1].min(new.len())).filter(|at| images.pairs[*at].is_none()).collect::<Vec<_>>();
    for (base, new) in left.into_iter().zip(lacking) {
        images.pair(base, new);
    }
    images.pairs
}

/// The name of a shared object without its version: the part before `.so` at the end, or before `.so.`.
fn unversioned(name: &[u8]) -> &[u8] {
    const ENDING: &[u8] = b".so";
    let is_ending = |at: &usize| {
        let rest = name.get(*at..).and_then(|rest| rest.strip_prefix(ENDING));
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'.')))
    };
    (0..name.len()).find(is_ending).and_then(|at| name.get(..at)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn images(names: &[&str]) -> Vec<Mapping> {
        let mapping = |name: &&str| {
            let (path, build_id) = name.split_once('=').map_or((*name, None), |(path, id)| (path, Some(id.to_owned())));
            Mapping { path: path.into(), build_id, code: 0..1, shift: 0, lacks_unwind_index: false }
        };
        names.iter().map(mapping).collect()
    }

    #[test]
    fn images_of_two_builds() {
        let paired = |base: &[&str], new: &[&str], named| pairs(&images(base), &images(new), named);
        // Programs are pairs whatever their names are.
        let base = ["old", "/a/libx.so.1", "/a/liby.so=7", "/a/m.so", "/b/m.so"];
        let new = ["new", "/z/liby.so=7", "/z/libx.so.2", "/a/m.so", "/z/w.so"];
        assert_eq!(paired(&base, &new, [1, 1]), [Some(0), Some(2), Some(1), Some(3), None]);
        // Several programs are pairs by their names, and then in their order.
        assert_eq!(paired(&["b", "a", "c"], &["a", "b", "d"], [3, 3]), [Some(1), Some(0), Some(2)]);
        assert_eq!(paired(&["a", "b"], &["c", "a"], [2, 2]), [Some(1), Some(0)]);
        assert_eq!(paired(&["a"], &[], [1, 0]), []);
        // A version begins at a whole `.so`.
        let named = |one: &str, other: &str| paired(&["p", one], &["p", other], [1, 1]);
        assert_eq!(named("/liba.sort.so.1", "/liba.solve.so.1"), [Some(0), None]);
        assert_eq!(named("/liba.sort.so.1", "/liba.sort.so"), [Some(0), Some(1)]);
    }

    #[test]
    fn one_program_on_each_side_is_a_pair_before_names_count() {
        assert_eq!(pairs(&images(&["old", "/a/new"]), &images(&["new"]), [1, 1]), [Some(0)]);
    }
}
