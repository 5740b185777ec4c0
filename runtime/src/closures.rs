//! Closures behind pointers.

/// Declares a trait that all closures with these arguments implement, for use as `dyn` instead of `dyn FnMut`.
///
/// The table of a closure as `dyn FnMut` also has a function that takes the closure by value, which nobody calls. In a
/// start-up object, this function and its unwind table take about 60 bytes for each closure.
macro_rules! closure_trait {
    ($(#[$attribute:meta])* $visibility:vis $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        $(#[$attribute])*
        $visibility trait $name {
            /// Calls the closure.
            fn call(&mut self, $($argument: $type),*) $(-> $result)?;
        }

        impl<F: FnMut($($type),*) $(-> $result)?> $name for F {
            fn call(&mut self, $($argument: $type),*) $(-> $result)? {
                self($($argument),*)
            }
        }
    };
}

pub(crate) use closure_trait;
