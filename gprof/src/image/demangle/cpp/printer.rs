//! The printer: from the tree to text.
//!
//! A type is written around what it is the type of: `int (*name)[3]`. So every node has a left part and a right part,
//! and most have no right part.

use super::operators::Operator;
use super::tree::{Id, Node, Signature, Tree};
use super::{DEEPEST, LONGEST};

/// Whether a text is a name of the standard library as the parser spells it.
pub(super) fn is_standard(text: &str) -> bool {
    text.starts_with("std::")
}

/// Writes a tree.
pub(super) struct Printer<'a> {
    tree: Tree<'a>,
    out: String,
    /// The character written last. The judge forgets to look again after it takes a comma back.
    last: char,
    depth: usize,
    /// The argument of packs that is being written.
    pack_index: usize,
    /// Work left before the name is held to be made to harm.
    left: usize,
    /// Whether the parameters of a lambda are being written.
    in_lambda: bool,
    failed: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(tree: Tree<'a>) -> Printer<'a> {
        Printer {
            tree,
            out: String::new(),
            last: ' ',
            depth: 0,
            pack_index: 0,
            left: LONGEST,
            in_lambda: false,
            failed: false,
        }
    }

    /// The text of a tree, or `None` when it nests too deep or gets too long.
    pub(super) fn print(mut self, root: Id) -> Option<String> {
        self.whole(root);
        (!self.failed).then_some(self.out)
    }

    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        self.last = text.chars().next_back().unwrap_or(self.last);
    }

    fn number(&mut self, number: u64) {
        self.write(&number.to_string());
    }

    fn node(&self, id: Id) -> Node<'a> {
        self.tree.nodes[id].clone()
    }

    /// Runs one step, unless that is one too many.
    fn step(&mut self, run: impl FnOnce(&mut Self)) {
        if self.failed || self.depth == 4 * DEEPEST || self.left == 0 || self.out.len() > LONGEST {
            self.failed = true;
            return;
        }
        self.left -= 1;
        self.depth += 1;
        run(self);
        self.depth -= 1;
    }

    fn whole(&mut self, id: Id) {
        self.step(|printer| {
            printer.left(id);
            printer.right(id);
        });
    }

    fn left(&mut self, id: Id) {
        let node = self.node(id);
        self.step(|printer| printer.left_of(id, node));
    }

    fn left_of(&mut self, id: Id, node: Node<'a>) {
        match node {
            Node::Text(text) => self.write(text),
            Node::Builtin(name, _) => self.write(name),
            Node::Member(whole, part) | Node::Local(whole, part) => {
                self.whole(whole);
                self.write("::");
                self.whole(part);
            }
            Node::DefaultArgument(number, name) => {
                self.write("{default arg#");
                self.number(number + 1);
                self.write("}::");
                self.whole(name);
            }
            Node::Template(name, arguments) => self.template(name, &arguments),
            Node::Function(name, signature) => self.function(name, signature),
            Node::TemplateParameter { index, .. } if self.in_lambda => {
                self.write("auto:");
                self.number(index as u64 + 1);
            }
            Node::TemplateParameter { .. } => match self.argument(id) {
                Some(argument) => self.left(argument),
                None => self.failed = true,
            },
            Node::Constructor(class) => self.whole(class),
            Node::Destructor(class) => {
                self.write("~");
                self.whole(class);
            }
            Node::Operator(operator) => self.operator_name(operator),
            Node::Conversion(target) => {
                self.write("operator ");
                self.whole(target);
            }
            Node::LiteralOperator(suffix) => {
                self.write("operator\"\" ");
                self.whole(suffix);
            }
            Node::Qualified(inner, qualifier) => {
                self.left(inner);
                if self.signature_below(inner).is_none() {
                    self.write(qualifier);
                }
            }
            Node::Pointer(inner) => self.pointer_left(inner, "*"),
            Node::Reference(..) => {
                let (inner, sign) = self.collapsed(id);
                self.pointer_left(inner, sign);
            }
            Node::MemberPointer(class, member) => {
                self.left(member);
                self.write(if self.is_around(member) { "(" } else { " " });
                self.whole(class);
                self.write("::*");
            }
            Node::Signature(signature) => {
                if let Some(gives) = signature.gives {
                    self.gives(gives);
                }
            }
            Node::Array(_, element) => self.left(element),
            Node::PackExpansion(pattern) => self.expand(pattern),
            node => self.rarer(node),
        }
    }

    /// The rest of the nodes, which have no right part.
    fn rarer(&mut self, node: Node<'a>) {
        match node {
            Node::Lambda(takes, number) => {
                self.write("{lambda(");
                let outer = std::mem::replace(&mut self.in_lambda, true);
                self.list(&takes);
                self.in_lambda = outer;
                self.write(")#");
                self.number(number + 1);
                self.write("}");
            }
            Node::Unnamed(number) => {
                self.write("{unnamed type#");
                self.number(number + 1);
                self.write("}");
            }
            Node::Tagged(name, tag) => {
                self.whole(name);
                self.write("[abi:");
                self.write(tag);
                self.write("]");
            }
            Node::Bound(names) => self.enclosed("[", &names, "]"),
            Node::Special(words, subject) => {
                self.write(words);
                self.whole(subject);
            }
            Node::ConstructionVtable(base, derived) => {
                self.write("construction vtable for ");
                self.whole(base);
                self.write("-in-");
                self.whole(derived);
            }
            Node::ReferenceTemporary(number, name) => {
                self.write("reference temporary #");
                self.number(number);
                self.write(" for ");
                self.whole(name);
            }
            Node::Clone(function, suffix) => {
                self.whole(function);
                self.write(" [clone ");
                self.write(suffix);
                self.write("]");
            }
            Node::VendorQualified(ty, name) => {
                self.whole(ty);
                self.write(" ");
                self.write(name);
            }
            Node::Complex(ty) => {
                self.whole(ty);
                self.write(" _Complex");
            }
            Node::Imaginary(ty) => {
                self.whole(ty);
                self.write(" _Imaginary");
            }
            Node::FloatOf(bits) => {
                self.write("_Float");
                self.write(bits);
            }
            Node::Vector(size, element) => {
                self.whole(element);
                self.write(" __vector(");
                self.whole(size);
                self.write(")");
            }
            Node::Pack(arguments) => self.list(&arguments),
            node => self.expression(node),
        }
    }

    fn expression(&mut self, node: Node<'a>) {
        match node {
            Node::Decltype(expression) => {
                self.write("decltype (");
                self.whole(expression);
                self.write(")");
            }
            Node::Literal(ty, negative, digits) => self.literal(ty, negative, digits),
            Node::Parameter(number) => {
                self.write("{parm#");
                self.number(number);
                self.write("}");
            }
            Node::Unary(operator, operand) => self.unary(operator, operand),
            Node::Suffix(operator, operand) => {
                self.operand(operand);
                self.write(operator.text);
            }
            Node::Binary(operator, first, second) => self.binary(operator, first, second),
            Node::Conditional(test, yes, no) => {
                self.operand(test);
                self.write("?");
                self.operand(yes);
                self.write(" : ");
                self.operand(no);
            }
            Node::Call(function, arguments) => {
                // The types of a function that is called are not shown.
                match self.node(function) {
                    Node::Function(name, _) => self.operand(name),
                    _ => self.operand(function),
                }
                self.enclosed("(", &arguments, ")");
            }
            Node::New(operator, placement, ty, arguments) => {
                self.write(operator.text);
                self.write(" ");
                if !placement.is_empty() {
                    self.enclosed("(", &placement, ") ");
                }
                self.whole(ty);
                if let Some(arguments) = arguments {
                    self.enclosed("(", &arguments, ")");
                }
            }
            Node::Cast(ty, operands) => {
                self.enclosed("(", &[ty], ")");
                self.enclosed("(", &operands, ")");
            }
            Node::NamedCast(cast, ty, operand) => {
                self.write(cast);
                self.enclosed("<", &[ty], ">");
                self.enclosed("(", &[operand], ")");
            }
            Node::Braces(ty, list) => {
                if let Some(ty) = ty {
                    self.whole(ty);
                }
                self.enclosed("{", &list, "}");
            }
            Node::PackSize(pack) => {
                let size = self.pack_in(pack).map_or(0, |pack| pack.len());
                self.number(size as u64);
            }
            _ => self.failed = true,
        }
    }

    fn right(&mut self, id: Id) {
        let node = self.node(id);
        self.step(|printer| match node {
            Node::TemplateParameter { .. } if printer.in_lambda => {}
            Node::TemplateParameter { .. } => match printer.argument(id) {
                Some(argument) => printer.right(argument),
                None => printer.failed = true,
            },
            Node::Qualified(inner, qualifier) => {
                printer.right(inner);
                if printer.signature_below(inner).is_some() {
                    printer.write(qualifier);
                }
            }
            Node::Pointer(inner) | Node::MemberPointer(_, inner) => printer.pointer_right(inner),
            Node::Reference(..) => {
                let (inner, _) = printer.collapsed(id);
                printer.pointer_right(inner);
            }
            Node::Signature(Signature { gives, takes }) => {
                printer.enclosed("(", &takes, ")");
                if let Some(gives) = gives {
                    printer.right(gives);
                }
            }
            Node::Array(size, element) => {
                if printer.last != ']' {
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

    fn pointer_left(&mut self, inner: Id, sign: &str) {
        self.left(inner);
        if self.is_around(inner) {
            if !matches!(self.last, ' ' | '(' | '*') {
                self.write(" ");
            }
            self.write("(");
        }
        self.write(sign);
    }

    fn pointer_right(&mut self, inner: Id) {
        if self.is_around(inner) {
            self.write(")");
        }
        self.right(inner);
    }

    /// Whether a type is written around what points to it: functions and arrays are.
    fn is_around(&self, id: Id) -> bool {
        match &self.tree.nodes[self.meant(id)] {
            Node::Signature(_) | Node::Array(..) => true,
            Node::Qualified(inner, _) => self.is_around(*inner),
            _ => false,
        }
    }

    /// The signature below qualifiers. They stand behind it, since they are those of a member function.
    fn signature_below(&self, id: Id) -> Option<Id> {
        match &self.tree.nodes[self.meant(id)] {
            Node::Signature(_) => Some(id),
            Node::Qualified(inner, _) => self.signature_below(*inner),
            _ => None,
        }
    }

    /// A part, or for a parameter of a template its argument.
    fn meant(&self, mut id: Id) -> Id {
        for _ in 0..DEEPEST {
            match self.argument(id) {
                Some(argument) => id = argument,
                None => break,
            }
        }
        id
    }

    /// A reference to a reference is one reference, and `&` wins.
    fn collapsed(&self, id: Id) -> (Id, &'static str) {
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
    fn argument(&self, id: Id) -> Option<Id> {
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
    fn arguments(&self, mut encoding: usize) -> Option<&Vec<Id>> {
        loop {
            match self.tree.encodings.get(encoding)? {
                (Some(arguments), _) => return Some(arguments),
                (None, outer) => encoding = (*outer)?,
            }
        }
    }

    fn template(&mut self, name: Id, arguments: &[Id]) {
        self.whole(name);
        if self.last == '<' {
            self.write(" ");
        }
        self.write("<");
        self.list(arguments);
        if self.last == '>' {
            self.write(" ");
        }
        self.write(">");
    }

    fn function(&mut self, name: Id, signature: Id) {
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

    /// What a function gives, before the function.
    fn gives(&mut self, ty: Id) {
        self.left(ty);
        if !self.has_right(ty) {
            self.write(" ");
        }
    }

    fn has_right(&self, id: Id) -> bool {
        match &self.tree.nodes[self.meant(id)] {
            Node::Signature(_) | Node::Array(..) => true,
            Node::Pointer(inner) | Node::Reference(inner, _) => self.has_right(*inner),
            Node::MemberPointer(_, inner) | Node::Qualified(inner, _) => self.has_right(*inner),
            _ => false,
        }
    }

    fn operator_name(&mut self, operator: Operator) {
        self.write("operator");
        if operator.text.starts_with(|first: char| first.is_ascii_lowercase()) {
            self.write(" ");
        }
        self.write(operator.text.trim_end());
    }

    /// Parts with commas between them. What stands for an empty pack leaves no comma behind the others.
    fn list(&mut self, parts: &[Id]) {
        let mut commas = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.write(", ");
                commas.push(self.out.len());
            }
            self.whole(*part);
        }
        while commas.pop().is_some_and(|end| end == self.out.len()) {
            self.out.truncate(self.out.len() - 2);
        }
    }

    fn enclosed(&mut self, open: &str, parts: &[Id], close: &str) {
        self.write(open);
        self.list(parts);
        self.write(close);
    }

    fn expand(&mut self, pattern: Id) {
        let Some(pack) = self.pack_in(pattern) else {
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
    fn pack_in(&self, id: Id) -> Option<Vec<Id>> {
        let mut search = vec![id];
        let mut steps = 0;
        while let Some(id) = search.pop() {
            steps += 1;
            if steps > LONGEST {
                return None;
            }
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

    fn literal(&mut self, ty: Id, negative: bool, digits: &str) {
        match (self.node(ty), digits, negative) {
            (Node::Builtin("bool", _), "0", false) => return self.write("false"),
            (Node::Builtin("bool", _), "1", false) => return self.write("true"),
            (Node::Builtin(_, Some(suffix)), _, _) => {
                if negative {
                    self.write("-");
                }
                self.write(digits);
                return self.write(suffix);
            }
            _ => {}
        }
        self.enclosed("(", &[ty], ")");
        if negative {
            self.write("-");
        }
        let is_float = matches!(self.node(ty), Node::Builtin("float" | "double" | "long double" | "__float128", _));
        if is_float {
            self.write("[");
        }
        self.write(digits);
        if is_float {
            self.write("]");
        }
    }

    fn unary(&mut self, operator: Operator, operand: Id) {
        self.write(operator.text);
        match (operator.code, self.node(operand)) {
            (b"gs", _) => self.whole(operand),
            (b"st" | b"nx", _) => self.enclosed("(", &[operand], ")"),
            // Of a function whose address is taken, only the name is shown.
            (b"ad", Node::Function(name, _)) if matches!(self.node(name), Node::Member(..)) => self.operand(name),
            _ => self.operand(operand),
        }
    }

    fn binary(&mut self, operator: Operator, first: Id, second: Id) {
        // One more pair around what could be taken for the end of template arguments.
        let closes = operator.text == ">";
        if closes {
            self.write("(");
        }
        self.operand(first);
        if operator.code == b"ix" {
            self.enclosed("[", &[second], "]");
        } else {
            self.write(operator.text);
            self.operand(second);
        }
        if closes {
            self.write(")");
        }
    }

    /// An operand, in parentheses unless it is simple.
    fn operand(&mut self, id: Id) {
        let simple = matches!(
            self.tree.nodes[id],
            Node::Text(_) | Node::Member(..) | Node::Braces(..) | Node::Parameter(_) | Node::Constructor(_)
        );
        if simple { self.whole(id) } else { self.enclosed("(", &[id], ")") }
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
