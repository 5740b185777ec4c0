//! Images side by side: each at a place of its own, as a loader puts the program and its shared objects.
//!
//! A profile has the addresses that the linker gave its image, and those of two images overlap. Here each image is
//! moved to a place where no other one is, and with it its symbols, its samples and the ends of its arcs. Beyond this
//! module there is one profile and one table of functions, whose addresses mean nothing but themselves. An image that
//! stands alone stays where it is.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use gmon::{Histogram, Profile};

use super::machine_code::Code;
use super::program::Image;

/// Images begin at multiples of this, and none at 0.
const PAGE: u64 = 4096;

/// Where every address goes that is no function's: no image is there.
const NOWHERE: u64 = 0;

/// Where an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placement {
    /// The first address that belongs to it, as the linker gave it.
    first: u64,
    /// The last one.
    last: u64,
    /// Where the first one goes.
    base: u64,
}

impl Placement {
    /// The place of an image that is not moved.
    const ALONE: Placement = Placement { first: 0, last: u64::MAX, base: 0 };

    /// Where an address of the image goes.
    fn of(self, address: u64) -> u64 {
        let is_inside = (self.first..=self.last).contains(&address);
        if is_inside { address.wrapping_add(self.shift()) } else { NOWHERE }
    }

    fn shift(self) -> u64 {
        self.base.wrapping_sub(self.first)
    }
}

/// An image, and where it is in the space of addresses that all images share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its file.
    pub path: PathBuf,
    /// The build identifier in hexadecimal, if the file has one.
    pub build_id: Option<String>,
    /// The addresses of its code, as the linker gave them.
    pub code: Range<u64>,
    /// How far each of its addresses is moved up, or down by wrapping around.
    pub shift: u64,
}

/// There is an image that has more addresses than are left beside the others.
#[derive(Debug)]
pub struct TooLarge {
    /// Its file.
    pub file: PathBuf,
}

/// Images, each with its place.
#[derive(Default)]
pub struct Images<'data> {
    all: Vec<Image<'data>>,
    places: Vec<Placement>,
    /// Their files.
    paths: Vec<PathBuf>,
    /// What tells their functions apart, where names clash.
    labels: Vec<String>,
}

impl<'data> Images<'data> {
    /// An image that stands alone.
    #[must_use]
    pub fn alone(image: Image<'data>) -> Images<'data> {
        Images {
            all: vec![image],
            places: vec![Placement::ALONE],
            paths: vec![PathBuf::new()],
            labels: vec![String::new()],
        }
    }

    /// Puts images side by side, each with room for all that it and its profile have.
    ///
    /// # Errors
    ///
    /// When all together are larger than the space of addresses, which only made-up ones are.
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

    /// The profiles of all images as one, with the addresses of their places.
    #[must_use]
    pub fn merge(&self, profiles: Vec<Profile>) -> Profile {
        let mut whole = Profile::default();
        for (mut profile, place) in profiles.into_iter().zip(&self.places) {
            if *place != Placement::ALONE {
                move_profile(&mut profile, *place);
            }
            whole.histograms.append(&mut profile.histograms);
            whole.arcs.append(&mut profile.arcs);
            whole.blocks.append(&mut profile.blocks);
        }
        whole
    }

    /// Where an address of one of the images goes.
    #[must_use]
    pub fn place(&self, image: usize, address: u64) -> u64 {
        self.places.get(image).map_or(NOWHERE, |place| place.of(address))
    }

    /// All images, as the linker made them.
    pub fn iter(&self) -> impl Iterator<Item = &Image<'data>> {
        self.all.iter()
    }

    /// Whether there is one image only, which is not moved.
    pub(crate) fn is_alone(&self) -> bool {
        self.all.len() == 1
    }

    /// How far each image was moved, its last address as the linker gave it, and what it is called.
    pub(crate) fn moves(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        self.places.iter().zip(&self.labels).map(|(place, label)| (place.shift(), place.last, label.as_str()))
    }

    /// Which histograms of a profile of all are of one image.
    pub(crate) fn histograms<'p>(&self, image: usize, profile: &'p Profile) -> &'p [Histogram] {
        // The images ascend, and what is of one image comes together.
        let Some(place) = self.places.get(image).filter(|_| !self.is_alone()) else { return &profile.histograms };
        let before = |end: u64| profile.histograms.partition_point(|histogram| histogram.lowpc < end);
        let end = self.places.get(image + 1).map_or(profile.histograms.len(), |next| before(next.base));
        profile.histograms.get(before(place.base)..end).unwrap_or_default()
    }

    /// The image at a place in the list.
    pub(crate) fn get(&self, at: usize) -> Option<&Image<'data>> {
        self.all.get(at)
    }

    /// Which images these are, and where they are.
    #[must_use]
    pub(crate) fn mappings(&self) -> Vec<Mapping> {
        let images = self.all.iter().zip(&self.places).zip(&self.paths);
        let mapping = |((image, place), path): ((&Image<'_>, &Placement), &PathBuf)| Mapping {
            path: path.clone(),
            build_id: image.build_id(),
            code: image.code.clone(),
            shift: place.shift(),
        };
        images.map(mapping).collect()
    }

    /// The machine code of each image, at its place.
    pub fn code(&self) -> impl Iterator<Item = Code<'data>> {
        let code = self.all.iter().zip(&self.places);
        code.map(|(image, place)| Code { start: place.of(image.machine_code.start), ..image.machine_code })
    }
}

/// The first and the last address that an image and its profile have to do with. Arcs do not count: where they come
/// from may be anywhere.
fn extent(image: &Image<'_>, profile: &Profile) -> (u64, u64) {
    let symbols = image.symbols.iter().map(|symbol| symbol.address..symbol.address);
    let histograms = profile.histograms.iter().map(|histogram| histogram.lowpc..histogram.highpc);
    let (mut first, mut last) = (image.code.start, image.code.end.max(image.code.start));
    for range in symbols.chain(histograms) {
        first = first.min(range.start);
        last = last.max(range.end);
    }
    (first, last)
}

/// Moves all that a profile says of an image to the image's place.
fn move_profile(profile: &mut Profile, place: Placement) {
    for histogram in &mut profile.histograms {
        (histogram.lowpc, histogram.highpc) = (place.of(histogram.lowpc), place.of(histogram.highpc));
    }
    for arc in &mut profile.arcs {
        (arc.frompc, arc.selfpc) = (place.of(arc.frompc), place.of(arc.selfpc));
    }
    for block in &mut profile.blocks {
        block.addr = place.of(block.addr);
    }
}

/// What each image is called: its name without directories, or with them where two have the same.
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
