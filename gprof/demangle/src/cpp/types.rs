//! Parses types.

use alloc::vec::Vec;

use super::parser::{Parser, value};
use super::tree::{Id, Node, Qualifier, Signature};

/// The types with codes of one letter, with the suffixes of their literals.
const BUILTIN: [(u8, &str, Option<&str>); 21] = [
    (b'a', "signed char", None),
    (b'b', "bool", None),
    (b'c', "char", None),
    (b'd', "double", None),
    (b'e', "long double", None),
    (b'f', "float", None),
    (b'g', "__float128", None),
    (b'h', "unsigned char", None),
    (b'i', "int", Some("")),
    (b'j', "unsigned int", Some("u")),
    (b'l', "long", Some("l")),
    (b'm', "unsigned long", Some("ul")),
    (b'n', "__int128", None),
    (b'o', "unsigned __int128", None),
    (b's', "short", None),
    (b't', "unsigned short", None),
    (b'v', "void", None),
    (b'w', "wchar_t", None),
    (b'x', "long long", Some("ll")),
    (b'y', "unsigned long long", Some("ull")),
    (b'z', "...", None),
];

/// The types with codes of `D` and a letter.
const MORE_BUILTIN: [(u8, &str); 10] = [
    (b'a', "auto"),
    (b'c', "decltype(auto)"),
    (b'd', "decimal64"),
    (b'e', "decimal128"),
    (b'f', "decimal32"),
    (b'h', "half"),
    (b'i', "char32_t"),
    (b'n', "decltype(nullptr)"),
    (b's', "char16_t"),
    (b'u', "char8_t"),
];

impl<'a> Parser<'a> {
    pub(super) fn ty(&mut self) -> Option<Id> {
        self.nested(Self::ty_proper)
    }

    fn ty_proper(&mut self) -> Option<Id> {
        let peek = self.peek()?;
        if let Some((_, name, suffix)) = BUILTIN.iter().find(|(letter, ..)| *letter == peek) {
            self.bump();
            return Some(self.add(Node::Builtin(name, *suffix)));
        }
        let ty = match peek {
            b'r' | b'V' | b'K' => self.qualified()?,
            b'P' => self.wrapped(Node::Pointer)?,
            b'R' => self.wrapped(|inner| Node::Reference(inner, "&"))?,
            b'O' => self.wrapped(|inner| Node::Reference(inner, "&&"))?,
            b'C' => self.wrapped(Node::Complex)?,
            b'G' => self.wrapped(Node::Imaginary)?,
            b'F' => self.function()?,
            b'A' => self.array()?,
            b'M' => self.member_pointer()?,
            b'T' => self.parameter_type()?,
            b'S' => return self.abbreviated(),
            b'D' => return self.longer_type(),
            b'u' => {
                self.bump();
                let name = self.identifier()?;
                let name = self.add(Node::Text(name));
                if self.is_newest && self.peek() == Some(b'I') {
                    let arguments = self.template_arguments()?;
                    self.add(Node::Transformed(name, arguments))
                } else {
                    name
                }
            }
            b'U' if self.peek_next().is_some_and(|next| next.is_ascii_digit()) => self.vendor_qualified()?,
            b'0'..=b'9' | b'N' | b'Z' | b'W' => self.name()?,
            b'U' if self.is_newest => self.name()?,
            _ => return None,
        };
        Some(self.remember(ty))
    }

    fn wrapped(&mut self, wrap: impl FnOnce(Id) -> Node<'a>) -> Option<Id> {
        self.bump();
        let inner = self.ty()?;
        Some(self.add(wrap(inner)))
    }

    fn qualified(&mut self) -> Option<Id> {
        let mut qualifiers = self.qualifiers()?;
        // A qualified function type is that of a member function: the function type alone cannot be abbreviated.
        let mut ty = if self.peek() == Some(b'F') {
            let (function, reference) = self.bare_function_type()?;
            qualifiers.extend(reference);
            function
        } else {
            self.ty()?
        };
        for qualifier in qualifiers {
            ty = self.add(Node::Qualified(ty, qualifier));
        }
        Some(ty)
    }

    fn vendor_qualified(&mut self) -> Option<Id> {
        self.expect(b"U")?;
        let name = self.identifier()?;
        let name = self.add(Node::Text(name));
        let name = self.with_arguments(name)?;
        let ty = self.ty()?;
        Some(self.add(Node::VendorQualified(ty, name)))
    }

    fn function(&mut self) -> Option<Id> {
        let (function, reference) = self.bare_function_type()?;
        Some(match reference {
            Some(reference) => self.add(Node::Qualified(function, reference)),
            None => function,
        })
    }

    /// Parses a function type, and the `&` or `&&` for the object of a member function.
    fn bare_function_type(&mut self) -> Option<(Id, Option<Qualifier>)> {
        self.expect(b"F")?;
        self.eat(b"Y");
        let signature = self.bare_function(true)?;
        let function = self.add(Node::Signature(signature));
        let reference = if self.eat(b"R") {
            Some(Qualifier::plain(" &"))
        } else if self.eat(b"O") {
            Some(Qualifier::plain(" &&"))
        } else {
            None
        };
        self.expect(b"E")?;
        Some((function, reference))
    }

    /// Parses a signature without its end marker.
    pub(super) fn bare_function(&mut self, return_type: bool) -> Option<Signature> {
        self.eat(b"J");
        let return_type = if return_type { Some(self.ty()?) } else { None };
        Some(Signature { return_type, parameters: self.parameters()? })
    }

    /// Parses the types of parameters. `void` alone means no parameters.
    pub(super) fn parameters(&mut self) -> Option<Vec<Id>> {
        let mut found = Vec::new();
        let ends = |parser: &Self| match parser.peek() {
            None | Some(b'E' | b'.') => true,
            Some(b'Q') => parser.is_newest,
            _ => false,
        };
        while !ends(self) {
            if matches!(self.peek(), Some(b'R' | b'O')) && self.peek_next() == Some(b'E') {
                break;
            }
            found.push(self.ty()?);
        }
        match found.as_slice() {
            [] => None,
            [one] if matches!(self.node(*one), Node::Builtin("void", _)) => Some(Vec::new()),
            _ => Some(found),
        }
    }

    fn array(&mut self) -> Option<Id> {
        self.expect(b"A")?;
        let size = self.size()?;
        let element = self.ty()?;
        Some(self.add(Node::Array(size, element)))
    }

    /// Parses the size of an array or a vector, and the `_` after it.
    fn size(&mut self) -> Option<Option<Id>> {
        let size = match self.peek()? {
            b'_' => None,
            b'0'..=b'9' => {
                let digits = self.digits();
                Some(self.add(Node::Text(digits)))
            }
            _ => Some(self.expression()?),
        };
        self.expect(b"_")?;
        Some(size)
    }

    fn member_pointer(&mut self) -> Option<Id> {
        self.expect(b"M")?;
        let class = self.ty()?;
        let member = self.ty()?;
        Some(self.add(Node::MemberPointer(class, member)))
    }

    /// Parses a template parameter as a type, or an instance of a template template parameter.
    fn parameter_type(&mut self) -> Option<Id> {
        let parameter = self.template_parameter()?;
        if self.peek() != Some(b'I') {
            return Some(parameter);
        }
        if !self.in_conversion {
            self.remember(parameter);
            let arguments = self.template_arguments()?;
            return Some(self.add(Node::Template(parameter, arguments)));
        }
        // The arguments may belong to the conversion operator: they belong to the parameter only if other arguments
        // follow.
        let arguments = self.attempt(|parser| {
            parser.remember(parameter);
            let arguments = parser.template_arguments()?;
            (parser.peek() == Some(b'I')).then_some(arguments)
        });
        Some(match arguments {
            Some(arguments) => self.add(Node::Template(parameter, arguments)),
            None => parameter,
        })
    }

    fn abbreviated(&mut self) -> Option<Id> {
        let next = self.peek_next()?;
        if next != b'_' && !next.is_ascii_digit() && !next.is_ascii_uppercase() {
            let name = self.name()?;
            // A standard library abbreviation alone is a text. Later text never abbreviates this text.
            return Some(if let Node::Text(_) = self.node(name) { name } else { self.remember(name) });
        }
        let known = self.substitution(false)?;
        if matches!(self.node(known), Node::Module(..)) {
            let name = self.unqualified_name_in(Some(known))?;
            let name = self.maybe_template(name, true)?;
            return Some(self.remember(name));
        }
        if self.peek() != Some(b'I') {
            return Some(known);
        }
        let arguments = self.template_arguments()?;
        let template = self.add(Node::Template(known, arguments));
        Some(self.remember(template))
    }

    fn longer_type(&mut self) -> Option<Id> {
        let next = self.peek_next()?;
        if let Some((_, name)) = MORE_BUILTIN.iter().find(|(letter, _)| *letter == next) {
            self.expect(b"D")?;
            self.bump();
            return Some(self.add(Node::Builtin(name, None)));
        }
        let ty = match next {
            b'p' => {
                self.expect(b"Dp")?;
                let pattern = self.ty()?;
                self.add(Node::PackExpansion(pattern))
            }
            b'T' | b't' => {
                self.bump();
                self.bump();
                let expression = self.expression()?;
                self.expect(b"E")?;
                self.add(Node::Decltype(expression))
            }
            b'v' => {
                self.expect(b"Dv")?;
                let size = self.vector_size()?;
                let element = self.ty()?;
                self.add(Node::Vector(size, element))
            }
            b'F' => return self.sized_float(),
            // Unlike other built-in types, this type may be abbreviated by later text, as Clang does.
            b'B' | b'U' if self.is_newest => self.bit_int()?,
            b'k' | b'K' if self.is_newest => {
                self.skip(2);
                let concept = self.name()?;
                let placeholder = if next == b'k' { " auto" } else { " decltype(auto)" };
                return Some(self.add(Node::ConstrainedAuto(concept, placeholder)));
            }
            b'x' | b'o' | b'O' | b'w' => self.qualified()?,
            _ => return None,
        };
        Some(self.remember(ty))
    }

    fn sized_float(&mut self) -> Option<Id> {
        self.expect(b"DF")?;
        let digits = self.digits();
        let bits = if digits.is_empty() { 0 } else { value(digits).filter(|bits| i32::try_from(*bits).is_ok())? };
        if self.eat(b"x") {
            return Some(self.add(Node::FloatOf(bits, "x")));
        }
        if bits == 16 && self.eat(b"b") {
            return Some(self.add(Node::Builtin("std::bfloat16_t", None)));
        }
        self.expect(b"_")?;
        Some(self.add(Node::FloatOf(bits, "")))
    }

    fn bit_int(&mut self) -> Option<Id> {
        let is_signed = self.peek_next() == Some(b'B');
        self.skip(2);
        let bits = self.size()??;
        Some(self.add(Node::BitInt(is_signed, bits)))
    }

    /// Parses the size of a vector, and the `_` after it.
    fn vector_size(&mut self) -> Option<Id> {
        let size = if self.eat(b"_") {
            self.expression()?
        } else {
            let digits = self.digits();
            value(digits)?;
            self.add(Node::Text(digits))
        };
        self.expect(b"_")?;
        Some(size)
    }
}
