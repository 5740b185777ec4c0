//! Ticks of functions, arcs, and contexts.

use super::tree::Contexts;

/// Ticks of a function or an arc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// The ticks in the function itself.
    pub own: u64,
    /// The ticks in functions above the function on the stack.
    pub below: u64,
}

/// The ticks of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionTicks {
    /// All ticks.
    pub all: Ticks,
    /// The ticks that count, where the user restricts the time (`-n`, `-N`, `-E`, `-F`).
    pub counted: Ticks,
}

/// The ticks of each context.
#[derive(Debug)]
pub(super) struct Sums {
    /// The ticks of the context alone.
    pub(super) own: Vec<u64>,
    /// The ticks of the context and of all contexts below.
    pub(super) whole: Vec<u64>,
}

impl Sums {
    pub(super) fn new(contexts: &Contexts, own: Vec<u64>) -> Sums {
        let mut whole = own.clone();
        contexts.add_up(&mut whole);
        Sums { own, whole }
    }

    /// Adds up the ticks of the contexts that have the same key, each tick once.
    pub(super) fn ticks(&self, contexts: &Contexts, keys: usize, key: impl Fn(usize) -> Option<usize>) -> Vec<Ticks> {
        let mut ticks = vec![Ticks::default(); keys];
        for (at, own) in self.own.iter().enumerate() {
            if let Some(key) = key(at) {
                ticks[key].own = ticks[key].own.saturating_add(*own);
            }
        }
        contexts.each_outermost(keys, key, |key, at| {
            ticks[key].below = ticks[key].below.saturating_add(self.whole[at]);
        });
        // Until here, the own ticks were among those below.
        ticks.iter_mut().for_each(|ticks| ticks.below = ticks.below.saturating_sub(ticks.own));
        ticks
    }
}
