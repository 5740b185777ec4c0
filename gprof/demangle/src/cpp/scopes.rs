//! Finds the arguments of template parameters.
//!
//! `T_` is a parameter of the innermost function template around the place where `T_` is *printed*, which may differ
//! from the place where it was parsed: `S_` may stand for `T_` in another function. An argument belongs to the scope
//! around its function.

use alloc::vec;
use alloc::vec::Vec;

use super::options::MAX_DEPTH;
use super::printer::{Printer, Scope};
use super::tree::{DesignatorKind, Id, Node, Qualifier, Signature};

/// A node, and the scope in which it is printed.
pub(super) type Place = (Id, Option<usize>);

impl<'t> Printer<'t, '_> {
    /// Makes a scope inside the current one.
    pub(super) fn inner_scope(&mut self, arguments: &'t [Id], function: Id) -> Option<usize> {
        let scope = self.scopes.len();
        self.scopes.push(Scope { arguments, outer: self.scope, function });
        Some(scope)
    }

    /// Makes a scope for the constraint of a function. In a constraint, parameters count from the outermost template.
    /// Parameters of a level that the function's name does not have stay unknown, because otherwise other parameters
    /// would get wrong arguments.
    pub(super) fn scope_of_constraint(&mut self, function: Id, level: usize) -> Option<usize> {
        let Node::Function(name, _) = *self.node(function) else {
            return None;
        };
        self.arguments_at(name, level)?;
        let arguments = self.arguments_at(name, 0)?;
        self.inner_scope(arguments, name)
    }

    /// The arguments of the n-th template in a name, from the outside.
    fn arguments_at(&self, name: Id, level: usize) -> Option<&'t [Id]> {
        let mut levels = Vec::new();
        let mut part = self.tree.bare(name);
        for _ in 0..MAX_DEPTH {
            part = match self.node(part) {
                Node::Template(inner, arguments) => {
                    levels.push(arguments.as_slice());
                    *inner
                }
                Node::Member(scope, _) => *scope,
                _ => break,
            };
        }
        levels.iter().rev().nth(level).copied()
    }

    /// Prints in another scope.
    pub(super) fn within(&mut self, scope: Option<usize>, write: impl FnOnce(&mut Self)) {
        let outer = core::mem::replace(&mut self.scope, scope);
        write(self);
        self.scope = outer;
    }

    /// The argument of a template parameter; for a pack, the current element.
    pub(super) fn argument(&self, (id, scope): Place) -> Option<Place> {
        let (level, index) = match *self.node(id) {
            Node::TemplateParameter(index) => (None, index),
            Node::DeepParameter(level, index) => (Some(level), index),
            _ => return None,
        };
        if self.in_lambda {
            return None;
        }
        let scope = self.scopes.get(scope?)?;
        let arguments = match level {
            Some(level) => self.arguments_at(scope.function, level)?,
            None => scope.arguments,
        };
        let argument = *arguments.get(index)?;
        let argument = match self.node(argument) {
            Node::Pack(arguments) => arguments.get(self.pack_index).copied().unwrap_or(argument),
            _ => argument,
        };
        Some((argument, scope.outer))
    }

    /// A node, or the argument if the node is a template parameter.
    pub(super) fn meant(&self, mut part: Place) -> Place {
        for _ in 0..MAX_DEPTH {
            match self.argument(part) {
                Some(argument) => part = argument,
                None => break,
            }
        }
        part
    }

    /// A reference to a reference is one reference, and `&` wins.
    pub(super) fn collapsed(&mut self, id: Id) -> (Place, &'static str) {
        let (mut part, mut sign) = ((id, self.scope), "&&");
        for _ in 0..MAX_DEPTH {
            let (reference, scope) = self.meant(part);
            let Node::Reference(inner, of) = *self.node(reference) else {
                break;
            };
            sign = if of == "&" { of } else { sign };
            part = (inner, self.scope_of_reference(reference, inner, scope));
        }
        (part, sign)
    }

    /// The scope of the target of a reference. A reference to a parameter keeps the scope in which it was first
    /// printed, as in GNU's demangler, unless it is being printed.
    fn scope_of_reference(&mut self, reference: Id, inner: Id, scope: Option<usize>) -> Option<usize> {
        if self.in_lambda || !matches!(self.node(inner), Node::TemplateParameter(_)) {
            return scope;
        }
        let first = *self.kept.entry(inner).or_insert(scope);
        let above = self.active.split_last().map_or(&[][..], |(_, above)| above);
        if self.active.contains(&inner) || above.contains(&reference) { scope } else { first }
    }

    pub(super) fn expand(&mut self, pattern: Id) {
        let pack = if self.in_lambda { None } else { self.pack_in(pattern) };
        let Some(pack) = pack else {
            self.operand(pattern);
            self.write("...");
            return;
        };
        let outer = self.pack_index;
        for index in 0..pack.len() {
            if index > 0 {
                self.write(", ");
            }
            self.pack_index = index;
            self.whole(pattern);
        }
        self.pack_index = outer;
    }

    /// The first pack among the arguments in a node.
    pub(super) fn pack_in(&mut self, id: Id) -> Option<&'t [Id]> {
        let mut search = vec![id];
        while let Some(id) = search.pop() {
            self.steps_left = self.steps_left.checked_sub(1)?;
            match self.node(id) {
                Node::DeepParameter(level, index) => {
                    let scope = self.scope.and_then(|scope| self.scopes.get(scope));
                    let arguments = scope.and_then(|scope| self.arguments_at(scope.function, *level));
                    let argument = arguments.and_then(|arguments| arguments.get(*index));
                    if let Some(Node::Pack(pack)) = argument.map(|argument| self.node(*argument)) {
                        return Some(pack);
                    }
                }
                Node::TemplateParameter(index) => {
                    let scope = self.scope.and_then(|scope| self.scopes.get(scope));
                    let argument = scope.and_then(|scope| scope.arguments.get(*index));
                    if let Some(Node::Pack(pack)) = argument.map(|argument| self.node(*argument)) {
                        return Some(pack);
                    }
                }
                Node::PackExpansion(_) | Node::Lambda(_) => {}
                node => search.extend(parts(node).into_iter().rev()),
            }
        }
        None
    }
}

/// The children of a node that may contain packs.
fn parts(node: &Node<'_>) -> Vec<Id> {
    match node {
        Node::Member(one, other) | Node::Local(one, other) | Node::Function(one, other) => vec![*one, *other],
        Node::MemberPointer(one, other) | Node::Vector(one, other) | Node::NamedCast(_, one, other) => {
            vec![*one, *other]
        }
        Node::Binary(_, one, other) | Node::CastOne(one, other) => vec![*one, *other],
        Node::Designated(designator, DesignatorKind::Range(end), value) => vec![*designator, *end, *value],
        Node::Designated(designator, _, value) => vec![*designator, *value],
        Node::Fold(_, _, first, second) => core::iter::once(first).chain(second).copied().collect(),
        Node::New(placement, ty, arguments) => placement.iter().chain([ty]).chain(arguments).copied().collect(),
        Node::Conditional(one, two, three) => vec![*one, *two, *three],
        Node::Template(one, more) | Node::Call(one, more) | Node::VendorExpression(one, more) => {
            core::iter::once(*one).chain(more.iter().copied()).collect()
        }
        Node::Signature(Signature { return_type, parameters }) => {
            return_type.iter().chain(parameters).copied().collect()
        }
        Node::Requires(one, more) => one.iter().chain(more).copied().collect(),
        Node::RequiredExpression(one, _, other) => core::iter::once(one).chain(other).copied().collect(),
        Node::Transformed(one, more) => core::iter::once(one).chain(more).copied().collect(),
        Node::SubObject(one, other, ..) => vec![*one, *other],
        Node::RequiredType(inner) | Node::RequiredConstraint(inner) | Node::ConstrainedAuto(inner, _) => vec![*inner],
        Node::Array(size, element) => size.iter().chain([element]).copied().collect(),
        Node::Braces(ty, list) | Node::Cast(ty, list) => ty.iter().chain(list).copied().collect(),
        Node::Pack(list) => list.clone(),
        Node::Qualified(inner, Qualifier { argument: Some(argument), .. }) => vec![*inner, *argument],
        Node::Qualified(inner, Qualifier { argument: None, .. })
        | Node::Pointer(inner)
        | Node::Reference(inner, _)
        | Node::Decltype(inner) => {
            vec![*inner]
        }
        Node::Unary(_, inner) | Node::Suffix(_, inner) | Node::Tagged(inner, _) | Node::Conversion(inner) => {
            vec![*inner]
        }
        _ => Vec::new(),
    }
}
