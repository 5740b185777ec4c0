//! The sum of the side files of one image's runs.

use std::collections::BTreeMap;

use gmon::side_file::{Accumulator, Identity, SideFile};

/// The identity of a program, or without one its path.
type ProgramKey = (Identity, Vec<u8>);

/// The sums of side files, one for each program: an image may be reported with profiles of another program or build,
/// and such files cannot be added up.
#[derive(Default)]
pub(super) struct SideSum(BTreeMap<Option<ProgramKey>, Sum>);

/// The sum of the side files of one program.
enum Sum {
    /// A single file, which is kept as it is.
    One(Box<SideFile>),
    Several(Box<Accumulator>),
}

impl SideSum {
    /// Adds a side file.
    ///
    /// # Errors
    ///
    /// When the file has another sampling rate, or when a sum exceeds 64 bits.
    pub(super) fn add(&mut self, side: SideFile) -> gmon::Result<()> {
        let key = side.program().map(|program| match &program.identity {
            Identity::Unknown => (Identity::Unknown, program.path.clone()),
            identity => (identity.clone(), Vec::new()),
        });
        let Some(sum) = self.0.get_mut(&key) else {
            self.0.insert(key, Sum::One(Box::new(side)));
            return Ok(());
        };
        if let Sum::One(first) = sum {
            let mut several = Accumulator::new();
            several.add(first)?;
            *sum = Sum::Several(Box::new(several));
        }
        match sum {
            Sum::Several(several) => several.add(&side),
            Sum::One(_) => Ok(()),
        }
    }

    /// Adds the files that follow these. Returns `None` when they cannot be added up.
    pub(super) fn append(&mut self, later: SideSum) -> Option<()> {
        later.finish().into_iter().try_for_each(|side| self.add(side).ok())
    }

    /// The sum for each program.
    pub(super) fn finish(self) -> Vec<SideFile> {
        let sums = self.0.into_values().map(|sum| match sum {
            Sum::One(side) => *side,
            Sum::Several(several) => several.finish(),
        });
        sums.collect()
    }
}
