//! What the detection of all families shares: the file, the candidates, the evidence, and the result.

pub(crate) mod candidates;
pub(crate) mod evidence;
pub(crate) mod file;
pub(crate) mod foreign;

use alloc::vec::Vec;

use crate::{DataModel, Encoding};
use evidence::Evidence;

/// The encoding of a file, and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    encoding: Encoding,
    evidence: Vec<Evidence>,
}

impl Detection {
    pub(crate) fn new(encoding: Encoding, evidence: Vec<Evidence>) -> Detection {
        Detection { encoding, evidence }
    }

    /// The detection with another data model.
    pub(crate) fn with_model(mut self, model: DataModel) -> Detection {
        self.encoding.model = model;
        self
    }

    /// The encoding of the file.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The facts that the encoding follows from. Each is a sentence.
    #[must_use]
    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }
}
