//! Parses expressions in template arguments and in types.

use alloc::vec::Vec;

use super::operators::{self, Operator};
use super::parser::Parser;
use super::tree::{DesignatorKind, Id, Node};

impl<'a> Parser<'a> {
    pub(super) fn expression(&mut self) -> Option<Id> {
        let outer = core::mem::replace(&mut self.in_expression, true);
        let result = self.nested(Self::expression_proper);
        self.in_expression = outer;
        result
    }

    fn expression_proper(&mut self) -> Option<Id> {
        match (self.peek()?, self.peek_next()?) {
            (b'L', _) => self.literal(),
            (b'T', _) => self.template_parameter(),
            (b's', b'r') => self.scoped(),
            (b's', code @ (b'p' | b'Z' | b'P')) => self.pack(code),
            (b'f', b'p') => self.function_parameter(),
            (b'f', b'L') if self.is_newest && self.at_deep_parameter() => self.function_parameter(),
            (b'r', b'q' | b'Q') if self.is_newest => self.requires(),
            (b's', b'o') if self.is_newest => self.sub_object(),
            (b'm', b'c') if self.is_newest => self.member_pointer_conversion(),
            (b'f', b'l' | b'r' | b'L' | b'R') => self.fold(),
            (b'd', b'i' | b'x' | b'X') => self.designated(),
            (b'u', _) => self.vendor_expression(),
            (b'0'..=b'9', _) | (b'o', b'n') => {
                if !self.rest().starts_with(b"oncv") {
                    self.eat(b"on");
                } else if !self.is_newest {
                    return None;
                }
                let name = self.unqualified_name()?;
                self.with_arguments(name)
            }
            (b'i', b'l') => {
                self.expect(b"il")?;
                let list = self.list()?;
                Some(self.add(Node::Braces(None, list)))
            }
            (b't', b'l') => {
                self.expect(b"tl")?;
                let ty = self.ty()?;
                let list = self.list()?;
                Some(self.add(Node::Braces(Some(ty), list)))
            }
            _ => self.operation(),
        }
    }

    /// Parses an expansion or the size of a pack, or the size of a list with packs. `code` is the second letter.
    fn pack(&mut self, code: u8) -> Option<Id> {
        self.expect(&[b's', code])?;
        let node = match code {
            b'p' => Node::PackExpansion(self.expression()?),
            b'Z' => Node::PackSize(self.expression()?),
            _ => Node::ArgumentCount(self.list_of(Self::template_argument)?),
        };
        Some(self.add(node))
    }

    /// Parses a conversion of a pointer to member, whose offset is not printed.
    fn member_pointer_conversion(&mut self) -> Option<Id> {
        self.expect(b"mc")?;
        let ty = self.ty()?;
        let member = self.expression()?;
        self.eat(b"n");
        self.digits();
        self.expect(b"E")?;
        Some(self.add(Node::CastOne(ty, member)))
    }

    fn vendor_expression(&mut self) -> Option<Id> {
        self.expect(b"u")?;
        let name = self.source_name()?;
        let arguments = self.list_of(Self::template_argument)?;
        Some(self.add(Node::VendorExpression(name, arguments)))
    }

    /// Parses expressions up to an `E`.
    fn list(&mut self) -> Option<Vec<Id>> {
        self.list_of(Self::expression)
    }

    /// Parses nodes of one kind up to an `E`.
    fn list_of(&mut self, read: impl Fn(&mut Self) -> Option<Id>) -> Option<Vec<Id>> {
        let mut list = Vec::new();
        while !self.eat(b"E") {
            list.push(read(self)?);
        }
        Some(list)
    }

    fn fold(&mut self) -> Option<Id> {
        self.expect(b"f")?;
        let kind = self.bump()?;
        let operator = operators::find(self.text.get(self.at..)?.get(..2)?)?;
        self.skip(2);
        let first = self.expression()?;
        let second = if matches!(kind, b'L' | b'R') { Some(self.expression()?) } else { None };
        Some(self.add(Node::Fold(kind, operator, first, second)))
    }

    fn designated(&mut self) -> Option<Id> {
        self.expect(b"d")?;
        let (designator, kind) = match self.bump()? {
            b'i' => (self.unqualified_name()?, DesignatorKind::Member),
            b'x' => (self.expression()?, DesignatorKind::Index),
            _ => {
                let first = self.expression()?;
                (first, DesignatorKind::Range(self.expression()?))
            }
        };
        let value = self.expression()?;
        Some(self.add(Node::Designated(designator, kind, value)))
    }

    pub(super) fn with_arguments(&mut self, name: Id) -> Option<Id> {
        if self.peek() != Some(b'I') {
            return Some(name);
        }
        let arguments = self.template_arguments()?;
        Some(self.add(Node::Template(name, arguments)))
    }

    fn scoped(&mut self) -> Option<Id> {
        self.expect(b"sr")?;
        if self.peek()?.is_ascii_digit()
            && let Some(name) = self.attempt(Self::name_in_levels)
        {
            return self.with_arguments(name);
        }
        let scope = self.ty()?;
        let name = self.unqualified_name()?;
        let name = self.add(Node::Member(scope, name));
        self.with_arguments(name)
    }

    fn name_in_levels(&mut self) -> Option<Id> {
        let scope = self.levels()?;
        let name = self.unqualified_name()?;
        Some(self.add(Node::Member(scope, name)))
    }

    /// Parses names, joined by `::`, up to an `E`.
    fn levels(&mut self) -> Option<Id> {
        let mut scope = None;
        while !self.eat(b"E") {
            let name = self.source_name()?;
            let level = match scope {
                Some(outer) => self.add(Node::Member(outer, name)),
                None => name,
            };
            scope = Some(self.with_arguments(level)?);
        }
        scope
    }

    /// Whether a parameter of an enclosing function comes next.
    fn at_deep_parameter(&self) -> bool {
        self.rest().get(2).is_some_and(u8::is_ascii_digit)
    }

    fn function_parameter(&mut self) -> Option<Id> {
        if self.eat(b"fL") {
            self.number()?;
            self.expect(b"p")?;
        } else {
            self.expect(b"fp")?;
        }
        if self.eat(b"T") {
            return Some(self.add(Node::Text(b"this")));
        }
        if !self.qualifiers()?.is_empty() && !self.is_newest {
            return None;
        }
        let number = self.compact_number()?;
        Some(self.add(Node::Parameter(number.saturating_add(1))))
    }

    fn sub_object(&mut self) -> Option<Id> {
        self.expect(b"so")?;
        let ty = self.ty()?;
        let object = self.expression()?;
        let negative = self.eat(b"n");
        let offset = self.digits();
        while self.eat(b"_") {
            self.digits();
        }
        self.eat(b"p");
        self.expect(b"E")?;
        Some(self.add(Node::SubObject(ty, object, negative, offset)))
    }

    fn operation(&mut self) -> Option<Id> {
        let code = [self.peek()?, self.peek_next()?];
        match &code {
            b"cv" => return self.cast(),
            b"st" | b"at" => return self.of_type(code),
            b"ti" if self.is_newest => return self.of_type(code),
            b"sz" | b"tw" => return self.of_expression(code),
            b"te" if self.is_newest => return self.of_expression(code),
            b"tr" => {
                self.expect(b"tr")?;
                return Some(self.add(Node::Text(b"throw")));
            }
            b"li" => return self.operator_name(),
            b"nx" if !self.is_newest => return None,
            _ => {}
        }
        let operator = operators::find(&code)?;
        self.bump();
        self.bump();
        match operator.code {
            b"cl" => self.call(),
            b"sc" | b"dc" | b"cc" | b"rc" => self.named_cast(operator),
            b"dt" | b"pt" => {
                let whole = self.expression()?;
                let part = self.member()?;
                Some(self.add(Node::Binary(operator, whole, part)))
            }
            b"pp" | b"mm" => self.step(operator),
            b"nw" | b"na" => self.new_expression(),
            b"qu" => {
                let (test, yes, no) = (self.expression()?, self.expression()?, self.expression()?);
                Some(self.add(Node::Conditional(test, yes, no)))
            }
            _ => self.operands(operator),
        }
    }

    fn call(&mut self) -> Option<Id> {
        let function = self.expression()?;
        let arguments = self.list()?;
        Some(self.add(Node::Call(function, arguments)))
    }

    fn named_cast(&mut self, operator: Operator) -> Option<Id> {
        let ty = self.ty()?;
        let operand = self.expression()?;
        Some(self.add(Node::NamedCast(operator.text, ty, operand)))
    }

    fn operands(&mut self, operator: Operator) -> Option<Id> {
        let first = self.expression()?;
        match operator.operands {
            1 => Some(self.add(Node::Unary(operator, first))),
            2 => {
                let second = self.expression()?;
                Some(self.add(Node::Binary(operator, first, second)))
            }
            _ => None,
        }
    }

    fn new_expression(&mut self) -> Option<Id> {
        let mut placement = Vec::new();
        while !self.eat(b"_") {
            placement.push(self.expression()?);
        }
        let ty = self.ty()?;
        let arguments = if self.eat(b"pi") {
            let list = self.list()?;
            Some(self.add(Node::Cast(None, list)))
        } else if self.eat(b"il") {
            let list = self.list()?;
            Some(self.add(Node::Braces(None, list)))
        } else {
            self.expect(b"E")?;
            None
        };
        Some(self.add(Node::New(placement, ty, arguments)))
    }

    /// Parses `++` or `--`, which are prefix operators if a `_` follows.
    fn step(&mut self, operator: Operator) -> Option<Id> {
        let before = self.eat(b"_");
        let operand = self.expression()?;
        Some(self.add(if before { Node::Unary(operator, operand) } else { Node::Suffix(operator, operand) }))
    }

    fn member(&mut self) -> Option<Id> {
        let names_destructor = self.is_newest && self.rest().starts_with(b"dn");
        if names_destructor || self.peek()?.is_ascii_digit() || self.rest().starts_with(b"on") {
            if self.is_newest {
                self.eat(b"on");
            }
            let name = self.unqualified_name()?;
            return self.with_arguments(name);
        }
        self.expression()
    }

    fn cast(&mut self) -> Option<Id> {
        self.expect(b"cv")?;
        let ty = self.ty()?;
        if self.eat(b"_") {
            let operands = self.list()?;
            return Some(self.add(Node::Cast(Some(ty), operands)));
        }
        let operand = self.expression()?;
        Some(self.add(Node::CastOne(ty, operand)))
    }

    fn of_type(&mut self, code: [u8; 2]) -> Option<Id> {
        self.bump();
        self.bump();
        let ty = self.ty()?;
        let operator = match &code {
            b"st" => operators::SIZE_OF,
            b"ti" => operators::TYPE_ID,
            _ => operators::find(&code)?,
        };
        Some(self.add(Node::Unary(operator, ty)))
    }

    fn of_expression(&mut self, code: [u8; 2]) -> Option<Id> {
        self.bump();
        self.bump();
        let operand = self.expression()?;
        let operator = match &code {
            b"sz" => Operator { code: b"sz", ..operators::SIZE_OF },
            b"te" => operators::TYPE_ID,
            _ => operators::THROW,
        };
        Some(self.add(Node::Unary(operator, operand)))
    }

    /// Parses a literal, or the name of an external entity.
    pub(super) fn literal(&mut self) -> Option<Id> {
        self.expect(b"L")?;
        if self.eat(b"_Z") || self.eat(b"Z") {
            let encoding = self.encoding()?;
            self.expect(b"E")?;
            return Some(encoding);
        }
        let ty = self.ty()?;
        if matches!(self.node(ty), Node::Builtin("decltype(nullptr)", _)) && self.eat(b"E") {
            return Some(ty);
        }
        if self.is_newest && matches!(self.node(ty), Node::Lambda(_) | Node::Array(..)) && self.eat(b"E") {
            return Some(if let Node::Lambda(_) = self.node(ty) { ty } else { self.add(Node::StringLiteral(ty)) });
        }
        let negative = self.eat(b"n");
        let digits = self.up_to_end().filter(|digits| !digits.is_empty())?;
        Some(self.add(Node::Literal(ty, negative, digits)))
    }
}
