//! The parser: names.

use super::operators;
use super::tree::{Id, Node, Qualifier, Signature, Tree};
use super::{DEEPEST, printer};

/// Reads a mangled name from front to back. What cannot be read ends the whole with `None`.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    tree: Tree<'a>,
    /// What `S_`, `S0_`, … stand for.
    substitutions: Vec<Id>,
    /// The name read last, which constructors are called by.
    last_name: Option<Id>,
    /// The encoding being read.
    encoding: usize,
    depth: usize,
    pub(super) in_expression: bool,
    pub(super) in_conversion: bool,
}

/// The standard library's names that have abbreviations: the letter, the name, what it stands for when constructors or
/// destructors follow, and what those are called.
const STANDARD: [(u8, &str, &str, &str); 7] = [
    (b't', "std", "std", ""),
    (b'a', "std::allocator", "std::allocator", "allocator"),
    (b'b', "std::basic_string", "std::basic_string", "basic_string"),
    (b's', "std::string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "basic_string"),
    (b'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >", "basic_istream"),
    (b'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"),
    (b'd', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >", "basic_iostream"),
];

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Parser<'a> {
        Parser {
            text,
            at: 0,
            tree: Tree::default(),
            substitutions: Vec::new(),
            last_name: None,
            encoding: 0,
            depth: 0,
            in_expression: false,
            in_conversion: false,
        }
    }

    pub(super) fn into_tree(self) -> Tree<'a> {
        self.tree
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    /// Goes on behind a text, if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(text.as_bytes());
        if found {
            self.at += text.len();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Option<()> {
        self.eat(text).then_some(())
    }

    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn add(&mut self, node: Node<'a>) -> Id {
        self.tree.nodes.push(node);
        self.tree.nodes.len() - 1
    }

    pub(super) fn node(&self, id: Id) -> &Node<'a> {
        &self.tree.nodes[id]
    }

    /// Makes a part one that later text may abbreviate.
    pub(super) fn remember(&mut self, id: Id) -> Id {
        self.substitutions.push(id);
        id
    }

    /// Reads a part that may hold others of its kind, unless they lie too deep.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads on, and goes back when what comes is not what was expected.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, nodes, known, last_name) = (self.at, self.tree.nodes.len(), self.substitutions.len(), self.last_name);
        let result = read(self);
        if result.is_none() {
            self.at = at;
            self.tree.nodes.truncate(nodes);
            self.substitutions.truncate(known);
            self.last_name = last_name;
        }
        result
    }

    /// The whole name: what is behind it must be what compilers call the copies that they make.
    pub(super) fn symbol(&mut self) -> Option<Id> {
        let mut symbol = self.encoding()?;
        while self.peek() == Some(b'.') {
            let rest = &self.text[self.at..];
            let word = rest[1..].bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
            let mut end = 1 + word;
            loop {
                let digits_at = if end == 1 { end } else { end + usize::from(rest[end..].starts_with('.')) };
                let digits = rest[digits_at..].bytes().take_while(u8::is_ascii_digit).count();
                if digits == 0 || (digits_at == end && end != 1) {
                    break;
                }
                end = digits_at + digits;
            }
            if end == 1 {
                return None;
            }
            self.at += end;
            symbol = self.add(Node::Clone(symbol, &rest[..end]));
        }
        self.peek().is_none().then_some(symbol)
    }

    /// A function with its signature, or the name of anything else.
    pub(super) fn encoding(&mut self) -> Option<Id> {
        self.nested(|parser| {
            let outer = (!parser.tree.encodings.is_empty()).then_some(parser.encoding);
            parser.encoding = parser.tree.encodings.len();
            parser.tree.encodings.push((None, outer));
            let result = parser.encoding_proper();
            parser.encoding = outer.unwrap_or(0);
            result
        })
    }

    fn encoding_proper(&mut self) -> Option<Id> {
        if matches!(self.peek(), Some(b'G' | b'T')) {
            return self.special();
        }
        let name = self.name()?;
        self.tree.encodings[self.encoding].0 = self.arguments_of(name);
        if matches!(self.peek(), None | Some(b'E')) {
            return Some(name);
        }
        let gives = self.gives_type(name);
        let signature = self.bare_function(gives)?;
        let signature = self.add(Node::Signature(signature));
        Some(self.add(Node::Function(name, signature)))
    }

    /// The arguments of the template that a name is an instance of.
    fn arguments_of(&self, name: Id) -> Option<Vec<Id>> {
        match self.node(name) {
            Node::Template(_, arguments) => Some(arguments.clone()),
            Node::Qualified(inner, _) | Node::Local(_, inner) | Node::DefaultArgument(_, inner) => {
                self.arguments_of(*inner)
            }
            _ => None,
        }
    }

    /// Whether the signature of a function of this name begins with what it gives: that of templates does, but for
    /// functions whose name says it.
    fn gives_type(&self, name: Id) -> bool {
        match self.node(name) {
            Node::Template(inner, _) => !self.says_type(*inner),
            Node::Qualified(inner, _) | Node::Local(_, inner) => self.gives_type(*inner),
            _ => false,
        }
    }

    fn says_type(&self, name: Id) -> bool {
        match self.node(name) {
            Node::Member(_, inner) | Node::Local(_, inner) => self.says_type(*inner),
            Node::Constructor(_) | Node::Destructor(_) | Node::Conversion(_) => true,
            _ => false,
        }
    }

    fn special(&mut self) -> Option<Id> {
        let kind = (self.bump()?, self.bump()?);
        let (words, subject) = match kind {
            (b'T', b'V') => ("vtable for ", self.ty()?),
            (b'T', b'T') => ("VTT for ", self.ty()?),
            (b'T', b'I') => ("typeinfo for ", self.ty()?),
            (b'T', b'S') => ("typeinfo name for ", self.ty()?),
            (b'T', b'F') => ("typeinfo fn for ", self.ty()?),
            (b'T', b'J') => ("java Class for ", self.ty()?),
            (b'T', b'H') => ("TLS init function for ", self.name()?),
            (b'T', b'W') => ("TLS wrapper function for ", self.name()?),
            (b'T', b'A') => ("template parameter object for ", self.template_argument()?),
            (b'T', b'h') => {
                self.offset(b'h')?;
                ("non-virtual thunk to ", self.encoding()?)
            }
            (b'T', b'v') => {
                self.offset(b'v')?;
                ("virtual thunk to ", self.encoding()?)
            }
            (b'T', b'c') => {
                for _ in 0..2 {
                    let kind = self.bump()?;
                    self.offset(kind)?;
                }
                ("covariant return thunk to ", self.encoding()?)
            }
            (b'T', b'C') => return self.construction_vtable(),
            (b'G', b'V') => ("guard variable for ", self.name()?),
            (b'G', b'R') => return self.reference_temporary(),
            (b'G', b'A') => ("hidden alias for ", self.encoding()?),
            (b'G', b'T') => match self.bump()? {
                b'n' => ("non-transaction clone for ", self.encoding()?),
                _ => ("transaction clone for ", self.encoding()?),
            },
            _ => return None,
        };
        Some(self.add(Node::Special(words, subject)))
    }

    fn construction_vtable(&mut self) -> Option<Id> {
        let derived = self.ty()?;
        self.number()?;
        self.expect("_")?;
        let base = self.ty()?;
        Some(self.add(Node::ConstructionVtable(base, derived)))
    }

    fn reference_temporary(&mut self) -> Option<Id> {
        let name = self.name()?;
        let number = self.sequence()?;
        Some(self.add(Node::ReferenceTemporary(number, name)))
    }

    /// The offset of a thunk, which nobody shows.
    fn offset(&mut self, kind: u8) -> Option<()> {
        self.signed_number()?;
        self.expect("_")?;
        if kind == b'v' {
            self.signed_number()?;
            self.expect("_")?;
        }
        matches!(kind, b'h' | b'v').then_some(())
    }

    pub(super) fn name(&mut self) -> Option<Id> {
        self.nested(|parser| match parser.peek()? {
            b'N' => parser.nested_name(),
            b'Z' => parser.local_name(),
            b'S' if parser.peek_next() != Some(b't') => {
                let name = parser.substitution(false)?;
                parser.maybe_template(name, false)
            }
            b'S' => {
                parser.at += 2;
                let standard = parser.add(Node::Text("std"));
                let name = parser.unqualified_name()?;
                let name = parser.add(Node::Member(standard, name));
                parser.maybe_template(name, true)
            }
            _ => {
                let name = parser.unqualified_name()?;
                parser.maybe_template(name, true)
            }
        })
    }

    /// An instance of the template of this name, if arguments follow.
    fn maybe_template(&mut self, name: Id, is_new: bool) -> Option<Id> {
        if self.peek() != Some(b'I') {
            return Some(name);
        }
        if is_new {
            self.remember(name);
        }
        let arguments = self.template_arguments()?;
        Some(self.add(Node::Template(name, arguments)))
    }

    fn nested_name(&mut self) -> Option<Id> {
        self.expect("N")?;
        let mut qualifiers = self.qualifiers();
        match self.peek() {
            Some(b'R') => qualifiers.push(" &"),
            Some(b'O') => qualifiers.push(" &&"),
            _ => {}
        }
        self.at += usize::from(matches!(self.peek(), Some(b'R' | b'O')));
        let mut name = self.prefix()?;
        self.expect("E")?;
        for qualifier in qualifiers {
            name = self.add(Node::Qualified(name, qualifier));
        }
        Some(name)
    }

    /// The qualifiers that come next. They stand in the order in which they are written.
    pub(super) fn qualifiers(&mut self) -> Vec<Qualifier> {
        let mut found = Vec::new();
        loop {
            found.push(match self.peek() {
                Some(b'r') => " __restrict",
                Some(b'V') => " volatile",
                Some(b'K') => " const",
                _ => break,
            });
            self.at += 1;
        }
        // The innermost comes last.
        found.reverse();
        found
    }

    fn prefix(&mut self) -> Option<Id> {
        let mut whole: Option<Id> = None;
        loop {
            let peek = self.peek()?;
            let part = match peek {
                b'E' => return whole,
                b'M' => {
                    self.at += 1;
                    continue;
                }
                b'I' => {
                    let arguments = self.template_arguments()?;
                    let template = self.add(Node::Template(whole?, arguments));
                    if self.peek()? != b'E' {
                        self.remember(template);
                    }
                    whole = Some(template);
                    continue;
                }
                b'S' => self.substitution(true)?,
                b'T' => self.template_parameter()?,
                b'D' if matches!(self.peek_next(), Some(b'T' | b't')) => self.ty()?,
                _ => self.unqualified_name()?,
            };
            let joined = match whole {
                None => part,
                Some(before) => self.add(Node::Member(before, part)),
            };
            if peek != b'S' && self.peek()? != b'E' {
                self.remember(joined);
            }
            whole = Some(joined);
        }
    }

    pub(super) fn unqualified_name(&mut self) -> Option<Id> {
        let name = match self.peek()? {
            b'0'..=b'9' => self.source_name()?,
            b'a'..=b'z' => self.operator_name()?,
            b'D' if self.peek_next() == Some(b'C') => self.bound_names()?,
            b'C' | b'D' => self.constructor()?,
            b'L' => {
                self.at += 1;
                let name = self.source_name()?;
                self.discriminator()?;
                name
            }
            b'U' => self.unnamed()?,
            _ => return None,
        };
        self.tags(name)
    }

    fn tags(&mut self, mut name: Id) -> Option<Id> {
        let last_name = self.last_name;
        while self.eat("B") {
            let tag = self.identifier()?;
            name = self.add(Node::Tagged(name, tag));
        }
        self.last_name = last_name;
        Some(name)
    }

    pub(super) fn source_name(&mut self) -> Option<Id> {
        let text = self.identifier()?;
        let anonymous = text
            .strip_prefix("_GLOBAL_")
            .is_some_and(|rest| rest.starts_with(['.', '_', '$']) && rest[1..].starts_with('N'));
        let name = self.add(Node::Text(if anonymous { "(anonymous namespace)" } else { text }));
        self.last_name = Some(name);
        Some(name)
    }

    /// A length and as many bytes.
    pub(super) fn identifier(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok().filter(|length| *length > 0)?;
        let text = self.text.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(text)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        let number = self.text[self.at..self.at + digits].parse().ok()?;
        self.at += digits;
        Some(number)
    }

    fn signed_number(&mut self) -> Option<u64> {
        self.eat("n");
        self.number()
    }

    /// A number that counts from `_`, `0_`, `1_`, …
    pub(super) fn compact_number(&mut self) -> Option<u64> {
        if self.eat("_") {
            return Some(0);
        }
        let number = self.number()?.checked_add(1)?;
        self.expect("_")?;
        Some(number)
    }

    /// A number that counts from `_`, `0_`, …, `9_`, `A_`, …
    fn sequence(&mut self) -> Option<u64> {
        let rest = &self.text[self.at..];
        let digits = &rest[..rest.find('_')?];
        self.at += digits.len() + 1;
        if digits.is_empty() {
            return Some(0);
        }
        if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) {
            return None;
        }
        u64::from_str_radix(digits, 36).ok()?.checked_add(1)
    }

    /// What tells things of one name in one function apart, which nobody shows.
    fn discriminator(&mut self) -> Option<()> {
        if !self.eat("_") {
            return Some(());
        }
        let long = self.eat("_");
        let number = self.number()?;
        if long && number >= 10 { self.expect("_") } else { Some(()) }
    }

    fn operator_name(&mut self) -> Option<Id> {
        if self.eat("cv") {
            let conversion = std::mem::replace(&mut self.in_conversion, !self.in_expression);
            let target = self.ty();
            self.in_conversion = conversion;
            let target = target?;
            return Some(if self.in_expression {
                self.add(Node::Cast(target, Vec::new()))
            } else {
                self.add(Node::Conversion(target))
            });
        }
        if self.eat("li") {
            let suffix = self.source_name()?;
            return Some(self.add(Node::LiteralOperator(suffix)));
        }
        let operator = operators::find(self.text.as_bytes().get(self.at..self.at + 2)?)?;
        self.at += 2;
        Some(self.add(Node::Operator(operator)))
    }

    fn constructor(&mut self) -> Option<Id> {
        if self.eat("D") {
            let class = self.last_name?;
            return matches!(self.bump()?, b'0'..=b'5').then(|| self.add(Node::Destructor(class)));
        }
        self.expect("C")?;
        let inherits = self.eat("I");
        if !matches!(self.bump()?, b'1'..=b'5') {
            return None;
        }
        if inherits {
            // The class whose constructor is inherited is the one that is named.
            self.ty()?;
        }
        let class = self.last_name?;
        Some(self.add(Node::Constructor(class)))
    }

    fn bound_names(&mut self) -> Option<Id> {
        self.expect("DC")?;
        let mut names = Vec::new();
        while !self.eat("E") {
            names.push(self.source_name()?);
        }
        Some(self.add(Node::Bound(names)))
    }

    fn unnamed(&mut self) -> Option<Id> {
        if self.eat("Ut") {
            let number = self.compact_number()?;
            let unnamed = self.add(Node::Unnamed(number));
            return Some(self.remember(unnamed));
        }
        self.expect("Ul")?;
        let takes = self.parameters()?;
        self.expect("E")?;
        let number = self.compact_number()?;
        Some(self.add(Node::Lambda(takes, number)))
    }

    fn local_name(&mut self) -> Option<Id> {
        self.expect("Z")?;
        let function = self.encoding()?;
        self.expect("E")?;
        let entity = if self.eat("s") {
            self.discriminator()?;
            self.add(Node::Text("string literal"))
        } else {
            let argument = if self.eat("d") { Some(self.compact_number()?) } else { None };
            let name = self.name()?;
            if !matches!(self.node(name), Node::Lambda(..) | Node::Unnamed(_)) {
                self.discriminator()?;
            }
            match argument {
                Some(number) => self.add(Node::DefaultArgument(number, name)),
                None => name,
            }
        };
        // What the function gives would look like what the thing in it gives.
        if let Node::Function(_, signature) = *self.node(function)
            && let Node::Signature(Signature { gives, .. }) = &mut self.tree.nodes[signature]
        {
            *gives = None;
        }
        Some(self.add(Node::Local(function, entity)))
    }

    /// An abbreviation. In a prefix, one before a constructor or destructor is spelt out.
    pub(super) fn substitution(&mut self, in_prefix: bool) -> Option<Id> {
        self.expect("S")?;
        let next = self.peek()?;
        if next == b'_' || next.is_ascii_digit() || next.is_ascii_uppercase() {
            let number = usize::try_from(self.sequence()?).ok()?;
            return self.substitutions.get(number).copied();
        }
        let (_, short, full, constructor) = STANDARD.iter().find(|(letter, ..)| *letter == next)?;
        self.at += 1;
        if !constructor.is_empty() {
            self.last_name = Some(self.add(Node::Text(constructor)));
        }
        let spelt_out = in_prefix && matches!(self.peek(), Some(b'C' | b'D'));
        let standard = self.add(Node::Text(if spelt_out { full } else { short }));
        if self.peek() != Some(b'B') {
            return Some(standard);
        }
        let tagged = self.tags(standard)?;
        Some(self.remember(tagged))
    }

    pub(super) fn template_parameter(&mut self) -> Option<Id> {
        self.expect("T")?;
        let number = self.compact_number()?;
        let index = usize::try_from(number).ok()?;
        Some(self.add(Node::TemplateParameter { encoding: self.encoding, index }))
    }

    pub(super) fn template_arguments(&mut self) -> Option<Vec<Id>> {
        let last_name = self.last_name;
        if !self.eat("I") {
            self.expect("J")?;
        }
        let mut arguments = Vec::new();
        while !self.eat("E") {
            arguments.push(self.template_argument()?);
        }
        self.last_name = last_name;
        Some(arguments)
    }

    fn template_argument(&mut self) -> Option<Id> {
        self.nested(|parser| match parser.peek()? {
            b'X' => {
                parser.at += 1;
                let expression = parser.expression()?;
                parser.expect("E")?;
                Some(expression)
            }
            b'L' => parser.literal(),
            b'I' | b'J' => {
                let pack = parser.template_arguments()?;
                Some(parser.add(Node::Pack(pack)))
            }
            _ => parser.ty(),
        })
    }

    /// Whether a part is one of the standard library's names, which are never abbreviated again.
    pub(super) fn is_standard(&self, id: Id) -> bool {
        matches!(self.node(id), Node::Text(text) if printer::is_standard(text))
    }
}

impl<'a> Parser<'a> {
    /// The digits that come next.
    pub(super) fn digits(&mut self) -> &'a str {
        let count = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        let digits = &self.text[self.at..self.at + count];
        self.at += count;
        digits
    }

    /// The text before an `E`, behind which reading goes on.
    pub(super) fn up_to_end(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        let text = &rest[..rest.find('E')?];
        self.at += text.len() + 1;
        Some(text)
    }
}
