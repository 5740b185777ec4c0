//! Prints the tree of a name.
//!
//! The text of a type surrounds the declared name: `int (*name)[3]`. So every node has a left part and a right part;
//! most right parts are empty.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::operators::Operator;
use super::options::{Failure, MAX_DEPTH, Spelling};
use super::tree::{Id, Node, Qualifier, Signature, Tree};

/// The maximum depth of the printer: more than the parser's, because arguments replace parameters.
const MAX_PRINT_DEPTH: usize = 4 * MAX_DEPTH;

/// The arguments of a function template, and the enclosing scope.
pub(super) struct Scope<'t> {
    pub(super) arguments: &'t [Id],
    pub(super) outer: Option<usize>,
    /// The name of the function, whose enclosing templates have arguments too.
    pub(super) function: Id,
}

/// Prints a tree.
pub(super) struct Printer<'t, 'a> {
    pub(super) tree: &'t Tree<'a>,
    pub(super) out: Vec<u8>,
    /// The last byte. GNU's demangler does not update it after it removes a comma.
    pub(super) last: u8,
    pub(super) depth: usize,
    /// The index of the current argument of packs.
    pub(super) pack_index: usize,
    /// The number of steps that are left: a name that needs more is hostile.
    pub(super) steps_left: usize,
    /// The maximum length of the text.
    pub(super) max_length: usize,
    /// Whether the parameters of a lambda are being printed.
    pub(super) in_lambda: bool,
    /// The template parameter declarations of that lambda that are known so far.
    pub(super) head: &'t [Id],
    /// Whether a constraint is being printed.
    pub(super) in_constraint: bool,
    /// The current scope, and all scopes.
    pub(super) scope: Option<usize>,
    pub(super) scopes: Vec<Scope<'t>>,
    /// The saved scopes of references to parameters.
    pub(super) kept: BTreeMap<Id, Option<usize>>,
    /// The references and parameters that are being printed.
    pub(super) active: Vec<Id>,
    /// The qualifiers around the type that is being printed. A template argument may have the qualifier of the
    /// parameter, and a type's qualifier is printed only once.
    pub(super) qualifiers: Vec<Qualifier>,
    pub(super) failed: bool,
    /// Whether the error is a limit.
    exhausted: bool,
    pub(super) spelling: Spelling,
    /// Whether a function is being printed inside the name or the type of another.
    pub(super) in_function: bool,
}

/// The types with other names in Java.
const OF_JAVA: [(&str, &str); 6] = [
    ("bool", "boolean"),
    ("char", "byte"),
    ("unsigned int", "unsigned"),
    ("long long", "long"),
    ("wchar_t", "char"),
    ("::", "."),
];

impl<'t, 'a> Printer<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>, max_length: usize, spelling: Spelling) -> Printer<'t, 'a> {
        Printer {
            tree,
            out: Vec::new(),
            last: b' ',
            depth: 0,
            pack_index: 0,
            steps_left: max_length,
            max_length,
            in_lambda: false,
            head: &[],
            in_constraint: false,
            scope: None,
            scopes: Vec::new(),
            kept: BTreeMap::new(),
            active: Vec::new(),
            qualifiers: Vec::new(),
            failed: false,
            exhausted: false,
            spelling,
            in_function: false,
        }
    }

    /// Returns the text of a tree.
    pub(super) fn print(mut self, root: Id) -> Result<Vec<u8>, Failure> {
        self.whole(root);
        match (self.exhausted || self.out.len() > self.max_length, self.failed) {
            (true, _) => Err(Failure::TooMuch),
            (_, true) => Err(Failure::Unreadable),
            _ => Ok(self.out),
        }
    }

    pub(super) fn write(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        self.out.extend_from_slice(text);
        self.last = text.last().copied().unwrap_or(self.last);
    }

    /// Prints a type, or the separator between the parts of a name.
    pub(super) fn write_spelled(&mut self, text: &'static str) {
        let known = OF_JAVA.iter().find(|(cpp, _)| self.spelling == Spelling::Java && *cpp == text);
        self.write(known.map_or(text, |(_, java)| java));
    }

    pub(super) fn number(&mut self, number: u64) {
        self.write(number.to_string());
    }

    /// Prints a number between two texts.
    pub(super) fn numbered(&mut self, before: &str, number: u64, after: &str) {
        self.write(before);
        self.number(number);
        self.write(after);
    }

    /// Prints a node between two texts.
    pub(super) fn between(&mut self, before: &str, id: Id, after: &str) {
        self.write(before);
        self.whole(id);
        self.write(after);
    }

    /// Prints two nodes and a separator.
    fn joined(&mut self, first: Id, separator: &str, second: Id) {
        self.whole(first);
        self.between(separator, second, "");
    }

    pub(super) fn node(&self, id: Id) -> &'t Node<'a> {
        self.tree.node(id)
    }

    /// Runs one step, if one is left.
    pub(super) fn step(&mut self, run: impl FnOnce(&mut Self)) {
        let left = self.steps_left.checked_sub(1).filter(|_| !self.failed && self.depth < MAX_PRINT_DEPTH);
        let Some(left) = left.filter(|_| self.out.len() <= self.max_length) else {
            self.exhausted |= !self.failed;
            self.failed = true;
            return;
        };
        self.steps_left = left;
        self.depth = self.depth.saturating_add(1);
        run(self);
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn whole(&mut self, id: Id) {
        self.step(|printer| {
            printer.left(id);
            printer.right(id);
        });
    }

    pub(super) fn left(&mut self, id: Id) {
        let node = self.node(id);
        // The elements of an array have the qualifiers of the array.
        let continues = matches!(
            node,
            Node::Qualified(..) | Node::TemplateParameter(_) | Node::DeepParameter(..) | Node::Array(..)
        );
        let outer = if continues { None } else { Some(core::mem::take(&mut self.qualifiers)) };
        self.step(|printer| printer.left_of(id, node));
        if let Some(outer) = outer {
            self.qualifiers = outer;
        }
    }

    pub(super) fn left_of(&mut self, id: Id, node: &'t Node<'a>) {
        match *node {
            Node::Text(text) => self.write(text),
            Node::Builtin(name, _) => self.write_spelled(name),
            Node::Member(whole, part) | Node::Local(whole, part) => {
                self.whole(whole);
                self.write_spelled("::");
                self.whole(part);
            }
            Node::DefaultArgument(number, name) => {
                self.numbered("{default arg#", number.saturating_add(1), "}::");
                self.whole(name);
            }
            Node::Template(name, ref arguments) => self.template(name, arguments),
            Node::Function(name, signature) => self.function(name, signature),
            Node::TemplateParameter(index) if self.in_lambda => self.parameter_of_lambda(index),
            Node::TemplateParameter(_) | Node::DeepParameter(..) => self.with_argument(id, Self::left),
            Node::Constructor(class) => self.whole(class),
            Node::Destructor(class) => self.between("~", class, ""),
            Node::Operator(operator) => self.operator_name(operator),
            Node::Conversion(target) => self.between("operator ", target, ""),
            Node::LiteralOperator(suffix) => self.between("operator\"\" ", suffix, ""),
            _ => self.left_of_type(id, node),
        }
    }

    /// Prints the left part of a type.
    fn left_of_type(&mut self, id: Id, node: &'t Node<'a>) {
        match *node {
            Node::Qualified(inner, qualifier) => {
                let repeats = self.qualifiers.contains(&qualifier);
                self.qualifiers.push(qualifier);
                self.left(inner);
                self.qualifiers.pop();
                if !self.is_function(inner) && !repeats {
                    self.qualifier(qualifier);
                }
            }
            Node::Pointer(inner) => self.pointer_left(inner, if self.spelling == Spelling::Java { "" } else { "*" }),
            Node::Reference(..) => {
                self.active.push(id);
                let ((inner, scope), sign) = self.collapsed(id);
                self.within(scope, |printer| printer.pointer_left(inner, sign));
                self.active.pop();
            }
            Node::MemberPointer(class, member) => {
                self.left(member);
                self.write(if self.is_around(member) { "(" } else { " " });
                self.whole(class);
                self.write("::*");
            }
            Node::Signature(Signature { return_type, .. }) => {
                if let Some(return_type) = return_type {
                    self.return_type(return_type);
                }
            }
            Node::Array(_, element) => self.left(element),
            Node::PackExpansion(pattern) => self.expand(pattern),
            _ => self.rarer(node),
        }
    }

    /// Prints a part of the argument of a template parameter.
    fn with_argument(&mut self, id: Id, write: impl FnOnce(&mut Self, Id)) {
        match self.argument((id, self.scope)) {
            Some((argument, scope)) => {
                self.active.push(id);
                self.within(scope, |printer| write(printer, argument));
                self.active.pop();
            }
            None => self.unknown_parameter(id),
        }
    }

    /// Prints declarations of template parameters, and less common names. These nodes have no right part.
    pub(super) fn rarer(&mut self, node: &'t Node<'a>) {
        match *node {
            Node::Lambda(ref lambda) => self.lambda(lambda),
            Node::TypeParameter => self.write("typename"),
            Node::ConstrainedParameter(concept) => self.whole(concept),
            Node::ValueParameter(ty) => self.whole(ty),
            Node::TemplateTemplateParameter(ref head) => self.enclosed("template<", head, "> class"),
            Node::PackParameter(declared) => self.between("", declared, "..."),
            Node::Module(outer, name, is_partition) => self.module(outer, name, is_partition),
            Node::InModule(name, module) => self.joined(name, "@", module),
            Node::Unnamed(number) => self.numbered("{unnamed type#", number.saturating_add(1), "}"),
            Node::Tagged(name, tag) => {
                self.between("", name, "[abi:");
                self.write(tag);
                self.write("]");
            }
            Node::Bound(ref names) => self.enclosed("[", names, "]"),
            Node::Special(words, subject) => {
                self.write(words);
                self.whole(subject);
            }
            Node::ConstructionVtable(base, derived) => {
                self.write("construction vtable for ");
                self.joined(base, "-in-", derived);
            }
            Node::ReferenceTemporary(number, name) => {
                self.numbered("reference temporary #", number, " for ");
                self.whole(name);
            }
            Node::Clone(function, suffix) => {
                self.between("", function, " [clone ");
                self.write(suffix);
                self.write("]");
            }
            _ => self.rarer_type(node),
        }
    }

    /// Prints less common types, which have no right part.
    fn rarer_type(&mut self, node: &'t Node<'a>) {
        match *node {
            Node::VendorQualified(ty, name) => self.joined(ty, " ", name),
            Node::Complex(ty) => self.between("", ty, " _Complex"),
            Node::Imaginary(ty) => self.between("", ty, " _Imaginary"),
            Node::FloatOf(bits, suffix) => {
                self.numbered("_Float", bits, "");
                self.write(suffix);
            }
            Node::Vector(size, element) => {
                self.whole(element);
                self.between(" __vector(", size, ")");
            }
            Node::Pack(ref arguments) => self.list(arguments),
            _ => self.constraint(node),
        }
    }

    pub(super) fn right(&mut self, id: Id) {
        let node = self.node(id);
        self.step(|printer| match *node {
            Node::TemplateParameter(_) | Node::DeepParameter(..) if printer.argument((id, printer.scope)).is_some() => {
                printer.with_argument(id, Self::right);
            }
            Node::Qualified(inner, qualifier) => {
                printer.right(inner);
                if printer.is_function(inner) {
                    printer.qualifier(qualifier);
                }
            }
            Node::Pointer(inner) | Node::MemberPointer(_, inner) => printer.pointer_right(inner),
            Node::Reference(..) => {
                printer.active.push(id);
                let ((inner, scope), _) = printer.collapsed(id);
                printer.within(scope, |printer| printer.pointer_right(inner));
                printer.active.pop();
            }
            Node::Signature(Signature { return_type, ref parameters }) => {
                printer.enclosed("(", parameters, ")");
                if let Some(return_type) = return_type {
                    printer.right(return_type);
                }
            }
            Node::Array(size, element) => {
                if printer.last != b']' {
                    printer.write(" ");
                }
                printer.write("[");
                if let Some(size) = size {
                    printer.whole(size);
                }
                printer.write("]");
                printer.right(element);
            }
            _ => {}
        });
    }

    pub(super) fn template(&mut self, name: Id, arguments: &[Id]) {
        if self.spelling == Spelling::Java && matches!(self.node(name), Node::Text(b"JArray")) {
            self.list(arguments);
            return self.write("[]");
        }
        self.whole(name);
        if self.last == b'<' {
            self.write(" ");
        }
        self.write("<");
        self.list(arguments);
        if self.last == b'>' {
            self.write(" ");
        }
        self.write(">");
    }

    pub(super) fn operator_name(&mut self, operator: Operator) {
        self.write("operator");
        if operator.text.starts_with(|first: char| first.is_ascii_lowercase()) {
            self.write(" ");
        }
        self.write(operator.text.trim_end());
    }

    /// Prints nodes separated by commas. An empty pack leaves no comma after the others.
    pub(super) fn list(&mut self, parts: &[Id]) {
        let mut commas = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.write(", ");
                commas.push(self.out.len());
            }
            self.whole(*part);
        }
        while commas.pop().is_some_and(|end| end == self.out.len()) {
            self.out.truncate(self.out.len().saturating_sub(2));
        }
    }

    pub(super) fn enclosed(&mut self, open: &str, parts: &[Id], close: &str) {
        self.write(open);
        self.list(parts);
        self.write(close);
    }
}
