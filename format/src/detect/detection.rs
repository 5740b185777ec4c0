//! What detection finds.

use alloc::vec::Vec;

use super::evidence::Evidence;
use crate::{DataModel, Encoding};

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
    pub(super) fn with_model(mut self, model: DataModel) -> Detection {
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
