//! Maps functions to object files, from a text that `nm --print-file-name` writes.
//!
//! A map made with `nm --extern-only` does not contain static functions. Linkers keep the functions of a file together,
//! so a static function belongs to the file before and after it if these are the same file.

mod gnu;
pub(crate) mod nm;

pub use nm::{MapError, MapFault};

use std::collections::{HashMap, HashSet};

use super::functions::Function;
use crate::program::image::Symbol;
use nm::{Entry, Role};

/// A map.
#[derive(Clone, Debug)]
pub struct FileMap<'data> {
    /// Whether the map was read line by line, or in pieces as GNU gprof does.
    by_line: bool,
    entries: Vec<Entry<'data>>,
}

impl<'data> FileMap<'data> {
    /// Reads a map, `by_line` or in pieces as GNU gprof does.
    ///
    /// # Errors
    ///
    /// At the first invalid line, and when no line names a file.
    pub fn read(text: &'data [u8], by_line: bool) -> Result<FileMap<'data>, MapError> {
        let entries = if by_line { nm::read_map(text)? } else { gnu::read(text)? };
        Ok(FileMap { by_line, entries })
    }

    /// Replaces functions by their object files: the first symbol of each run of a file's functions gets the name of
    /// the file, and the other symbols are removed.
    #[must_use]
    pub fn apply(&self, symbols: Vec<Symbol<'data>>) -> (Vec<Symbol<'data>>, ObjectFiles<'data>) {
        let roles = if self.by_line { roles } else { gnu::roles }(&self.entries, &symbols);
        let mut files = self.files();
        let with_files = |(symbol, role): (Symbol<'data>, Role<'data>)| match role {
            Role::Itself => Some(symbol),
            Role::Within => None,
            Role::File(name) => {
                files.places.insert((symbol.address, name));
                let whole = Symbol { address: symbol.address, name, is_static: false, is_func: true };
                Some(if self.by_line { whole } else { Symbol { name, ..symbol } })
            }
        };
        (symbols.into_iter().zip(roles).filter_map(with_files).collect(), files)
    }

    /// All files, before any function is assigned to a file.
    #[must_use]
    pub fn files(&self) -> ObjectFiles<'data> {
        let mut names: Vec<&[u8]> = self.entries.iter().map(|entry| entry.file).collect();
        names.sort_unstable();
        names.dedup();
        ObjectFiles { places: HashSet::new(), names }
    }
}

/// The object files of a program.
#[derive(Clone, Debug, Default)]
pub struct ObjectFiles<'data> {
    /// The addresses where files start or continue, with the names of the files.
    places: HashSet<(u64, &'data [u8])>,
    /// The names of all files, also of files without functions in the program, sorted.
    pub names: Vec<&'data [u8]>,
}

impl ObjectFiles<'_> {
    /// Whether a function stands for an object file.
    #[must_use]
    pub fn is_file(&self, function: &Function<'_>) -> bool {
        self.places.contains(&(function.address, function.name))
    }

    /// Whether no file has a function in the program.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.places.is_empty()
    }
}

/// The files that define a name.
#[derive(Debug, Default)]
struct Definitions<'data> {
    /// The first file that defines the name globally; or else the first file that defines it as a symbol of which
    /// linkers keep one copy.
    shared: Option<&'data [u8]>,
    is_weak: bool,
    /// The files that a local symbol may come from, sorted. A linker may also hide a symbol that was global in the
    /// object file.
    local: Vec<&'data [u8]>,
}

/// What is known about the file of the symbols at one address.
enum Origin<'a, 'data> {
    Known(&'data [u8]),
    /// One of the files that define these names; if there are none, a file that the map does not determine.
    Open(Vec<&'a Definitions<'data>>),
    /// A file that is not in the map.
    Foreign,
}

/// The role of each symbol. A file starts at a function of the file if the function before belongs to another file.
/// Symbols that are data in the map are not functions.
fn roles<'data>(entries: &[Entry<'data>], symbols: &[Symbol<'data>]) -> Vec<Role<'data>> {
    let definitions = definitions(entries);
    let mut sorted: Vec<usize> = (0..symbols.len()).collect();
    sorted.sort_by_key(|at| symbols[*at].address);
    let groups: Vec<&[usize]> = sorted.chunk_by(|one, next| symbols[*one].address == symbols[*next].address).collect();
    let origins = groups.iter().map(|group| origin(&definitions, group.iter().map(|at| &symbols[*at])));
    let files = settle(&origins.collect::<Vec<_>>());
    let mut roles = vec![Role::Itself; symbols.len()];
    let mut before = None;
    for (group, file) in groups.iter().zip(files) {
        let begins = before != file;
        before = file;
        let Some(file) = file else {
            continue;
        };
        for (at, symbol) in group.iter().enumerate() {
            roles[*symbol] = if begins && at == 0 { Role::File(file) } else { Role::Within };
        }
    }
    roles
}

fn definitions<'data>(entries: &[Entry<'data>]) -> HashMap<&'data [u8], Definitions<'data>> {
    let mut all: HashMap<&[u8], Definitions<'data>> = HashMap::new();
    for entry in entries.iter().filter(|entry| b"TiuWt".contains(&entry.kind)) {
        let files = all.entry(entry.name).or_default();
        let is_weak = entry.kind == b'W';
        if entry.kind == b't' {
            files.local.push(entry.file);
        } else if files.shared.is_none() || (files.is_weak && !is_weak) {
            (files.shared, files.is_weak) = (Some(entry.file), is_weak);
        }
    }
    for files in all.values_mut() {
        files.local.extend(files.shared);
        files.local.sort_unstable();
        files.local.dedup();
    }
    all
}

/// The file of the symbols at one address, as far as their names determine it.
fn origin<'a, 'data: 'a>(
    definitions: &'a HashMap<&[u8], Definitions<'data>>,
    group: impl Iterator<Item = &'a Symbol<'data>>,
) -> Origin<'a, 'data> {
    let mut open: Vec<&Definitions<'data>> = Vec::new();
    let mut is_foreign = false;
    for symbol in group {
        let files = definitions.get(symbol.name);
        if symbol.is_static {
            open.extend(files);
            continue;
        }
        match files.and_then(|files| files.shared) {
            Some(file) => return Origin::Known(file),
            None => is_foreign = true,
        }
    }
    match open.as_slice() {
        [] if is_foreign => Origin::Foreign,
        [Definitions { local, .. }] if local.len() == 1 => Origin::Known(local[0]),
        _ => Origin::Open(open),
    }
}

/// The file of each address, in ascending order. The neighbors decide where the names do not.
fn settle<'data>(origins: &[Origin<'_, 'data>]) -> Vec<Option<&'data [u8]>> {
    let mut behind = vec![None; origins.len()];
    let mut next = None;
    for (origin, behind) in origins.iter().zip(&mut behind).rev() {
        *behind = next;
        match origin {
            Origin::Known(file) => next = Some(*file),
            Origin::Foreign => next = None,
            Origin::Open(_) => {}
        }
    }
    let mut before = None;
    let settled = origins.iter().zip(behind).map(|(origin, behind)| {
        match origin {
            Origin::Open(_) if before == behind => return before,
            Origin::Open(names) => {
                let is_allowed = |file: &&[u8]| names.iter().any(|files| files.local.binary_search(file).is_ok());
                return before.filter(is_allowed).xor(behind.filter(is_allowed));
            }
            Origin::Known(file) => before = Some(*file),
            Origin::Foreign => before = None,
        }
        before
    });
    settled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_without_a_function_of_the_program_is_foreign() {
        let symbol = |name| Symbol { address: 16, name, is_static: false, is_func: true };
        for by_line in [true, false] {
            let map = FileMap::read(b"a.o:0 T f\n", by_line).unwrap();
            let is_foreign = |name| map.apply(vec![symbol(name)]).1.is_foreign();
            assert_eq!([is_foreign(b"f"), is_foreign(b"g")], [false, true]);
        }
    }

    /// Functions of 10 bytes each, starting at address 10. The names of local functions have a leading dot.
    fn roles_of(map: &str, functions: &[&'static str]) -> Vec<String> {
        let entries = nm::read_map(map.as_bytes()).unwrap();
        let symbols: Vec<Symbol<'_>> = (1..)
            .zip(functions)
            .map(|(n, name)| {
                let plain = name.trim_start_matches('.').as_bytes();
                Symbol { address: 10 * n, name: plain, is_static: name.starts_with('.'), is_func: true }
            })
            .collect();
        let shown = |role: &Role<'_>| match role {
            Role::Itself => "-".to_owned(),
            Role::Within => "^".to_owned(),
            Role::File(file) => String::from_utf8(file.to_vec()).unwrap(),
        };
        roles(&entries, &symbols).iter().map(shown).collect()
    }

    const MAP: &str = "a.o:0 D d\na.o:0 T a1\na.o:9 T a2\nb.o:0 T b1\nb.o:9 T b2\n";

    #[test]
    fn a_file_begins_once_wherever_its_data_stands_in_the_map() {
        assert_eq!(roles_of(MAP, &["_start", "a1", "a2", "b1", "b2", "exit"]), ["-", "a.o", "^", "b.o", "^", "-"]);
        assert_eq!(roles_of(MAP, &["a1", "b1", "a2", "b2"]), ["a.o", "b.o", "a.o", "b.o"]);
    }

    #[test]
    fn local_functions_belong_to_the_file_around_them() {
        assert_eq!(roles_of(MAP, &[".s", "a1", ".s", "a2", ".s", "b1", ".s"]), ["-", "a.o", "^", "^", "-", "b.o", "-"]);
        assert_eq!(roles_of(MAP, &["a1", ".s", "_start", ".s", "a2"]), ["a.o", "-", "-", "-", "a.o"]);
    }

    #[test]
    fn local_functions_that_the_map_names() {
        let map = format!("{MAP}a.o:3 t s\nb.o:3 t s\nb.o:5 t only\nc.o:3 t s\n");
        assert_eq!(roles_of(&map, &[".s", "a1", ".s", ".only", "b1"]), ["a.o", "^", "-", "b.o", "^"]);
        assert_eq!(roles_of(&map, &["a2", ".s"]), ["a.o", "^"]);
        assert_eq!(roles_of(&map, &["_start", ".s", "exit"]), ["-", "-", "-"]);
        assert_eq!(roles_of(MAP, &[".a1"]), ["a.o"], "one that the linker made local");
    }

    #[test]
    fn of_weak_ones_the_first_is_kept() {
        let map = "a.o:0 W w\nb.o:0 W w\na.o:1 W v\nb.o:1 T v\n";
        assert_eq!(roles_of(map, &["w", "v"]), ["a.o", "b.o"]);
    }
}
