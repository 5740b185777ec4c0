//! The functions that code comes from, those that the compiler inlined among them.

use std::borrow::Cow;

use addr2line::Context;

use super::honesty;
use super::sections::{Reader, Sections};

/// One of the functions that an address comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The function's name as the linker knows it, or as the debug information has it.
    pub function: Option<Cow<'a, str>>,
    /// The file, with its directories.
    pub file: Option<Cow<'a, str>>,
    /// The line, counted from one.
    pub line: Option<u32>,
}

/// Finds the functions that addresses come from.
pub struct Frames<'a> {
    context: Context<Reader<'a>>,
}

/// The deepest nesting of inlined functions that is followed.
const DEEPEST: usize = 1000;

impl<'a> Frames<'a> {
    pub(super) fn new(sections: &'a Sections<'_>) -> Option<Frames<'a>> {
        if !honesty::is_honest(sections) {
            return None;
        }
        let dwarf = gimli::Dwarf::load(|id| Ok::<_, gimli::Error>(sections.get(id))).ok()?;
        Some(Frames { context: Context::from_dwarf(dwarf).ok()? })
    }

    /// The functions that an address comes from: the innermost first, which was inlined into the next one, and the last
    /// is one that was called. There are none when the debug information does not know the address.
    ///
    /// Of debug information that is in files of its own (split DWARF) the lines are known, not the functions.
    #[must_use]
    pub fn at(&self, address: u64) -> Vec<Frame<'_>> {
        let mut found = Vec::new();
        // The reader looks one address further.
        if address == u64::MAX {
            return found;
        }
        let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() else {
            return found;
        };
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|name| Some(Cow::Owned(name.raw_name().ok()?.into_owned())));
            let location = frame.location.as_ref();
            let line = location.and_then(|location| location.line);
            let file = location.and_then(|location| location.file).map(|file| Cow::Owned(file.to_owned()));
            found.push(Frame { function, file, line });
            if found.len() == DEEPEST {
                break;
            }
        }
        found
    }
}
