//! The content of a side file.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::contexts::ContextTree;
use super::counts::{Calls, Samples, Thread};
use super::estimates::Estimates;
use super::object::{Mapping, Object};
use super::selections::Selection;
use crate::encode::side_file::CutReason;
use crate::layout::mark;
use crate::{Order, Word};

pub(super) use super::refused::{Added, Refused};

/// The content of a side file.
///
/// Everything that refers to an object or a thread is added after that object or thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideFile {
    pub(super) word: Word,
    pub(super) order: Order,
    pub(super) is_live: bool,
    pub(super) profile: Option<Checksum>,
    /// Each is a key, `=`, and the value.
    pub(super) properties: Vec<Box<[u8]>>,
    pub(super) objects: BTreeMap<u32, Object>,
    /// The names of the functions of objects that are generated code.
    pub(super) functions: BTreeMap<u32, Vec<Box<[u8]>>>,
    pub(super) threads: Vec<Thread>,
    pub(super) mappings: Vec<Mapping>,
    pub(super) samples: Vec<Samples>,
    pub(super) calls: Vec<Calls>,
    /// The calls that were counted on demand; `None` if all calls were counted.
    pub(super) selections: Option<Vec<Selection>>,
    /// The samples that were taken while calls were counted on demand.
    pub(super) counted_samples: Vec<Samples>,
    /// The calls that were estimated from windows.
    pub(super) estimates: Option<Estimates>,
    pub(super) contexts: ContextTree,
    pub(super) cuts: BTreeMap<CutReason, u64>,
    /// The sums of all counts in `samples`, in `counted_samples`, in `calls`, and in `cuts`, which fit 64 bits.
    pub(super) samples_total: u64,
    pub(super) counted_samples_total: u64,
    pub(super) calls_total: u64,
    pub(super) cuts_total: u64,
}

/// The length of a file, and the sum of the [marks](mark) of its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    /// The number of bytes.
    pub length: u64,
    /// The sum.
    pub sum: u64,
}

impl Checksum {
    /// The checksum of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Checksum {
        let marks = (0..).zip(bytes).map(|(position, byte)| mark(position, *byte));
        Checksum { length: bytes.len() as u64, sum: marks.fold(0, u64::wrapping_add) }
    }

    /// Whether a file starts with the bytes of this checksum.
    #[must_use]
    pub fn begins(&self, bytes: &[u8]) -> bool {
        let start = usize::try_from(self.length).ok().and_then(|length| bytes.get(..length));
        start.is_some_and(|start| Checksum::of(start) == *self)
    }
}

impl SideFile {
    /// Makes an empty side file of a program with addresses of this size.
    #[must_use]
    pub fn new(word: Word) -> SideFile {
        SideFile {
            word,
            order: Order::Little,
            is_live: false,
            profile: None,
            properties: Vec::new(),
            objects: BTreeMap::new(),
            functions: BTreeMap::new(),
            threads: Vec::new(),
            mappings: Vec::new(),
            samples: Vec::new(),
            calls: Vec::new(),
            selections: None,
            counted_samples: Vec::new(),
            estimates: None,
            contexts: ContextTree::default(),
            cuts: BTreeMap::new(),
            samples_total: 0,
            counted_samples_total: 0,
            calls_total: 0,
            cuts_total: 0,
        }
    }

    /// Sets the byte order in which the file is written.
    pub fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    /// Sets whether the program still runs, or was killed.
    pub fn set_live(&mut self, is_live: bool) {
        self.is_live = is_live;
    }

    /// Sets the profile that the file belongs to: the checksum of the profile, or of the start of a live one.
    pub fn set_profile(&mut self, profile: Option<Checksum>) {
        self.profile = profile.filter(|profile| profile.length > 0);
    }
}
