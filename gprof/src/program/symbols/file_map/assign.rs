//! Assigns the symbols of a program to object files.
//!
//! A map made with `nm --extern-only` does not contain static functions. Linkers keep the functions of a file
//! together, so a static function belongs to the file before and after it if these are the same file.

use std::collections::HashMap;

use super::entry::{Entry, Role};
use crate::program::image::Symbol;

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
pub(super) fn roles<'data>(entries: &[Entry<'data>], symbols: &[Symbol<'data>]) -> Vec<Role<'data>> {
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

    /// Functions of 10 bytes each, starting at address 10. The names of local functions have a leading dot.
    fn roles_of(map: &str, functions: &[&'static str]) -> Vec<String> {
        let entries = super::super::lines::read(map.as_bytes()).unwrap();
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
