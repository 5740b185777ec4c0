//! The runtime's state, and what the child of a fork does with each part of it.
//!
//! Each static of the crate stands with the code that uses it, in one of two types:
//!
//! * [`Reset`]: a child starts anew. The type knows the first value. [`resets!`] defines these statics, and with them
//!   the module's function that resets them. A [`reset_list!`] names the module. The compiler rejects a module that no
//!   list names, because nobody calls the function then.
//! * [`Inherited`]: a child goes on with its parent's value, and the constructor wants the reason.
//!
//! `tests/tests/house/structure` rejects a static in any other type.

use core::ops::Deref;
use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed,
};

/// A value that a child can reset. `FIRST` is the first value of a number; other types have one first value, which is
/// number 0.
pub(crate) trait Resettable<const FIRST: i128 = 0> {
    /// The first value.
    const VALUE: Self;

    /// Gives the value its first value again. Called in the child of a fork, which has one thread. Memory may stay
    /// mapped, but is empty.
    fn reset(&self);

    /// Changes each part that [`Resettable::reset`] must reset.
    #[cfg(test)]
    fn change(&self);

    /// Whether each part has its first value.
    #[cfg(test)]
    fn is_first(&self) -> bool;
}

/// A value that a child resets.
#[repr(transparent)]
pub(crate) struct Reset<T, const FIRST: i128 = 0>(T);

impl<T: Resettable<FIRST>, const FIRST: i128> Reset<T, FIRST> {
    pub(crate) const fn new() -> Reset<T, FIRST> {
        Reset(T::VALUE)
    }

    /// Gives the value its first value again.
    #[inline(always)]
    pub(crate) fn reset(reset: &Reset<T, FIRST>) {
        reset.0.reset();
    }
}

impl<T, const FIRST: i128> Deref for Reset<T, FIRST> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A value that a child has from its parent.
#[repr(transparent)]
pub(crate) struct Inherited<T>(T);

impl<T> Inherited<T> {
    /// A static that a child does not reset, with the reason.
    pub(crate) const fn new(reason: &'static str, value: T) -> Inherited<T> {
        assert!(!reason.is_empty());
        Inherited(value)
    }

    /// The value, for constants. Other code need not call this.
    pub(crate) const fn value(inherited: &Inherited<T>) -> &T {
        &inherited.0
    }
}

impl<T> Deref for Inherited<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Defines statics that a child resets. A module has one such block.
macro_rules! resets {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $value:expr;)+) => {
        $($(#[$attribute])* $visibility static $name: $type = $value;)+

        /// Resets the statics of this module.
        #[cfg_attr(all(feature = "start", not(test)), deny(dead_code))]
        #[inline(always)]
        pub(crate) fn reset_statics() {
            $($crate::state::Reset::reset(&$name);)+
        }

        /// Passes the statics of this module to `each`, with their names.
        #[cfg(test)]
        pub(crate) fn each_static(each: &mut dyn FnMut(&'static str, &'static dyn $crate::state::State)) {
            $(each(concat!(module_path!(), "::", stringify!($name)), &$name);)+
        }
    };
}
pub(crate) use resets;

/// Names modules whose statics a child resets, and other lists.
macro_rules! reset_list {
    ($($($part:ident)::+),* $(,)?) => {
        /// Resets the statics of all modules in the list.
        #[cfg_attr(all(feature = "start", not(test)), deny(dead_code))]
        #[inline(always)]
        pub(crate) fn reset_statics() {
            $($($part)::+::reset_statics();)*
        }

        /// Passes the statics of all modules in the list to `each`, with their names.
        #[cfg(test)]
        pub(crate) fn each_static(each: &mut dyn FnMut(&'static str, &'static dyn $crate::state::State)) {
            $($($part)::+::each_static(each);)*
        }
    };
}
pub(crate) use reset_list;

macro_rules! numbers {
    ($($atomic:ident: $number:ty),+) => {$(
        impl<const FIRST: i128> Resettable<FIRST> for $atomic {
            const VALUE: $atomic = $atomic::new(FIRST as $number);

            #[inline(always)]
            fn reset(&self) {
                self.store(FIRST as $number, Relaxed);
            }

            #[cfg(test)]
            fn change(&self) {
                self.store(!(FIRST as $number), Relaxed);
            }

            #[cfg(test)]
            fn is_first(&self) -> bool {
                self.load(Relaxed) == FIRST as $number
            }
        }
    )+};
}

numbers!(AtomicI32: i32, AtomicI64: i64, AtomicU32: u32, AtomicU64: u64, AtomicUsize: usize);

/// The first value is false.
impl Resettable for AtomicBool {
    const VALUE: AtomicBool = AtomicBool::new(false);

    #[inline(always)]
    fn reset(&self) {
        self.store(false, Relaxed);
    }

    #[cfg(test)]
    fn change(&self) {
        self.store(true, Relaxed);
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        !self.load(Relaxed)
    }
}

/// The first value is null. What the pointer pointed to stays as it is.
impl<T> Resettable for AtomicPtr<T> {
    const VALUE: AtomicPtr<T> = AtomicPtr::new(ptr::null_mut());

    #[inline(always)]
    fn reset(&self) {
        self.store(ptr::null_mut(), Relaxed);
    }

    #[cfg(test)]
    fn change(&self) {
        self.store(ptr::dangling_mut(), Relaxed);
    }

    #[cfg(test)]
    fn is_first(&self) -> bool {
        self.load(Relaxed).is_null()
    }
}

/// A static of a module, for the tests of all statics.
#[cfg(test)]
pub(crate) trait State {
    fn change(&self);
    fn is_first(&self) -> bool;
}

#[cfg(test)]
impl<T: Resettable<FIRST>, const FIRST: i128> State for Reset<T, FIRST> {
    fn change(&self) {
        self.0.change();
    }

    fn is_first(&self) -> bool {
        self.0.is_first()
    }
}

/// Checks that `reset` gives all statics of a list their first value again. Call this in a process of its own.
#[cfg(test)]
pub(crate) fn check_reset(each_static: fn(&mut dyn FnMut(&'static str, &'static dyn State)), reset: fn()) {
    each_static(&mut |name, state| {
        assert!(state.is_first(), "{name} has its first value at first");
        state.change();
    });
    each_static(&mut |name, state| {
        assert!(!state.is_first(), "{name} has a first value that can be told from another");
    });
    reset();
    each_static(&mut |name, state| assert!(state.is_first(), "{name} is not reset"));
}
