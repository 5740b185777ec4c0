//! The modules that each module of a crate uses, read from every `use` and every path in the code, except tests.
//!
//! If a module re-exports an item, a user of the item depends on the module that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::tokens::{Token, tokens};

/// A module, named from the crate's root, which is empty.
pub(crate) type Name = Vec<String>;

/// The contents of one module.
#[derive(Default)]
struct Module {
    children: BTreeSet<String>,
    /// The items defined in it.
    items: BTreeSet<String>,
    /// The names that it declares, with the paths that they stand for.
    names: BTreeMap<String, Name>,
    /// The modules all of whose names it imports.
    globs: Vec<Name>,
    /// The paths in its code.
    paths: BTreeSet<Name>,
}

/// The modules of a crate.
pub(crate) struct Modules(BTreeMap<Name, Module>);

/// The target of a path.
enum Target {
    Module(Name),
    /// An item in that module.
    Item(Name),
}

impl Modules {
    /// Reads the modules from the root file; `read` returns the text of a file, if it exists.
    pub(crate) fn read(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Modules {
        let mut modules = Modules(BTreeMap::new());
        let mut files: Vec<(PathBuf, Name, bool)> = vec![(root.to_owned(), Name::new(), true)];
        while let Some((file, name, has_own_folder)) = files.pop() {
            let text = read(&file).unwrap_or_else(|| panic!("no file {}", file.display()));
            let mut reader = Reader { tokens: tokens(&text), at: 0, modules: &mut modules, files: Vec::new() };
            reader.module(&name);
            for (child, paths) in reader.files {
                let folder = file.parent().unwrap();
                let folder = if has_own_folder { folder.to_owned() } else { folder.join(file.file_stem().unwrap()) };
                let is_there = |path: &PathBuf| read(path).is_some();
                let default = [folder.join(format!("{}.rs", child[child.len() - 1]))];
                let nested = [folder.join(&child[child.len() - 1]).join("mod.rs")];
                if paths.is_empty() {
                    files.extend(default.into_iter().filter(is_there).map(|path| (path, child.clone(), false)));
                    files.extend(nested.into_iter().filter(is_there).map(|path| (path, child.clone(), true)));
                } else {
                    let paths = paths.iter().map(|path| folder.join(path)).filter(is_there);
                    files.extend(paths.map(|path| (path, child.clone(), true)));
                }
            }
        }
        modules
    }

    /// The modules that each module uses.
    pub(crate) fn uses(&self) -> BTreeMap<Name, BTreeSet<Name>> {
        let mut found: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
        for (name, module) in &self.0 {
            let named =
                module.names.values().chain(&module.paths).filter_map(|path| match self.resolve(name, path, 0)? {
                    Target::Item(of) => Some(of),
                    Target::Module(_) => None,
                });
            let globs = module.globs.iter().filter_map(|path| match self.resolve(name, path, 0)? {
                Target::Module(of) | Target::Item(of) => Some(of),
            });
            found.insert(name.clone(), named.chain(globs).filter(|used| used != name).collect());
        }
        found
    }

    /// The target of a path in the module `from`; `None` if the target is not in this crate.
    fn resolve(&self, from: &Name, path: &[String], depth: usize) -> Option<Target> {
        let mut path = path;
        let mut module = from.clone();
        let mut is_first = true;
        while let [first, rest @ ..] = path {
            match first.as_str() {
                "crate" => module.clear(),
                "self" => {}
                "super" => _ = module.pop(),
                name => match self.look_up(&module, name, rest.is_empty(), depth)? {
                    Target::Module(of) => module = of,
                    // A name without a definition belongs to another crate or to the language.
                    Target::Item(of) if is_first && !self.0[&of].items.contains(name) && of == *from => return None,
                    item @ Target::Item(_) => return Some(item),
                },
            }
            is_first = false;
            path = rest;
        }
        Some(Target::Module(module))
    }

    /// The meaning of a name in a module.
    fn look_up(&self, of: &Name, name: &str, is_last: bool, depth: usize) -> Option<Target> {
        let module = self.0.get(of)?;
        let child = || [of.as_slice(), &[name.to_owned()]].concat();
        if module.children.contains(name) && !(is_last && module.names.contains_key(name)) {
            return Some(Target::Module(child()));
        }
        if depth > 16 {
            return None;
        }
        if module.items.contains(name) {
            return Some(Target::Item(of.clone()));
        }
        if let Some(path) = module.names.get(name) {
            // A module's own name for itself does not lead to the module.
            return self.resolve_from_outside(of, path, name, depth + 1);
        }
        let handed_on = module.globs.iter().find_map(|path| match self.resolve(of, path, depth + 1)? {
            Target::Module(inside) if inside != *of && self.has(&inside, name, depth + 1) => {
                self.look_up(&inside, name, is_last, depth + 1)
            }
            _ => None,
        });
        handed_on.or_else(|| Some(Target::Item(of.clone())))
    }

    /// The target of a `use` path; `None` if it begins with the name of another crate.
    fn resolve_from_outside(&self, of: &Name, path: &[String], name: &str, depth: usize) -> Option<Target> {
        let is_own_name = path.first().is_some_and(|first| first == name) && !self.0[of].children.contains(name);
        if is_own_name { None } else { self.resolve(of, path, depth) }
    }

    /// Whether a module has an item of that name, its own or re-exported.
    fn has(&self, of: &Name, name: &str, depth: usize) -> bool {
        let Some(module) = self.0.get(of).filter(|_| depth < 16) else { return false };
        module.items.contains(name)
            || module.children.contains(name)
            || module.names.contains_key(name)
            || module.globs.iter().any(|path| match self.resolve(of, path, depth + 1) {
                Some(Target::Module(inside)) => inside != *of && self.has(&inside, name, depth + 1),
                _ => false,
            })
    }
}

/// Reads the tokens of one file.
struct Reader<'a> {
    tokens: Vec<Token>,
    at: usize,
    modules: &'a mut Modules,
    /// The modules in files of their own, with the paths from attributes.
    files: Vec<(Name, Vec<String>)>,
}

/// Keywords before an item's name.
const KEYWORDS: [&str; 8] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static"];

impl Reader<'_> {
    fn sign(&self, distance: usize) -> Option<char> {
        match self.tokens.get(self.at + distance) {
            Some(Token::Sign(sign)) => Some(*sign),
            _ => None,
        }
    }

    fn name(&self, distance: usize) -> Option<String> {
        match self.tokens.get(self.at + distance) {
            Some(Token::Name(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// Reads a module's tokens up to its closing brace, or to the end.
    fn module(&mut self, of: &Name) {
        self.modules.0.entry(of.clone()).or_default();
        let mut depth = 0;
        let (mut paths, mut is_test) = (Vec::new(), false);
        while self.at < self.tokens.len() {
            if self.sign(0) == Some('#') && (self.sign(1) == Some('[') || self.sign(2) == Some('[')) {
                is_test |= self.attribute(of, &mut paths);
                continue;
            }
            match (self.sign(0), self.name(0).as_deref()) {
                (Some('}'), _) if depth == 0 => break,
                (Some('{'), _) => depth += 1,
                (Some('}'), _) => depth -= 1,
                // An item's visibility is between its attributes and the item.
                (_, Some("pub" | "unsafe" | "extern")) | (Some('(' | ')'), _) if is_test || !paths.is_empty() => {
                    self.at += 1;
                    continue;
                }
                (_, Some("crate" | "super")) if (is_test || !paths.is_empty()) && self.sign(1) == Some(')') => {
                    self.at += 1;
                    continue;
                }
                (_, Some("mod")) if self.name(1).is_some() => {
                    self.child(of, &paths, is_test);
                    (paths, is_test) = (Vec::new(), false);
                    continue;
                }
                (_, Some("use")) => {
                    self.at += 1;
                    if is_test {
                        self.skip_item();
                    } else {
                        self.tree(of, &Name::new());
                    }
                    (paths, is_test) = (Vec::new(), false);
                    continue;
                }
                (_, Some(keyword)) if KEYWORDS.contains(&keyword) => {
                    if is_test {
                        self.skip_item();
                        (paths, is_test) = (Vec::new(), false);
                        continue;
                    }
                    if let Some(name) = self.name(1).filter(|_| depth == 0) {
                        self.own(of).items.insert(name);
                    }
                }
                (_, Some("impl")) if is_test => {
                    self.skip_item();
                    (paths, is_test) = (Vec::new(), false);
                    continue;
                }
                (_, Some("macro_rules")) => _ = self.name(2).map(|name| self.own(of).items.insert(name)),
                (_, Some(_)) => {
                    self.path(of);
                    (paths, is_test) = (Vec::new(), false);
                    continue;
                }
                _ => {}
            }
            (paths, is_test) = (Vec::new(), false);
            self.at += 1;
        }
    }

    fn own(&mut self, of: &Name) -> &mut Module {
        self.modules.0.entry(of.clone()).or_default()
    }

    /// Reads an attribute. Returns whether the attribute restricts the item to tests, adds the paths of files in the
    /// attribute to `paths`, and the paths of items to the module.
    fn attribute(&mut self, of: &Name, paths: &mut Vec<String>) -> bool {
        let start = self.at;
        while !matches!(self.sign(0), Some('[')) {
            self.at += 1;
        }
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match self.sign(0) {
                Some('[') => depth += 1,
                Some(']') => depth -= 1,
                _ => {}
            }
            if let (Some("path"), Some('='), Some(Token::Text(path))) =
                (self.name(0).as_deref(), self.sign(1), self.tokens.get(self.at + 2))
            {
                paths.push(path.clone());
            }
            if self.tokens.get(self.at + 1) == Some(&Token::Colons) && self.name(0).is_some() {
                self.path(of);
                continue;
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        let names: Vec<_> =
            self.tokens[start..self.at].iter().filter(|token| matches!(token, Token::Name(_))).collect();
        names == [&Token::Name("cfg".to_owned()), &Token::Name("test".to_owned())]
    }

    /// Reads `mod name;` or `mod name { ... }`.
    fn child(&mut self, of: &Name, paths: &[String], is_test: bool) {
        let name = self.name(1).unwrap();
        let child = [of.as_slice(), std::slice::from_ref(&name)].concat();
        if is_test {
            return self.skip_item();
        }
        self.own(of).children.insert(name);
        let is_inline = self.sign(2) == Some('{');
        self.at += 3;
        if is_inline {
            self.module(&child);
            self.at += 1;
        } else {
            self.files.push((child, paths.to_vec()));
        }
    }

    /// Skips the rest of an item: to a semicolon, or past a block.
    fn skip_item(&mut self) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            let sign = self.sign(0);
            self.at += 1;
            match sign {
                Some('(' | '[' | '{') => depth += 1,
                Some(')' | ']') => depth -= 1,
                Some('}') => {
                    depth -= 1;
                    if depth == 0 && self.sign(0) != Some(';') {
                        return;
                    }
                }
                Some(';') if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// Reads the rest of a `use` after `before`, up to the closing sign.
    fn tree(&mut self, of: &Name, before: &Name) {
        let mut path = before.clone();
        let mut alias = None;
        loop {
            match (self.sign(0), self.name(0)) {
                (Some('{'), _) => {
                    self.at += 1;
                    while self.sign(0) != Some('}') {
                        self.tree(of, &path);
                        if self.sign(0) == Some(',') {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return self.end_of_use();
                }
                (Some('*'), _) => {
                    self.at += 1;
                    self.own(of).globs.push(path);
                    return self.end_of_use();
                }
                (_, Some(name)) if name == "as" => {
                    alias = self.name(1);
                    self.at += 2;
                }
                (_, Some(name)) => {
                    path.push(name);
                    self.at += 1;
                }
                // The two colons after another crate's name, or between names.
                _ if self.tokens.get(self.at) == Some(&Token::Colons) => self.at += 1,
                _ => break,
            }
        }
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(name) = alias.or_else(|| path.last().cloned()) {
            let names = &mut self.own(of).names;
            if name == "_" || names.contains_key(&name) {
                self.own(of).paths.insert(path);
            } else {
                names.insert(name, path);
            }
        }
        self.end_of_use();
    }

    fn end_of_use(&mut self) {
        if self.sign(0) == Some(';') {
            self.at += 1;
        }
    }

    /// Reads a name and the rest of the path after it.
    fn path(&mut self, of: &Name) {
        let is_of_another_crate = self.at > 0 && self.tokens[self.at - 1] == Token::Colons;
        let mut path = Name::new();
        while let Some(name) = self.name(0) {
            path.push(name);
            self.at += 1;
            if self.tokens.get(self.at) != Some(&Token::Colons) {
                break;
            }
            self.at += 1;
        }
        if path.len() > 1 && !is_of_another_crate {
            self.own(of).paths.insert(path);
        }
    }
}
