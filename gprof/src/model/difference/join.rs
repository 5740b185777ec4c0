//! Joins the images of two analyses, a program or shared object in the base with the same in the other profiles, and
//! the functions of two builds by image and name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;

use crate::model::analysis::Analysis;
use crate::program::image::address_space::Mapping;
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::program::symbols::sources::base as last_part;

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

/// Returns for each image of the other profiles its image in the base, if there is one. `named` is how many images at
/// the beginning the user named, on each side. A pair has the same build ID, or else the same path, the same last part
/// of the path, or the same last part up to `.so`. The images that the user named and that have no pair then are paired
/// in their order.
fn pairs(base: &[Mapping], new: &[Mapping], named: [usize; 2]) -> Vec<Option<usize>> {
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

/// Functions that are compared with each other: those of the base, and those of the other profiles. A list is empty if
/// the function was added or removed. A list has several functions if nothing tells which is which.
pub(super) type Joined = [Vec<FunctionId>; 2];

/// Joins all functions. Compilers' copies must count for their functions.
///
/// Functions of one image and symbol are joined. If several functions have the symbol, those of the same source file
/// are joined; the others are joined in the order of their addresses if both builds have as many, and else all
/// together. What has no counterpart then is joined by stable names. There the order of addresses says nothing.
pub(super) fn join<'data>(base: &Analysis<'data>, new: &Analysis<'data>) -> Vec<Joined> {
    let named = [base, new].map(|side| side.options.images.len());
    let sides = Sides { all: [base, new], pairs: pairs(&base.images, &new.images, named) };
    let whole = |side: &Analysis<'data>| side.functions.ids().filter(|id| side.functions.is_whole(*id)).collect();
    let (mut joined, mut left) = (Vec::new(), Joined::default());
    for group in sides.groups([base, new].map(whole), |functions, id| Cow::Borrowed(functions[id].name)) {
        match is_one_sided(&group) {
            true => left.iter_mut().zip(group).for_each(|(left, group)| left.extend(group)),
            false => sides.divide(group, true, &mut joined),
        }
    }
    for group in sides.groups(left, |functions, id| functions.stable_name(id)) {
        sides.divide(group, false, &mut joined);
    }
    joined
}

fn is_one_sided([base, new]: &Joined) -> bool {
    base.is_empty() || new.is_empty()
}

/// The base, and the other profiles.
struct Sides<'a, 'data> {
    all: [&'a Analysis<'data>; 2],
    /// For each image of the other profiles, its image in the base.
    pairs: Vec<Option<usize>>,
}

impl<'a, 'data> Sides<'a, 'data> {
    /// Returns a number that is the same for both images of a pair.
    fn image(&self, side: usize, id: FunctionId) -> usize {
        let image = self.all[side].functions.image(id);
        match side {
            0 => image,
            // Images without a pair come after those of the base.
            _ => self.pairs.get(image).copied().flatten().unwrap_or(self.all[0].images.len() + image),
        }
    }

    /// Groups functions by image and name. The functions of a group are in the order of their addresses.
    fn groups(
        &self,
        functions: Joined,
        name: impl Fn(&'a Functions<'data>, FunctionId) -> Cow<'a, [u8]>,
    ) -> Vec<Joined> {
        let mut all = Vec::new();
        for (side, ids) in functions.into_iter().enumerate() {
            let key = |id| (self.image(side, id), name(&self.all[side].functions, id), side, id);
            all.extend(ids.into_iter().map(key));
        }
        all.sort();
        let groups = all.chunk_by(|one, other| (one.0, &one.1) == (other.0, &other.1));
        let group = |members: &[(usize, Cow<'_, [u8]>, usize, FunctionId)]| {
            let mut group = Joined::default();
            members.iter().for_each(|(_, _, side, id)| group[*side].push(*id));
            group
        };
        groups.map(group).collect()
    }

    /// Joins the functions of a group.
    fn divide(&self, group: Joined, by_order: bool, joined: &mut Vec<Joined>) {
        if let ([_], [_]) = (group[0].as_slice(), group[1].as_slice()) {
            joined.push(group);
            return;
        }
        let is_ambiguous = !is_one_sided(&group);
        let [base, new] = if is_ambiguous { self.divide_by_file(group, joined) } else { group };
        if base.is_empty() || new.is_empty() {
            joined.extend(base.into_iter().map(|id| [vec![id], Vec::new()]));
            joined.extend(new.into_iter().map(|id| [Vec::new(), vec![id]]));
        } else if by_order && base.len() == new.len() {
            joined.extend(base.into_iter().zip(new).map(|(base, new)| [vec![base], vec![new]]));
        } else {
            joined.push([base, new]);
        }
    }

    /// Joins the functions of a group that are in the same source file, and returns the others. Builds may be in
    /// different directories, so the last parts of the paths count if the paths tell nothing.
    fn divide_by_file(&self, group: Joined, joined: &mut Vec<Joined>) -> Joined {
        let by_path = self.divide_by(group, |path| path, joined);
        if is_one_sided(&by_path) { by_path } else { self.divide_by(by_path, last_part, joined) }
    }

    /// Joins the functions of a group that alone on their side have a part of the path of their source file. Returns
    /// the others.
    fn divide_by(&self, group: Joined, part: fn(&[u8]) -> &[u8], joined: &mut Vec<Joined>) -> Joined {
        let file = |side: usize, id: FunctionId| Some(part(self.all[side].source_location(id)?.file));
        let mut of_file: HashMap<&[u8], Joined> = HashMap::new();
        let mut others = Joined::default();
        for (side, ids) in group.iter().enumerate() {
            for id in ids {
                match file(side, *id) {
                    Some(file) => of_file.entry(file).or_default()[side].push(*id),
                    None => others[side].push(*id),
                }
            }
        }
        let mut found: Vec<Joined> = of_file.into_values().collect();
        // The order of the map is a matter of chance.
        found.sort();
        for group in found {
            match (group[0].as_slice(), group[1].as_slice()) {
                ([_], [_]) => joined.push(group),
                _ => others.iter_mut().zip(group).for_each(|(others, group)| others.extend(group)),
            }
        }
        others.iter_mut().for_each(|side| side.sort());
        others
    }
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
