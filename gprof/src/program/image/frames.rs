//! Finds the functions that code comes from, including inlined functions.

use std::cell::Cell;

use addr2line::{Context, FrameIter, LookupContinuation, LookupResult};
use gimli::{Dwarf, Section};

use super::debug_files::Units;
use super::limits;
use super::sections::{Reader, Sections};
use super::unreached::AllUnreached;

/// A place where a function was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller<'a> {
    /// The name of the function into which it was inlined, from the debug information; empty if unknown.
    pub function: &'a [u8],
    /// The path of the source file; empty if unknown.
    pub file: Vec<u8>,
    /// The line number, counted from one; 0 if unknown.
    pub line: u32,
}

/// Finds the functions that addresses come from.
pub struct Frames<'a> {
    context: Context<Reader<'a>>,
    /// The split units, which are in other files.
    split: Units<'a>,
    /// The inlined functions that `context` does not find.
    unreached: AllUnreached<'a>,
    /// The number of bytes of callers that may still be returned.
    left: Cell<usize>,
}

/// The number of bytes of callers that are always returned, whatever the size of the debug information.
const ROOM: usize = 64 << 20;

/// Whether a language's functions have the same names in the symbol table as in the source.
fn is_c(language: Option<gimli::DwLang>) -> bool {
    use gimli::{DW_LANG_C, DW_LANG_C11, DW_LANG_C89, DW_LANG_C99, DW_LANG_Mips_Assembler};
    let known = [DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11, DW_LANG_Mips_Assembler];
    language.is_none_or(|language| known.contains(&language))
}

/// The maximum depth of inlined functions.
const DEEPEST: usize = 1000;

impl<'a> Frames<'a> {
    /// `shared` is the debug information that the image shares with others, and `split` has the units that are in
    /// other files.
    pub(super) fn new(
        sections: &'a Sections<'_>,
        shared: Option<Dwarf<Reader<'a>>>,
        split: impl FnOnce(&Dwarf<Reader<'a>>) -> Units<'a>,
    ) -> Option<Frames<'a>> {
        let mut dwarf = Dwarf::load(|id| Ok::<_, gimli::Error>(sections.get(id))).ok()?;
        if let Some(shared) = shared {
            dwarf.set_sup(shared);
        }
        let shared_strings = || dwarf.sup().map_or(&[][..], |shared| shared.debug_str.reader().slice());
        if !limits::is_within_limits(sections, &dwarf, &shared_strings) {
            return None;
        }
        let left = usize::try_from(sections.len()).unwrap_or(usize::MAX).saturating_mul(16).saturating_add(ROOM);
        let (split, unreached) = (split(&dwarf), AllUnreached::find(sections));
        Some(Frames { context: Context::from_dwarf(dwarf).ok()?, split, unreached, left: Cell::new(left) })
    }

    /// The frames of an address, as addr2line returns them.
    fn find(&self, address: u64) -> Option<FrameIter<'_, Reader<'a>>> {
        // addr2line looks up one address further.
        if address == u64::MAX {
            return None;
        }
        let mut lookup = self.context.find_frames(address);
        loop {
            match lookup {
                LookupResult::Output(frames) => return frames.ok(),
                LookupResult::Load { load, continuation } => {
                    lookup = continuation.resume(self.split.get(&load.dwo_id.0).cloned());
                }
            }
        }
    }

    /// The symbol name of the innermost function that an address comes from.
    ///
    /// In languages other than C, debug information may have only the source name of a function. This then returns
    /// `None`, unless the function was inlined and has no symbol.
    #[must_use]
    pub fn innermost(&self, address: u64) -> Option<&'a [u8]> {
        if let Some(name) = self.innermost_unreached(address) {
            return Some(name);
        }
        let mut frames = self.find(address)?;
        let function = frames.next().ok()??.function?;
        let name = function.name.slice();
        let is_mangled = name.starts_with(b"_Z") || name.starts_with(b"_R");
        let mut is_inlined = || frames.next().is_ok_and(|outer| outer.is_some());
        (!name.is_empty() && (is_mangled || is_c(function.language) || is_inlined())).then_some(name)
    }

    fn innermost_unreached(&self, address: u64) -> Option<&'a [u8]> {
        self.unreached.at(address).next().map(|inlined| inlined.name).filter(|name| !name.is_empty())
    }

    /// The name of the innermost inlined function at an address, if any function was inlined there.
    #[must_use]
    pub fn inlined(&self, address: u64) -> Option<&'a [u8]> {
        if let Some(name) = self.innermost_unreached(address) {
            return Some(name);
        }
        let mut frames = self.find(address)?;
        let inlined = frames.next().ok()??;
        frames.next().ok()??;
        Some(inlined.function?.name.slice()).filter(|name| !name.is_empty())
    }

    /// The names of all functions that were inlined at an address, the outermost first. A function without a name is
    /// left out.
    #[must_use]
    pub fn all_inlined(&self, address: u64) -> Vec<&'a [u8]> {
        let Some(mut frames) = self.find(address) else {
            return Vec::new();
        };
        let mut found: Vec<&'a [u8]> = self.unreached.at(address).take(DEEPEST).map(|inlined| inlined.name).collect();
        while let Ok(Some(frame)) = frames.next() {
            found.push(frame.function.map_or(&[][..], |function| function.name.slice()));
            if found.len() >= DEEPEST {
                break;
            }
        }
        // The outermost frame is the function that contains the code.
        found.pop();
        found.retain(|name| !name.is_empty());
        found.reverse();
        found
    }

    /// The functions into which that function was inlined, from the inside out; empty if no function was inlined
    /// there.
    ///
    /// A few bytes of debug information can put all lines of a program into a thousand functions with paths of a
    /// megabyte. The result is empty once far more bytes were returned than the debug information has.
    #[must_use]
    pub fn callers(&self, address: u64) -> Vec<Caller<'a>> {
        let mut found = Vec::new();
        let Some(mut frames) = self.find(address) else {
            return found;
        };
        let mut add = |function: &'a [u8], file: Vec<u8>, line: u32| {
            let left = self.left.get().checked_sub(size_of::<Caller<'_>>() + file.len());
            self.left.set(left.unwrap_or(self.left.get()));
            found.extend(left.map(|_| Caller { function, file, line }));
            left.is_some() && found.len() < DEEPEST
        };
        // The first function was inlined into the second one. The debug information does not tell where.
        let mut unreached = self.unreached.at(address);
        let mut is_told = unreached.next().is_none();
        for inlined in unreached {
            if !add(inlined.name, Vec::new(), 0) {
                return found;
            }
        }
        if is_told {
            let _ = frames.next();
        }
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.map_or(&[][..], |function| function.name.slice());
            let location = frame.location.as_ref().filter(|_| is_told);
            is_told = true;
            let file = location.and_then(|location| location.file).unwrap_or_default().as_bytes().to_vec();
            let line = location.and_then(|location| location.line).unwrap_or_default();
            if !add(function, file, line) {
                break;
            }
        }
        found
    }
}
