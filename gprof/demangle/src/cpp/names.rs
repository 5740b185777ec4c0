//! Parses names.

use alloc::vec::Vec;

use super::operators;
use super::parser::Parser;
use super::tree::{Id, Node, Qualifier, Signature};

/// The abbreviated names of the standard library: the letter, the name, the full name before constructors and
/// destructors, and the name of these.
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
    pub(super) fn name(&mut self) -> Option<Id> {
        self.nested(|parser| match parser.peek()? {
            b'N' => parser.nested_name(),
            b'Z' => parser.local_name(),
            b'S' => parser.name_from_abbreviation(),
            _ => {
                let name = parser.unqualified_name()?;
                parser.maybe_template(name, true)
            }
        })
    }

    /// Parses a name that starts with `std::`, an abbreviation, or both.
    fn name_from_abbreviation(&mut self) -> Option<Id> {
        let standard = if self.eat(b"St") { Some(self.add(Node::Text(b"std"))) } else { None };
        let mut module = None;
        if self.peek() == Some(b'S') {
            let known = self.substitution(false)?;
            if !matches!(self.node(known), Node::Module(..)) {
                return if standard.is_none() { self.maybe_template(known, false) } else { None };
            }
            module = Some(known);
        }
        let name = self.unqualified_name_in(module)?;
        let name = match standard {
            Some(standard) => self.add(Node::Member(standard, name)),
            None => name,
        };
        self.maybe_template(name, true)
    }

    /// Parses template arguments after this name, if any follow.
    pub(super) fn maybe_template(&mut self, name: Id, is_new: bool) -> Option<Id> {
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
        self.expect(b"N")?;
        let is_explicit = self.is_newest && self.eat(b"H");
        let mut qualifiers = self.qualifiers()?;
        match self.peek() {
            Some(b'R') => qualifiers.push(Qualifier::plain(" &")),
            Some(b'O') => qualifiers.push(Qualifier::plain(" &&")),
            _ => {}
        }
        self.skip(usize::from(matches!(self.peek(), Some(b'R' | b'O'))));
        let mut name = self.prefix()?;
        self.expect(b"E")?;
        for qualifier in qualifiers {
            name = self.add(Node::Qualified(name, qualifier));
        }
        Some(if is_explicit { self.add(Node::ExplicitObject(name)) } else { name })
    }

    /// Parses qualifiers, which are in the order of the source.
    pub(super) fn qualifiers(&mut self) -> Option<Vec<Qualifier>> {
        let mut found = Vec::new();
        while let Some(qualifier) = self.qualifier()? {
            found.push(qualifier);
        }
        // The innermost qualifier comes last.
        found.reverse();
        Some(found)
    }

    /// Parses a qualifier if one comes next.
    fn qualifier(&mut self) -> Option<Option<Qualifier>> {
        let text = match (self.peek(), self.peek_next()) {
            (Some(b'r'), _) => " restrict",
            (Some(b'V'), _) => " volatile",
            (Some(b'K'), _) => " const",
            (Some(b'D'), Some(b'x' | b'o' | b'O' | b'w')) => return self.exception_specification().map(Some),
            _ => return Some(None),
        };
        self.skip(1);
        Some(Some(Qualifier::plain(text)))
    }

    fn exception_specification(&mut self) -> Option<Qualifier> {
        self.expect(b"D")?;
        let (text, argument) = match self.bump()? {
            b'x' => (" transaction_safe", None),
            b'o' => (" noexcept", None),
            b'O' => {
                let condition = self.expression()?;
                self.expect(b"E")?;
                (" noexcept", Some(condition))
            }
            _ => {
                let types = self.parameters()?;
                self.expect(b"E")?;
                (" throw", Some(self.add(Node::Pack(types))))
            }
        };
        Some(Qualifier { text, argument })
    }

    fn prefix(&mut self) -> Option<Id> {
        let mut whole: Option<Id> = None;
        loop {
            let mut peek = self.peek()?;
            let part = match peek {
                b'E' => return whole,
                b'M' => {
                    self.skip(1);
                    continue;
                }
                b'I' => {
                    whole = Some(self.template_in_prefix(whole?)?);
                    continue;
                }
                b'S' => {
                    let known = self.substitution(true)?;
                    if matches!(self.node(known), Node::Module(..)) {
                        // Unlike an abbreviation, this name may be abbreviated by later text.
                        peek = b'W';
                        self.unqualified_name_in(Some(known))?
                    } else if whole.is_none() {
                        known
                    } else {
                        return None;
                    }
                }
                b'T' if whole.is_none() => self.template_parameter()?,
                b'D' if whole.is_none() && matches!(self.peek_next(), Some(b'T' | b't')) => self.ty()?,
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

    /// Parses the arguments of a template in a prefix.
    fn template_in_prefix(&mut self, name: Id) -> Option<Id> {
        let arguments = self.template_arguments()?;
        let template = self.add(Node::Template(name, arguments));
        if self.peek()? != b'E' {
            self.remember(template);
        }
        Some(template)
    }

    pub(super) fn unqualified_name(&mut self) -> Option<Id> {
        self.unqualified_name_in(None)
    }

    /// Parses a name that is attached to a module. The name itself may contain the module.
    pub(super) fn unqualified_name_in(&mut self, module: Option<Id>) -> Option<Id> {
        let module = self.module(module)?;
        let is_friend = self.is_newest && self.eat(b"F");
        while self.is_newest && self.peek() == Some(b'L') && !self.peek_next().is_some_and(|next| next.is_ascii_digit())
        {
            self.skip(1);
        }
        let name = match self.peek()? {
            b'0'..=b'9' => self.source_name()?,
            b'd' if self.is_newest && self.in_expression && self.eat(b"dn") => {
                let class = if self.peek()?.is_ascii_digit() { self.source_name()? } else { self.ty()? };
                self.add(Node::Destructor(class))
            }
            b'a'..=b'z' if self.eat(b"on") => {
                // After `on`, `cv` is the name of an operator, not a cast.
                let in_expression = core::mem::replace(&mut self.in_expression, false);
                let name = self.operator_name();
                self.in_expression = in_expression;
                name?
            }
            b'a'..=b'z' => self.operator_name()?,
            b'D' if self.peek_next() == Some(b'C') => self.bound_names()?,
            b'C' | b'D' => self.constructor()?,
            b'L' => {
                self.skip(1);
                let name = self.source_name()?;
                self.discriminator()?;
                name
            }
            b'U' => self.unnamed()?,
            _ => return None,
        };
        let name = match module {
            Some(module) => self.add(Node::InModule(name, module)),
            None => name,
        };
        let name = self.tags(name)?;
        Some(if is_friend { self.add(Node::Friend(name)) } else { name })
    }

    /// Parses the rest of a module name and adds it to the module that is known so far.
    pub(super) fn module(&mut self, mut module: Option<Id>) -> Option<Option<Id>> {
        while self.eat(b"W") {
            let is_partition = self.eat(b"P");
            let name = self.identifier()?;
            let id = self.add(Node::Module(module, name, is_partition));
            module = Some(self.remember(id));
        }
        Some(module)
    }

    fn tags(&mut self, mut name: Id) -> Option<Id> {
        let last_name = self.last_name;
        while self.eat(b"B") {
            let tag = self.identifier()?;
            name = self.add(Node::Tagged(name, tag));
        }
        self.last_name = last_name;
        Some(name)
    }

    pub(super) fn source_name(&mut self) -> Option<Id> {
        let text = self.identifier()?;
        let anonymous = matches!(text.strip_prefix(b"_GLOBAL_"), Some([b'.' | b'_' | b'$', b'N', ..]));
        let name = self.add(Node::Text(if anonymous { b"(anonymous namespace)" } else { text }));
        self.last_name = Some(name);
        Some(name)
    }

    pub(super) fn operator_name(&mut self) -> Option<Id> {
        if self.eat(b"cv") {
            let conversion = core::mem::replace(&mut self.in_conversion, !self.in_expression);
            let target = self.ty();
            self.in_conversion = conversion;
            let target = target?;
            // In an expression, a conversion operator follows `on`.
            return if self.in_expression && !self.is_newest { None } else { Some(self.add(Node::Conversion(target))) };
        }
        if self.eat(b"li") {
            let suffix = self.source_name()?;
            return Some(self.add(Node::LiteralOperator(suffix)));
        }
        let operator = operators::find(self.text.get(self.at..)?.get(..2)?)?;
        self.skip(2);
        Some(self.add(Node::Operator(operator)))
    }

    fn constructor(&mut self) -> Option<Id> {
        if self.eat(b"D") {
            let class = self.last_name?;
            return matches!(self.bump()?, b'0'..=b'5').then(|| self.add(Node::Destructor(class)));
        }
        self.expect(b"C")?;
        let inherits = self.eat(b"I");
        if !matches!(self.bump()?, b'1'..=b'5') {
            return None;
        }
        if inherits {
            // The name is that of the class whose constructor is inherited.
            self.ty()?;
        }
        let class = self.last_name?;
        Some(self.add(Node::Constructor(class)))
    }

    fn bound_names(&mut self) -> Option<Id> {
        self.expect(b"DC")?;
        let mut names = Vec::new();
        while !self.eat(b"E") {
            names.push(self.source_name()?);
        }
        Some(self.add(Node::Bound(names)))
    }

    fn unnamed(&mut self) -> Option<Id> {
        if self.eat(b"Ut") {
            let number = self.compact_number()?;
            let unnamed = self.add(Node::Unnamed(number));
            return Some(self.remember(unnamed));
        }
        self.lambda()
    }

    fn local_name(&mut self) -> Option<Id> {
        self.expect(b"Z")?;
        let function = self.encoding()?;
        self.expect(b"E")?;
        let entity = if self.eat(b"s") {
            self.discriminator()?;
            self.add(Node::Text(b"string literal"))
        } else {
            let argument = if self.eat(b"d") { Some(self.compact_number()?) } else { None };
            let name = self.name()?;
            if !matches!(self.node(name), Node::Lambda(_) | Node::Unnamed(_)) {
                self.discriminator()?;
            }
            match argument {
                Some(number) => self.add(Node::DefaultArgument(number, name)),
                None => name,
            }
        };
        // The return type of the function would look like the return type of the entity in the function.
        if let Some(signature) = self.signature(function)
            && let Some(Node::Signature(Signature { return_type, .. })) = self.tree.nodes.get_mut(signature)
        {
            *return_type = None;
        }
        Some(self.add(Node::Local(function, entity)))
    }

    /// Parses the signature of a function.
    fn signature(&self, mut function: Id) -> Option<Id> {
        for _ in 0..3 {
            match self.node(function) {
                Node::Function(_, signature) => return Some(*signature),
                Node::Constrained(inner, ..) | Node::Enabled(inner, _) => function = *inner,
                _ => return None,
            }
        }
        None
    }

    /// Parses an abbreviation. In a prefix before a constructor or destructor, the full name is used.
    pub(super) fn substitution(&mut self, in_prefix: bool) -> Option<Id> {
        self.expect(b"S")?;
        let next = self.peek()?;
        if next == b'_' || next.is_ascii_digit() || next.is_ascii_uppercase() {
            let number = usize::try_from(self.sequence()?).ok()?;
            return self.substitutions.get(number).copied();
        }
        let (_, short, full, constructor) = STANDARD.iter().find(|(letter, ..)| *letter == next)?;
        self.skip(1);
        if !constructor.is_empty() {
            self.last_name = Some(self.add(Node::Text(constructor.as_bytes())));
        }
        let spelled_out = in_prefix && matches!(self.peek(), Some(b'C' | b'D'));
        let standard = self.add(Node::Text(if spelled_out { full.as_bytes() } else { short.as_bytes() }));
        if self.peek() != Some(b'B') {
            return Some(standard);
        }
        let tagged = self.tags(standard)?;
        Some(self.remember(tagged))
    }

    pub(super) fn template_parameter(&mut self) -> Option<Id> {
        self.expect(b"T")?;
        let level = if self.is_newest && self.eat(b"L") {
            let level = usize::try_from(self.number()?).ok()?.checked_add(1)?;
            self.expect(b"_")?;
            level
        } else {
            0
        };
        let index = usize::try_from(self.compact_number()?).ok()?;
        self.deepest_level = self.deepest_level.max(level);
        Some(self.add(if level == 0 { Node::TemplateParameter(index) } else { Node::DeepParameter(level, index) }))
    }

    pub(super) fn template_arguments(&mut self) -> Option<Vec<Id>> {
        let last_name = self.last_name;
        if !self.eat(b"I") {
            self.expect(b"J")?;
        }
        let arguments = self.argument_list()?;
        self.last_name = last_name;
        Some(arguments)
    }

    /// Parses template arguments up to an `E`. Constraints are parsed because later text may abbreviate their parts,
    /// but they are not printed.
    pub(super) fn argument_list(&mut self) -> Option<Vec<Id>> {
        let mut arguments = Vec::new();
        loop {
            if self.eat(b"E") {
                return Some(arguments);
            }
            if self.constraint()?.is_some() {
                self.expect(b"E")?;
                return Some(arguments);
            }
            if self.is_newest && self.at_parameter_declaration() {
                self.parameter_declaration()?;
            }
            arguments.push(self.template_argument()?);
        }
    }

    pub(super) fn template_argument(&mut self) -> Option<Id> {
        self.nested(|parser| match parser.peek()? {
            b'X' => {
                parser.skip(1);
                let expression = parser.expression()?;
                parser.expect(b"E")?;
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
}
