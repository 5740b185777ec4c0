//! What the rows and frames of a difference are about.

use super::join::Joined;
use crate::model::analysis::Analysis;
use crate::model::flame::{Flame, FlameSubject};
use crate::program::symbols::functions::FunctionId;

/// The joined functions, and where each function of both sides is among them.
#[derive(Debug)]
pub(super) struct Subjects {
    pub(super) joined: Vec<Joined>,
    of: [Vec<usize>; 2],
    /// For each cycle of both sides, the lowest number of its members.
    cycles: [Vec<usize>; 2],
}

/// What a frame is about, the same for both sides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum FrameKey {
    /// Joined functions: their number.
    Functions(usize),
    /// A function that was inlined: its symbol.
    Inlined(Vec<u8>),
    /// A cycle: the lowest number of its members.
    Cycle(usize),
    /// Anything else.
    Other(FlameSubject),
}

impl Subjects {
    pub(super) fn new<'data>(joined: Vec<Joined>, sides: [&Analysis<'data>; 2]) -> Subjects {
        let mut of = sides.map(|side| vec![0; side.functions.len()]);
        for (at, group) in joined.iter().enumerate() {
            for (of, ids) in of.iter_mut().zip(group) {
                ids.iter().for_each(|id| of[id.index()] = at);
            }
        }
        // Copies are where their functions are.
        for (of, side) in of.iter_mut().zip(sides) {
            for id in side.functions.ids().filter(|id| !side.functions.is_whole(*id)) {
                of[id.index()] = of[side.functions[id].counts_for.index()];
            }
        }
        let cycles = [0, 1].map(|side: usize| {
            let cycles = sides[side].graph().cycles().iter();
            let lowest = cycles.map(|cycle| cycle.members.iter().map(|id| of[side][id.index()]).min().unwrap_or(0));
            lowest.collect()
        });
        Subjects { joined, of, cycles }
    }

    /// Returns the number of the joined functions that a function is one of.
    pub(super) fn number(&self, side: usize, id: FunctionId) -> usize {
        self.of[side][id.index()]
    }

    /// Returns what a frame of one side is about.
    pub(super) fn key(&self, side: usize, flame: &Flame, subject: FlameSubject) -> FrameKey {
        match subject {
            FlameSubject::Function(id) => FrameKey::Functions(self.number(side, id)),
            FlameSubject::Inlined(number) => {
                FrameKey::Inlined(flame.inlined.get(number as usize).cloned().unwrap_or_default())
            }
            FlameSubject::Cycle(at) => FrameKey::Cycle(self.cycles[side][at]),
            other => FrameKey::Other(other),
        }
    }
}
