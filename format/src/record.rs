//! One record of a file.

use alloc::vec::Vec;
use core::ops::Range;

use crate::{Arc, Histogram};

/// One record of a file, independent of the file's form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Record {
    /// Samples.
    Histogram(Histogram),
    /// Calls.
    Arc(Arc),
    /// Calls, and the order in which the arcs were first counted, from 1 on; 0 if the order is unknown.
    OrderedArc {
        /// The calls.
        arc: Arc,
        /// The order.
        order: u32,
    },
    /// Executions of a basic block.
    Block(Block),
    /// An executable or a shared object.
    Image(Image),
}

/// Executions of one basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Block {
    /// The block's first address.
    pub addr: u64,
    /// The number of executions.
    pub count: u64,
}

/// An executable or a shared object that the file lists: a dyld or rld state of Darwin and NeXT, or a module of
/// illumos.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Image {
    path: Vec<u8>,
    slide: Option<u64>,
    header: Option<u64>,
    range: Option<Range<u64>>,
}

impl Block {
    /// Makes a count of the executions of the block at `addr`.
    #[must_use]
    pub const fn new(addr: u64, count: u64) -> Block {
        Block { addr, count }
    }
}

impl Image {
    /// Makes an image of which only the path is known.
    #[must_use]
    pub fn new(path: impl Into<Vec<u8>>) -> Image {
        Image { path: path.into(), ..Image::default() }
    }

    /// The image with its slide: the difference between its addresses in the process and those of the linker.
    #[must_use]
    pub fn with_slide(self, slide: u64) -> Image {
        Image { slide: Some(slide), ..self }
    }

    /// The image with the address of its header in the process.
    #[must_use]
    pub fn with_header(self, header: u64) -> Image {
        Image { header: Some(header), ..self }
    }

    /// The image with its addresses in the process.
    #[must_use]
    pub fn with_range(self, range: Range<u64>) -> Image {
        Image { range: Some(range), ..self }
    }

    /// The path of the file, without the NUL at its end.
    #[must_use]
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The difference between the addresses in the process and those of the linker, modulo 2^64.
    #[must_use]
    pub fn slide(&self) -> Option<u64> {
        self.slide
    }

    /// The address of the image's header in the process.
    #[must_use]
    pub fn header(&self) -> Option<u64> {
        self.header
    }

    /// The addresses in the process.
    #[must_use]
    pub fn range(&self) -> Option<Range<u64>> {
        self.range.clone()
    }
}
