//! Prints types, and the arguments of template parameters.

use alloc::vec::Vec;

use super::options::{MAX_DEPTH, Spelling};
use super::printer::Printer;
use super::tree::{Id, Node, Qualifier, Signature};

impl<'t, 'a> Printer<'t, 'a> {
    pub(super) fn pointer_left(&mut self, inner: Id, sign: &str) {
        self.left(inner);
        match self.below_qualifiers(inner) {
            Node::Signature(_) if matches!(self.last, b' ' | b'(' | b'*') => self.write("("),
            Node::Array(..) | Node::Signature(_) => self.write(" ("),
            _ => {}
        }
        self.write(sign);
    }

    pub(super) fn pointer_right(&mut self, inner: Id) {
        if self.is_around(inner) {
            self.write(")");
        }
        self.right(inner);
    }

    /// Prints a qualifier and its argument in parentheses.
    pub(super) fn qualifier(&mut self, qualifier: Qualifier) {
        self.write(qualifier.text);
        if let Some(argument) = qualifier.argument {
            self.enclosed("(", &[argument], ")");
        }
    }

    /// Whether a type is printed around a pointer to it: true for functions and arrays.
    pub(super) fn is_around(&self, id: Id) -> bool {
        matches!(self.below_qualifiers(id), Node::Signature(_) | Node::Array(..))
    }

    /// Whether a type is a function type under qualifiers. These are printed after the type, as qualifiers of a
    /// member function.
    pub(super) fn is_function(&self, id: Id) -> bool {
        matches!(self.below_qualifiers(id), Node::Signature(_))
    }

    fn below_qualifiers(&self, id: Id) -> &'t Node<'a> {
        let mut part = self.meant((id, self.scope));
        for _ in 0..MAX_DEPTH {
            match self.node(part.0) {
                Node::Qualified(inner, _) => part = self.meant((*inner, part.1)),
                _ => break,
            }
        }
        self.node(part.0)
    }

    /// Prints the return type of a function before the function.
    pub(super) fn return_type(&mut self, ty: Id) {
        self.left(ty);
        if !self.has_right(ty) {
            self.write(" ");
        }
    }

    /// Whether a type has a right part.
    fn has_right(&self, id: Id) -> bool {
        let mut part = (id, self.scope);
        for _ in 0..MAX_DEPTH {
            part = self.meant(part);
            match self.node(part.0) {
                Node::Signature(_) | Node::Array(..) => return true,
                Node::Pointer(inner) | Node::Reference(inner, _) => part.0 = *inner,
                Node::MemberPointer(_, inner) | Node::Qualified(inner, _) => part.0 = *inner,
                _ => return false,
            }
        }
        false
    }

    pub(super) fn function(&mut self, name: Id, signature: Id) {
        let scope = match self.node(self.tree.bare(name)) {
            Node::Template(_, arguments) => self.inner_scope(arguments, name),
            _ => self.scope,
        };
        self.within(scope, |printer| printer.function_in_scope(name, signature));
    }

    fn function_in_scope(&mut self, name: Id, signature: Id) {
        let Node::Signature(Signature { return_type, parameters }) = self.node(signature) else {
            self.failed = true;
            return;
        };
        let is_inner = core::mem::replace(&mut self.in_function, true);
        let (before, behind) =
            if self.spelling == Spelling::Java && !is_inner { (None, *return_type) } else { (*return_type, None) };
        if let Some(return_type) = before {
            self.return_type(return_type);
        }
        let (mut bare, mut qualifiers) = (name, Vec::new());
        let is_explicit = if let Node::ExplicitObject(inner) = *self.node(bare) {
            bare = inner;
            true
        } else {
            false
        };
        bare = self.take_qualifiers(bare, &mut qualifiers);
        // Qualifiers of a local entity's enclosing member function belong to the name of that function.
        if let Node::Local(function, entity) = *self.node(bare) {
            let entity = self.enclosing_function(function, entity);
            bare = self.take_qualifiers(entity, &mut qualifiers);
        }
        self.whole(bare);
        self.enclosed(if is_explicit && !parameters.is_empty() { "(this " } else { "(" }, parameters, ")");
        for qualifier in qualifiers.into_iter().rev() {
            self.qualifier(qualifier);
        }
        if let Some(return_type) = before {
            self.right(return_type);
        }
        if let Some(return_type) = behind {
            self.whole(return_type);
        }
        self.in_function = is_inner;
    }

    /// Moves the qualifiers around a name to a list, and returns the name.
    fn take_qualifiers(&self, mut name: Id, qualifiers: &mut Vec<Qualifier>) -> Id {
        while let Node::Qualified(inner, qualifier) = *self.node(name) {
            qualifiers.push(qualifier);
            name = inner;
        }
        name
    }

    /// Prints the function around an entity, and the number of the default argument if the entity is in one. Returns
    /// the entity.
    fn enclosing_function(&mut self, function: Id, entity: Id) -> Id {
        self.whole(function);
        self.write_spelled("::");
        let Node::DefaultArgument(number, inner) = *self.node(entity) else { return entity };
        self.numbered("{default arg#", number.saturating_add(1), "}::");
        inner
    }
}
