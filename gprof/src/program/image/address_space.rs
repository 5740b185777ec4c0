//! Places several images side by side in one address space, as a loader places a program and its shared objects.
//!
//! A profile has the addresses that the linker gave its image, and the addresses of two images overlap. This module
//! moves each image to a range that no other image uses, together with its symbols, its samples and the ends of its
//! arcs. Other modules then see one profile and one set of functions. A single image is not moved.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use gmon::{Histogram, Profile};

use super::listing::Origin;
use super::machine_code::Code;
use super::program::Image;

/// Images start at multiples of this, and none starts at 0.
const PAGE: u64 = 4096;

/// The address for everything outside all functions: no image is there.
const NOWHERE: u64 = 0;

/// The place of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placement {
    /// The first address of the image, as the linker gave it.
    first: u64,
    /// The last address of the image.
    last: u64,
    /// The new address of the first address.
    base: u64,
}

impl Placement {
    /// The place of an image that is not moved.
    const ALONE: Placement = Placement { first: 0, last: u64::MAX, base: 0 };

    /// The new address of an address of the image.
    fn of(self, address: u64) -> u64 {
        let is_inside = (self.first..=self.last).contains(&address);
        if is_inside { address.wrapping_add(self.shift()) } else { NOWHERE }
    }

    fn shift(self) -> u64 {
        self.base.wrapping_sub(self.first)
    }
}

/// An image, and its place in the common address space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The path of the file.
    pub path: PathBuf,
    /// The build ID in hexadecimal, if the file has one.
    pub build_id: Option<String>,
    /// The addresses of the image's code, as the linker gave them.
    pub code: Range<u64>,
    /// The number that is added to each address, with wrapping.
    pub shift: u64,
    /// Whether the linker has not made the index of unwind tables (`--eh-frame-hdr`), without which the runtime does
    /// not find these tables.
    pub lacks_unwind_index: bool,
}

/// The error for an image that does not fit into the address space beside the others.
#[derive(Debug)]
pub struct TooLarge {
    /// The path of the file.
    pub file: PathBuf,
}

/// Images, each with its place.
#[derive(Default)]
pub struct Images<'data> {
    all: Vec<Image<'data>>,
    places: Vec<Placement>,
    /// The paths of the images.
    paths: Vec<PathBuf>,
    /// The labels that distinguish functions of the same name.
    labels: Vec<String>,
}

impl<'data> Images<'data> {
    /// A single image, which is not moved.
    #[must_use]
    pub fn alone(image: Image<'data>) -> Images<'data> {
        Images {
            all: vec![image],
            places: vec![Placement::ALONE],
            paths: vec![PathBuf::new()],
            labels: vec![String::new()],
        }
    }

    /// Places images side by side. Each gets room for the addresses of the image and of its profile.
    ///
    /// # Errors
    ///
    /// When the images do not fit into the address space together. This happens only with damaged files.
    pub fn new(images: Vec<(PathBuf, Image<'data>)>, profiles: &[Profile]) -> Result<Images<'data>, TooLarge> {
        let (paths, all): (Vec<PathBuf>, Vec<Image<'data>>) = images.into_iter().unzip();
        let mut places = Vec::new();
        let mut base = PAGE;
        for ((path, image), profile) in paths.iter().zip(&all).zip(profiles) {
            let (first, last) = extent(image, profile);
            places.push(if all.len() == 1 { Placement::ALONE } else { Placement { first, last, base } });
            let end = base.checked_add(last - first).and_then(|end| end.checked_add(1)?.checked_next_multiple_of(PAGE));
            match end {
                Some(end) => base = end,
                None if all.len() == 1 => {}
                None => return Err(TooLarge { file: path.clone() }),
            }
        }
        Ok(Images { labels: labels(&paths), all, places, paths })
    }

    /// Whether each image has room for the addresses of this profile, too.
    pub(crate) fn have_room_for(&self, profiles: &[Profile]) -> bool {
        let all = self.all.iter().zip(&self.places).zip(profiles);
        let mut all = all.map(|((image, place), profile)| (place, extent(image, profile)));
        all.all(|(place, (first, last))| place.first <= first && last <= place.last)
    }

    /// Merges the profiles of all images into one, with the new addresses.
    #[must_use]
    pub fn merge(&self, profiles: Vec<Profile>) -> Profile {
        let mut whole = Profile::default();
        for (mut profile, place) in profiles.into_iter().zip(&self.places) {
            if *place != Placement::ALONE {
                move_profile(&mut profile, *place);
            }
            // The images have disjoint addresses, so their histograms do not overlap.
            let _ = whole.append(profile);
        }
        whole
    }

    /// The new address of an address of one image.
    #[must_use]
    pub fn place(&self, image: usize, address: u64) -> u64 {
        self.places.get(image).map_or(NOWHERE, |place| place.of(address))
    }

    /// The new addresses of the function `main` in the first image, and the address behind them.
    pub(crate) fn main(&self) -> Option<RangeInclusive<u64>> {
        let (image, place) = (self.all.first()?, self.places.first()?);
        let start = image.symbols.iter().find(|symbol| symbol.name == b"main")?.address;
        let behind = image.symbols.iter().map(|symbol| symbol.address).filter(|address| *address > start).min();
        Some(place.of(start)..=place.of(behind.unwrap_or(start)))
    }

    /// All images, with the addresses that the linker gave.
    pub fn iter(&self) -> impl Iterator<Item = &Image<'data>> {
        self.all.iter()
    }

    /// The new addresses of the images that are generated code.
    pub(crate) fn generated(&self) -> Vec<Range<u64>> {
        let images = self.all.iter().zip(&self.places).filter(|(image, _)| image.origin == Origin::Generated);
        images.map(|(image, place)| place.of(image.code.start)..place.of(image.code.end)).collect()
    }

    /// The path of each image.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Whether there is only one image, which is not moved.
    pub(crate) fn is_alone(&self) -> bool {
        self.all.len() == 1
    }

    /// For each image: the number added to its addresses, its last address as the linker gave it, and its label.
    pub(crate) fn moves(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        self.places.iter().zip(&self.labels).map(|(place, label)| (place.shift(), place.last, label.as_str()))
    }

    /// The range of histograms in a merged profile that belong to each image.
    pub(crate) fn histograms<'p>(&self, image: usize, profile: &'p Profile) -> &'p [Histogram] {
        // The images are in ascending order, and the histograms of one image stand together.
        let Some(place) = self.places.get(image).filter(|_| !self.is_alone()) else { return profile.histograms() };
        let before = |end: u64| profile.histograms().partition_point(|histogram| histogram.lowpc() < end);
        let end = self.places.get(image + 1).map_or(profile.histograms().len(), |next| before(next.base));
        profile.histograms().get(before(place.base)..end).unwrap_or_default()
    }

    /// The image at an index.
    pub(crate) fn get(&self, at: usize) -> Option<&Image<'data>> {
        self.all.get(at)
    }

    /// The images and their places.
    #[must_use]
    pub(crate) fn mappings(&self) -> Vec<Mapping> {
        let images = self.all.iter().zip(&self.places).zip(&self.paths);
        let mapping = |((image, place), path): ((&Image<'_>, &Placement), &PathBuf)| Mapping {
            path: path.clone(),
            build_id: image.build_id(),
            code: image.code.clone(),
            shift: place.shift(),
            lacks_unwind_index: image.lacks_unwind_index,
        };
        images.map(mapping).collect()
    }

    /// The machine code of each image, at its new address.
    pub fn code(&self) -> impl Iterator<Item = Code<'data>> {
        let code = self.all.iter().zip(&self.places);
        code.map(|(image, place)| Code { start: place.of(image.machine_code.start), ..image.machine_code })
    }
}

/// The first and the last address of an image and its profile. Arcs do not count, because their callers may be
/// anywhere.
fn extent(image: &Image<'_>, profile: &Profile) -> (u64, u64) {
    let symbols = image.symbols.iter().map(|symbol| symbol.address..symbol.address);
    let histograms = profile.histograms().iter().map(|histogram| histogram.lowpc()..histogram.highpc());
    let (mut first, mut last) = (image.code.start, image.code.end.max(image.code.start));
    for range in symbols.chain(histograms) {
        first = first.min(range.start);
        last = last.max(range.end);
    }
    (first, last)
}

/// Moves the addresses of an image's profile to the image's place.
fn move_profile(profile: &mut Profile, place: Placement) {
    for histogram in profile.take_histograms() {
        let range = place.of(histogram.lowpc())..place.of(histogram.highpc());
        // Moving neither empties a range nor makes ranges overlap.
        let _ = histogram.with_range(range).map(|histogram| profile.add_histogram(histogram));
    }
    for arc in profile.arcs_mut() {
        (arc.frompc, arc.selfpc) = (place.of(arc.frompc), place.of(arc.selfpc));
    }
    for block in profile.blocks_mut() {
        block.addr = place.of(block.addr);
    }
}

/// The label of each image: its name without directories, or the whole path where two names are equal.
fn labels(paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut known = HashSet::new();
    let shared: HashSet<Option<String>> = paths.iter().map(name).filter(|name| !known.insert(name.clone())).collect();
    let label = |path: &PathBuf| match name(path) {
        Some(name) if !shared.contains(&Some(name.clone())) => name,
        _ => path.display().to_string(),
    };
    paths.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let place = Placement { first: 0x400_100, last: 0x400_200, base: 0x1000 };
        let of = [0x400_0ff, 0x400_100, 0x400_200, 0x400_201].map(|address| place.of(address));
        assert_eq!(of, [NOWHERE, 0x1000, 0x1100, NOWHERE]);
        let high = Placement { first: u64::MAX - 1, last: u64::MAX, base: 0x1000 };
        assert_eq!([u64::MAX, 0].map(|address| high.of(address)), [0x1001, NOWHERE]);
        assert_eq!([0, 7, u64::MAX].map(|address| Placement::ALONE.of(address)), [0, 7, u64::MAX]);
    }

    #[test]
    fn labels_are_as_short_as_they_can_be() {
        let of = |paths: &[&str]| labels(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["./a.out", "lib/libx.so"]), ["a.out", "libx.so"]);
        assert_eq!(of(&["a/x.so", "a.out", "b/x.so"]), ["a/x.so", "a.out", "b/x.so"]);
        assert_eq!(of(&["..", ".."]), ["..", ".."]);
    }
}
