//! Calls from one image to another, which the files beside profiles contain and profiles do not.

use std::collections::HashMap;
use std::ops::Range;

use gmon::{Arc, Profile};

use crate::program::image::address_space::Images;

/// A call. Each end is the index of an image and an address as the linker gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) from: (usize, u64),
    pub(super) to: (usize, u64),
    pub(super) count: u64,
}

/// Calls from one image to another. The program is image 0; its shared objects follow.
#[derive(Debug, Default)]
pub(crate) struct CallsBetween(Vec<Call>);

impl CallsBetween {
    pub(super) fn push(&mut self, call: Call) {
        self.0.push(call);
    }

    /// Adds up the calls of each pair of places. The order of the result does not depend on the order of the runs.
    pub(super) fn merge(&mut self) {
        self.0.sort_unstable_by_key(|call| (call.from, call.to));
        self.0.dedup_by(|later, first| {
            let is_same = (later.from, later.to) == (first.from, first.to);
            first.count = if is_same { first.count.saturating_add(later.count) } else { first.count };
            is_same
        });
    }

    /// Removes the calls from and to an image that is left out. The indexes of later images decrease by one.
    pub(crate) fn remove_image(&mut self, gone: usize) {
        self.0.retain(|call| call.from.0 != gone && call.to.0 != gone);
        for call in &mut self.0 {
            for place in [&mut call.from.0, &mut call.to.0] {
                *place -= usize::from(*place > gone);
            }
        }
    }

    /// Removes calls from unknown places from the images' profiles where this list has the same calls with their
    /// callers.
    pub(crate) fn remove_known(&self, profiles: &mut [Profile], code: &[Range<u64>]) {
        let mut known: HashMap<(usize, u64), u64> = HashMap::new();
        for call in &self.0 {
            let count = known.entry(call.to).or_default();
            *count = count.saturating_add(call.count);
        }
        for (place, (profile, code)) in profiles.iter_mut().zip(code).enumerate() {
            profile.retain_arcs(|arc| {
                // Address 0 of a shared object holds the ELF header and no code.
                let is_from_nowhere = arc.frompc == 0 || !code.contains(&arc.frompc);
                let Some(left) = known.get_mut(&(place, arc.selfpc)).filter(|left| is_from_nowhere && **left > 0)
                else {
                    return true;
                };
                let count = arc.count.min(*left);
                arc.count -= count;
                *left -= count;
                arc.count > 0
            });
        }
    }

    /// The calls, with addresses in the address space that the images share.
    pub(crate) fn arcs(&self, images: &Images<'_>) -> impl Iterator<Item = Arc> {
        let at = |(image, address)| images.place(image, address);
        self.0.iter().map(move |call| Arc::new(at(call.from), at(call.to), call.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(from: usize, to: usize, count: u64) -> Call {
        Call { from: (from, 0x1010), to: (to, 0x1000), count }
    }

    #[test]
    fn calls_from_nowhere_that_are_known_better_are_taken_out_once() {
        let calls = CallsBetween(vec![call(1, 0, 5), call(2, 0, 2), call(0, 1, 9)]);
        let arc = |frompc, selfpc, count| Arc::new(frompc, selfpc, count);
        let arcs = vec![arc(0, 0x1000, 8), arc(0x1100, 0x1000, 4), arc(0, 0x1200, 3)];
        let profile = Profile::new().with_arcs(arcs);
        let other = Profile::new().with_arcs(vec![arc(0, 0x1000, 4)]);
        let mut profiles = [profile, other];
        calls.remove_known(&mut profiles, &[0x1000..0x2000, 0x1000..0x2000]);
        let [profile, other] = profiles;
        assert_eq!(profile.arcs(), [arc(0, 0x1000, 1), arc(0x1100, 0x1000, 4), arc(0, 0x1200, 3)]);
        assert_eq!(other.arcs(), [], "never more than there are");
    }

    #[test]
    fn places_follow_when_an_object_is_given_up() {
        let mut calls = CallsBetween(vec![call(0, 1, 1), call(0, 2, 2), call(2, 3, 3), call(3, 0, 4)]);
        calls.remove_image(1);
        assert_eq!(calls.0, [call(0, 1, 2), call(1, 2, 3), call(2, 0, 4)]);
        calls.remove_image(2);
        assert_eq!(calls.0, [call(0, 1, 2)]);
        calls.remove_image(2);
        assert_eq!(calls.0, [call(0, 1, 2)]);
    }
}
