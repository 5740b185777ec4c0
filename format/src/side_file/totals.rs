//! Sums over a side file.

use super::content::SideFile;
use super::object::Kind;
use crate::encode::side_file::CutReason;
use crate::layout::side_file::{ELSEWHERE, KERNEL};

/// Samples and calls outside of all objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outside {
    /// Samples in the kernel.
    pub kernel: u64,
    /// Samples in the vDSO.
    pub vdso: u64,
    /// Samples in no known object.
    pub elsewhere: u64,
    /// Calls of functions in no known object.
    pub calls: u64,
}

impl SideFile {
    /// The samples and calls outside of all objects, of all threads.
    #[must_use]
    pub fn outside(&self) -> Outside {
        let mut outside = Outside::default();
        for samples in self.samples.iter().filter(|samples| samples.thread.is_none()) {
            let is_vdso = || self.objects.get(&samples.object).is_some_and(|object| object.kind == Kind::Vdso);
            let sum = match samples.object {
                KERNEL => &mut outside.kernel,
                ELSEWHERE => &mut outside.elsewhere,
                _ if is_vdso() => &mut outside.vdso,
                _ => continue,
            };
            *sum = sum.saturating_add(samples.total());
        }
        let calls = self.calls.iter().filter(|calls| calls.thread.is_none()).flat_map(|calls| &calls.calls);
        let elsewhere = calls.filter(|call| matches!(call.callee.object, KERNEL | ELSEWHERE));
        outside.calls = elsewhere.fold(0, |sum, call| sum.saturating_add(call.count));
        outside
    }

    /// All ticks of which the chain of callers is missing, wholly or in part, by reason: those of nodes below a cut,
    /// and those that are in no node. The other ticks of the tree have whole chains. The codes of the reasons ascend.
    pub fn cut_ticks(&self) -> impl Iterator<Item = (CutReason, u64)> + use<> {
        let mut ticks = self.cuts.clone();
        for (node, cut) in self.contexts.nodes.iter().zip(self.contexts.cuts()) {
            let Some(reason) = cut.filter(|_| node.ticks > 0) else { continue };
            let sum = ticks.entry(reason).or_insert(0);
            *sum = sum.saturating_add(node.ticks);
        }
        ticks.into_iter()
    }
}
