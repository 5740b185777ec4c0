//! The printer: types, and what stands for the parameters of templates.

use super::DEEPEST;
use super::printer::Printer;
use super::tree::{Id, Node, Qualifier, Signature};

impl<'a> Printer<'a> {
    pub(super) fn pointer_left(&mut self, inner: Id, sign: &str) {
        self.left(inner);
        if self.is_around(inner) {
            if !matches!(self.last, ' ' | '(' | '*') {
                self.write(" ");
            }
            self.write("(");
        }
        self.write(sign);
    }

    pub(super) fn pointer_right(&mut self, inner: Id) {
        if self.is_around(inner) {
            self.write(")");
        }
        self.right(inner);
    }

    /// Whether a type is written around what points to it: functions and arrays are.
    pub(super) fn is_around(&self, id: Id) -> bool {
        matches!(self.below_qualifiers(id), Node::Signature(_) | Node::Array(..))
    }

    /// Whether a type is that of a function below qualifiers. They stand behind it, since they are those of a member.
    pub(super) fn is_function(&self, id: Id) -> bool {
        matches!(self.below_qualifiers(id), Node::Signature(_))
    }

    /// Whether a type has a qualifier already: the argument of a template may bring what its parameter gets.
    pub(super) fn is_qualified(&self, mut id: Id, qualifier: Qualifier) -> bool {
        for _ in 0..DEEPEST {
            match self.tree.nodes[self.meant(id)] {
                Node::Qualified(_, known) if known == qualifier => return true,
                Node::Qualified(inner, _) => id = inner,
                _ => break,
            }
        }
        false
    }

    fn below_qualifiers(&self, mut id: Id) -> &Node<'a> {
        for _ in 0..DEEPEST {
            match &self.tree.nodes[self.meant(id)] {
                Node::Qualified(inner, _) => id = *inner,
                _ => break,
            }
        }
        &self.tree.nodes[self.meant(id)]
    }

    /// A part, or for a parameter of a template its argument.
    pub(super) fn meant(&self, mut id: Id) -> Id {
        for _ in 0..DEEPEST {
            match self.argument(id) {
                Some(argument) => id = argument,
                None => break,
            }
        }
        id
    }

    /// A reference to a reference is one reference, and `&` wins.
    pub(super) fn collapsed(&self, id: Id) -> (Id, &'static str) {
        let (mut inner, mut sign) = (id, "&&");
        for _ in 0..DEEPEST {
            let Node::Reference(next, of) = self.tree.nodes[self.meant(inner)] else {
                break;
            };
            sign = if of == "&" { of } else { sign };
            inner = next;
        }
        (inner, sign)
    }

    /// The argument that a parameter of a template stands for. Of a pack, it is the one that is being written.
    pub(super) fn argument(&self, id: Id) -> Option<Id> {
        let Node::TemplateParameter { encoding, index } = self.tree.nodes[id] else {
            return None;
        };
        if self.in_lambda {
            return None;
        }
        let argument = *self.arguments(encoding)?.get(index)?;
        match &self.tree.nodes[argument] {
            Node::Pack(arguments) => arguments.get(self.pack_index).copied().or(Some(argument)),
            _ => Some(argument),
        }
    }

    /// The arguments of the template that an encoding is an instance of, or else the one around it.
    pub(super) fn arguments(&self, mut encoding: usize) -> Option<&Vec<Id>> {
        loop {
            match self.tree.encodings.get(encoding)? {
                (Some(arguments), _) => return Some(arguments),
                (None, outer) => encoding = (*outer)?,
            }
        }
    }

    /// What a function gives, before the function.
    pub(super) fn gives(&mut self, ty: Id) {
        self.left(ty);
        if !self.has_right(ty) {
            self.write(" ");
        }
    }

    /// Whether a type has a part to the right of what it is the type of.
    fn has_right(&self, mut id: Id) -> bool {
        for _ in 0..DEEPEST {
            match &self.tree.nodes[self.meant(id)] {
                Node::Signature(_) | Node::Array(..) => return true,
                Node::Pointer(inner) | Node::Reference(inner, _) => id = *inner,
                Node::MemberPointer(_, inner) | Node::Qualified(inner, _) => id = *inner,
                _ => return false,
            }
        }
        false
    }

    pub(super) fn function(&mut self, name: Id, signature: Id) {
        let Node::Signature(Signature { gives, takes }) = self.node(signature) else {
            self.failed = true;
            return;
        };
        if let Some(gives) = gives {
            self.gives(gives);
        }
        let (mut bare, mut qualifiers) = (name, Vec::new());
        while let Node::Qualified(inner, qualifier) = self.tree.nodes[bare] {
            qualifiers.push(qualifier);
            bare = inner;
        }
        // Qualifiers of a member function that is local to another are those of its own name.
        if let Node::Local(function, entity) = self.node(bare) {
            self.whole(function);
            self.write("::");
            bare = entity;
            if let Node::DefaultArgument(number, inner) = self.node(bare) {
                self.write("{default arg#");
                self.number(number + 1);
                self.write("}::");
                bare = inner;
            }
            while let Node::Qualified(inner, qualifier) = self.tree.nodes[bare] {
                qualifiers.push(qualifier);
                bare = inner;
            }
        }
        self.whole(bare);
        self.enclosed("(", &takes, ")");
        for qualifier in qualifiers.into_iter().rev() {
            self.write(qualifier);
        }
        if let Some(gives) = gives {
            self.right(gives);
        }
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

    /// The first pack that is an argument somewhere in a part.
    pub(super) fn pack_in(&mut self, id: Id) -> Option<Vec<Id>> {
        let mut search = vec![id];
        while let Some(id) = search.pop() {
            self.left = self.left.checked_sub(1)?;
            match &self.tree.nodes[id] {
                Node::TemplateParameter { encoding, index } => {
                    let argument = self.arguments(*encoding).and_then(|arguments| arguments.get(*index));
                    if let Some(Node::Pack(pack)) = argument.map(|argument| &self.tree.nodes[*argument]) {
                        return Some(pack.clone());
                    }
                }
                Node::PackExpansion(_) | Node::Lambda(..) => {}
                node => search.extend(parts(node).into_iter().rev()),
            }
        }
        None
    }
}

/// The parts of a part that may hold packs.
fn parts(node: &Node<'_>) -> Vec<Id> {
    match node {
        Node::Member(one, other) | Node::Local(one, other) | Node::Function(one, other) => vec![*one, *other],
        Node::MemberPointer(one, other) | Node::Vector(one, other) | Node::NamedCast(_, one, other) => {
            vec![*one, *other]
        }
        Node::Binary(_, one, other) => vec![*one, *other],
        Node::New(_, placement, ty, arguments) => {
            placement.iter().chain([ty]).chain(arguments.iter().flatten()).copied().collect()
        }
        Node::Conditional(one, two, three) => vec![*one, *two, *three],
        Node::Template(one, more) | Node::Call(one, more) | Node::Cast(one, more) => {
            std::iter::once(*one).chain(more.iter().copied()).collect()
        }
        Node::Signature(Signature { gives, takes }) => gives.iter().chain(takes).copied().collect(),
        Node::Array(size, element) => size.iter().chain([element]).copied().collect(),
        Node::Braces(ty, list) => ty.iter().chain(list).copied().collect(),
        Node::Pack(list) => list.clone(),
        Node::Qualified(inner, _) | Node::Pointer(inner) | Node::Reference(inner, _) | Node::Decltype(inner) => {
            vec![*inner]
        }
        Node::Unary(_, inner) | Node::Suffix(_, inner) | Node::Tagged(inner, _) | Node::Conversion(inner) => {
            vec![*inner]
        }
        _ => Vec::new(),
    }
}
