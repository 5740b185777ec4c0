//! Parses lambdas, declarations of template parameters, and constraints.

use alloc::vec::Vec;

use super::parser::Parser;
use super::tree::{Id, Lambda, Node};

impl Parser<'_> {
    pub(super) fn lambda(&mut self) -> Option<Id> {
        self.expect(b"Ul")?;
        let head = self.template_head()?;
        let head_constraint = if head.is_empty() { None } else { self.constraint()? };
        let parameters = self.parameters()?;
        let constraint = self.constraint()?;
        self.expect(b"E")?;
        let number = self.compact_number()?;
        Some(self.add(Node::Lambda(Lambda { head, head_constraint, parameters, constraint, number })))
    }

    /// Parses declarations of template parameters.
    fn template_head(&mut self) -> Option<Vec<Id>> {
        let mut head = Vec::new();
        while self.at_parameter_declaration() {
            head.push(self.parameter_declaration()?);
        }
        Some(head)
    }

    /// Whether a declaration of a template parameter comes next.
    pub(super) fn at_parameter_declaration(&self) -> bool {
        self.peek() == Some(b'T')
            && match self.peek_next() {
                Some(b'y' | b'n' | b't' | b'p') => true,
                Some(b'k') => self.is_newest,
                _ => false,
            }
    }

    pub(super) fn parameter_declaration(&mut self) -> Option<Id> {
        self.nested(|parser| {
            parser.expect(b"T")?;
            let node = match parser.bump()? {
                b'y' => Node::TypeParameter,
                b'k' if parser.is_newest => Node::ConstrainedParameter(parser.name()?),
                b'n' => Node::ValueParameter(parser.ty()?),
                b't' => {
                    let head = parser.template_head().filter(|head| !head.is_empty())?;
                    parser.constraint()?;
                    parser.expect(b"E")?;
                    Node::TemplateTemplateParameter(head)
                }
                b'p' => Node::PackParameter(parser.parameter_declaration()?),
                _ => return None,
            };
            Some(parser.add(node))
        })
    }

    /// Parses a constraint if one comes next.
    pub(super) fn constraint(&mut self) -> Option<Option<Id>> {
        if self.is_newest && self.eat(b"Q") { self.expression().map(Some) } else { Some(None) }
    }

    /// Parses the constraint after a function if one comes next.
    pub(super) fn constrained(&mut self, function: Id) -> Option<Id> {
        let deepest = core::mem::take(&mut self.deepest_level);
        let constraint = self.constraint()?;
        let levels = core::mem::replace(&mut self.deepest_level, deepest);
        Some(match constraint {
            Some(constraint) => self.add(Node::Constrained(function, constraint, levels)),
            None => function,
        })
    }

    /// Parses a `requires` expression.
    pub(super) fn requires(&mut self) -> Option<Id> {
        let mut parameters = Vec::new();
        if self.eat(b"rQ") {
            while !self.eat(b"_") {
                parameters.push(self.ty()?);
            }
        } else {
            self.expect(b"rq")?;
        }
        let mut requirements = Vec::new();
        while !self.eat(b"E") {
            requirements.push(self.requirement()?);
        }
        Some(self.add(Node::Requires(parameters, requirements)))
    }

    fn requirement(&mut self) -> Option<Id> {
        let node = match self.bump()? {
            b'X' => {
                let expression = self.expression()?;
                let is_noexcept = self.eat(b"N");
                let result = if self.eat(b"R") { Some(self.name()?) } else { None };
                Node::RequiredExpression(expression, is_noexcept, result)
            }
            b'T' => Node::RequiredType(self.ty()?),
            b'Q' => Node::RequiredConstraint(self.expression()?),
            _ => return None,
        };
        Some(self.add(node))
    }
}
