//! Whether a program was built with -pg, and so leaves a profile without any help.

use std::path::Path;

use gmon::layout::request::{NOTE_OWNER, NOTE_TYPE};
use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, Sym};

use super::headers;
use super::notes::notes;

/// What code that was compiled with -pg calls, and what starts the profile, without the underscores and dots with which
/// systems begin the names.
const NAMES: [&[u8]; 4] = [b"mcount", b"fentry__", b"gnu_mcount_nc", b"monstartup"];

/// How a program is profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profiling {
    /// The program has the runtime of this project.
    Own,
    /// The program has the runtime of another project, such as the one of the C library.
    Other,
    /// The program profiles nothing, or its format is not ELF.
    None,
}

/// Returns how a program is profiled. A program that cannot be read is not profiled.
pub(crate) fn profiling(program: &Path) -> Profiling {
    if notes(program, &NOTE_OWNER, NOTE_TYPE).is_ok_and(|found| !found.is_empty()) {
        return Profiling::Own;
    }
    let bytes = headers::read(program, false).unwrap_or_default();
    let found = match bytes.get(4).map(|class| elf::FileClass(*class)) {
        Some(elf::ELFCLASS32) => calls_mcount::<FileHeader32<Endianness>>(&bytes),
        _ => calls_mcount::<FileHeader64<Endianness>>(&bytes),
    };
    if found == Some(true) { Profiling::Other } else { Profiling::None }
}

/// Whether a symbol of the program is one of the names. `None` if the file is not as expected.
fn calls_mcount<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<bool> {
    let header = Elf::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    let is_one = |kind| {
        let Ok(table) = sections.symbols(endian, bytes, kind) else { return false };
        table.iter().any(|symbol| symbol.name(endian, table.strings()).is_ok_and(is_known))
    };
    Some([elf::SHT_DYNSYM, elf::SHT_SYMTAB].into_iter().any(is_one))
}

/// Whether a symbol is one of the names. Linkers add the version of a symbol of the C library behind `@`.
fn is_known(symbol: &[u8]) -> bool {
    let start = symbol.iter().position(|byte| !matches!(byte, b'_' | b'.')).unwrap_or(symbol.len());
    let name = symbol[start..].split(|byte| *byte == b'@').next().unwrap_or_default();
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Catches a system's spelling that is not known, and names that only look like these.
    #[test]
    fn systems_spell_the_names_in_their_ways() {
        for symbol in ["mcount", "_mcount", ".mcount", "__mcount", "__fentry__", "mcount@GLIBC_2.2.5", "__monstartup"] {
            assert!(is_known(symbol.as_bytes()), "{symbol}");
        }
        for symbol in ["", "__", "mcount_max", "my_mcount", "@mcount"] {
            assert!(!is_known(symbol.as_bytes()), "{symbol}");
        }
    }

    /// Catches a file that is no program and counts as one that profiles itself.
    #[test]
    fn other_files_are_not_profiled() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/program/image/profiled.rs");
        for file in [source.as_path(), Path::new("/nonexistent"), Path::new("/")] {
            assert_eq!(profiling(file), Profiling::None, "{}", file.display());
        }
        assert_eq!(profiling(&std::env::current_exe().unwrap()), Profiling::None, "this test");
    }
}
