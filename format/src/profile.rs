//! The content of a profile, independent of the file's form.

use alloc::collections::{BTreeMap, btree_map};
use alloc::vec::Vec;
use core::iter::FusedIterator;

use crate::histograms::Histograms;
use crate::{Arc, Block, Error, Histogram, Image, Record};

/// The content of one profile file, or of the sum of several.
///
/// ```
/// use gmon::{Arc, Histogram, Profile, Unit};
///
/// let mut profile = Profile::new();
/// profile.add_histogram(Histogram::new(0x1000..0x1010, Unit::seconds(100), vec![3_u16, 0, 0, 1])?)?;
/// profile.add_arc(Arc::new(0x1004, 0x1008, 12));
/// assert_eq!(profile.histograms()[0].total(), 4);
/// # Ok::<(), gmon::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "Parts", try_from = "Parts"))]
pub struct Profile {
    pub(crate) histograms: Histograms,
    pub(crate) arcs: Vec<Arc>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) orders: BTreeMap<(u64, u64), u32>,
    pub(crate) images: Vec<Image>,
}

impl Profile {
    /// Makes an empty profile.
    #[must_use]
    pub const fn new() -> Profile {
        Profile {
            histograms: Histograms::new(),
            arcs: Vec::new(),
            blocks: Vec::new(),
            orders: BTreeMap::new(),
            images: Vec::new(),
        }
    }

    /// The samples. Usually one histogram; several if there are several address ranges, and none in a file with only
    /// calls. Ranges do not overlap, and all histograms have the same unit.
    #[must_use]
    pub fn histograms(&self) -> &[Histogram] {
        self.histograms.list()
    }

    /// The calls, in the order of the file. The same pair of addresses may occur more than once: the counts add up.
    #[must_use]
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The calls, to be changed.
    pub fn arcs_mut(&mut self) -> &mut [Arc] {
        &mut self.arcs
    }

    /// Removes the calls for which `keep` returns false. `keep` may change the others.
    pub fn retain_arcs(&mut self, keep: impl FnMut(&mut Arc) -> bool) {
        self.arcs.retain_mut(keep);
    }

    /// Returns the calls, and leaves none.
    pub fn take_arcs(&mut self) -> Vec<Arc> {
        core::mem::take(&mut self.arcs)
    }

    /// The executions of basic blocks (GNU form only; current compilers do not count these).
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The executions of basic blocks, to be changed.
    pub fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.blocks
    }

    /// Removes the executions of basic blocks for which `keep` returns false. `keep` may change the others.
    pub fn retain_blocks(&mut self, keep: impl FnMut(&mut Block) -> bool) {
        self.blocks.retain_mut(keep);
    }

    /// Returns the executions of basic blocks, and leaves none.
    pub fn take_blocks(&mut self) -> Vec<Block> {
        core::mem::take(&mut self.blocks)
    }

    /// The executables and shared objects that the file lists (Darwin, NeXT, illumos).
    #[must_use]
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// The order in which calls were first made, from 1 on: the number for each pair of frompc and selfpc that has one
    /// (Darwin, NeXT).
    #[must_use]
    pub fn orders(&self) -> Orders<'_> {
        Orders(self.orders.iter())
    }

    /// The order of one pair of frompc and selfpc, if the file has it.
    #[must_use]
    pub fn order(&self, frompc: u64, selfpc: u64) -> Option<u32> {
        self.orders.get(&(frompc, selfpc)).copied()
    }

    /// Whether the profile has nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Profile::default()
    }

    /// Adds samples: to the histogram of the same range, or as a further histogram if there is none.
    ///
    /// # Errors
    ///
    /// When the range overlaps the range of another histogram without being the same, when two histograms differ in
    /// their unit, when two histograms of one range differ in their number of bins, or when a sum needs more than 64
    /// bits. After an error, the profile is the same as before.
    pub fn add_histogram(&mut self, histogram: Histogram) -> Result<(), Error> {
        self.histograms.add(histogram)
    }

    /// Adds calls.
    pub fn add_arc(&mut self, arc: Arc) {
        self.arcs.push(arc);
    }

    /// Adds the calls of many arcs.
    pub fn add_arcs(&mut self, arcs: impl IntoIterator<Item = Arc>) {
        self.arcs.extend(arcs);
    }

    /// Adds executions of a basic block.
    pub fn add_block(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Adds executions of many basic blocks.
    pub fn add_blocks(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.blocks.extend(blocks);
    }

    /// Adds an executable or a shared object.
    pub fn add_image(&mut self, image: Image) {
        self.images.push(image);
    }

    /// Records when the first call from `frompc` to `selfpc` happened: 1 is the earliest arc of the run, and 0 an
    /// unknown order. If several orders are set for one pair, the profile keeps the lowest.
    pub fn set_order(&mut self, frompc: u64, selfpc: u64, order: u32) {
        if order != 0 {
            let known = self.orders.entry((frompc, selfpc)).or_insert(order);
            *known = order.min(*known);
        }
    }

    /// Adds what a record of a file contains. A sparse histogram takes time for all counts of the sum, so that
    /// [`Profile::from_records`] is faster for a `PROF` file with many objects of samples.
    ///
    /// # Errors
    ///
    /// As for [`Profile::add_histogram`], and when the bins of two histograms differ in size by more than a millionth
    /// of two code bytes.
    pub fn add_record(&mut self, record: Record) -> Result<(), Error> {
        match record {
            Record::Histogram(histogram) => self.histograms.add_alike(histogram)?,
            Record::Arc(arc) => self.add_arc(arc),
            Record::OrderedArc { arc, order } => {
                self.add_arc(arc);
                self.set_order(arc.frompc, arc.selfpc, order);
            }
            Record::Block(block) => self.add_block(block),
            Record::Image(image) => self.add_image(image),
        }
        Ok(())
    }

    /// Adds everything of another profile: histograms of the same range are added up, arcs, blocks, and images are
    /// appended without merging, and of two orders of one call the profile gets the lower one.
    ///
    /// # Errors
    ///
    /// As for [`Profile::add_histogram`]. After an error, the profile is the same as before.
    pub fn append(&mut self, other: Profile) -> Result<(), Error> {
        for histogram in other.histograms.list() {
            self.histograms.check(histogram)?;
        }
        for histogram in other.histograms.finish() {
            self.add_histogram(histogram)?;
        }
        self.arcs.extend(other.arcs);
        self.blocks.extend(other.blocks);
        for ((frompc, selfpc), order) in other.orders {
            self.set_order(frompc, selfpc, order);
        }
        self.images.extend(other.images);
        Ok(())
    }

    /// Returns the histograms, and leaves none.
    pub fn take_histograms(&mut self) -> Vec<Histogram> {
        core::mem::take(&mut self.histograms).finish()
    }

    /// Sets what one sample stands for, in all histograms.
    pub fn set_unit(&mut self, unit: crate::Unit) {
        self.histograms.set_unit(unit);
    }

    /// A profile of samples only.
    ///
    /// # Errors
    ///
    /// As for [`Profile::add_histogram`].
    pub fn of_samples(histograms: impl IntoIterator<Item = Histogram>) -> Result<Profile, Error> {
        let mut profile = Profile::new();
        for histogram in histograms {
            profile.add_histogram(histogram)?;
        }
        Ok(profile)
    }

    /// The profile with further calls.
    #[must_use]
    pub fn with_arcs(mut self, arcs: impl IntoIterator<Item = Arc>) -> Profile {
        self.arcs.extend(arcs);
        self
    }

    /// The profile with further executions of basic blocks.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = Block>) -> Profile {
        self.blocks.extend(blocks);
        self
    }
}

/// Iterates over the orders of first calls: see [`Profile::orders`].
#[derive(Clone, Debug)]
pub struct Orders<'a>(btree_map::Iter<'a, (u64, u64), u32>);

impl Iterator for Orders<'_> {
    type Item = ((u64, u64), u32);

    fn next(&mut self) -> Option<((u64, u64), u32)> {
        self.0.next().map(|(pair, order)| (*pair, *order))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Orders<'_> {}
impl FusedIterator for Orders<'_> {}

/// What a profile is made of, before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Parts {
    histograms: Vec<Histogram>,
    arcs: Vec<Arc>,
    blocks: Vec<Block>,
    orders: Vec<((u64, u64), u32)>,
    images: Vec<Image>,
}

#[cfg(feature = "serde")]
impl From<Profile> for Parts {
    fn from(profile: Profile) -> Parts {
        let Profile { histograms, arcs, blocks, orders, images } = profile;
        Parts { histograms: histograms.finish(), arcs, blocks, orders: orders.into_iter().collect(), images }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Parts> for Profile {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Profile, Error> {
        let Parts { histograms, arcs, blocks, orders, images } = parts;
        let mut profile = Profile::of_samples(histograms)?.with_arcs(arcs).with_blocks(blocks);
        for ((frompc, selfpc), order) in orders {
            profile.set_order(frompc, selfpc, order);
        }
        profile.images = images;
        Ok(profile)
    }
}
