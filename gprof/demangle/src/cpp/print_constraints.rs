//! Prints constraints, and other nodes that GNU binutils 2.40 does not know.

use super::printer::Printer;
use super::tree::{Id, Node};

impl<'t, 'a> Printer<'t, 'a> {
    pub(super) fn constraint(&mut self, node: &'t Node<'a>) {
        match *node {
            Node::Constrained(function, constraint, level) => {
                self.whole(function);
                let scope = self.scope_of_constraint(function, level);
                self.within(scope, |printer| printer.requires(constraint));
            }
            Node::Enabled(function, ref conditions) => {
                self.whole(function);
                self.enclosed(" [enable_if:", conditions, "]");
            }
            Node::Friend(name) => self.between("", name, "[friend]"),
            Node::ConstrainedAuto(concept, placeholder) => {
                self.whole(concept);
                self.write(placeholder);
            }
            Node::BitInt(is_signed, bits) => {
                self.write(if is_signed { "_BitInt" } else { "unsigned _BitInt" });
                self.enclosed("(", &[bits], ")");
            }
            Node::Transformed(name, ref arguments) => {
                self.whole(name);
                self.enclosed("(", arguments, ")");
            }
            Node::SubObject(ty, object, negative, offset) => self.sub_object(ty, object, negative, offset),
            Node::StringLiteral(ty) => self.enclosed("\"<", &[ty], ">\""),
            Node::Requires(ref parameters, ref requirements) => self.requires_expression(parameters, requirements),
            Node::RequiredExpression(expression, is_noexcept, concept) => {
                self.required_expression(expression, is_noexcept, concept);
            }
            Node::RequiredType(ty) => self.between(" typename ", ty, ";"),
            Node::RequiredConstraint(constraint) => {
                self.requires(constraint);
                self.write(";");
            }
            _ => self.expression(node),
        }
    }

    fn sub_object(&mut self, ty: Id, object: Id, negative: bool, offset: &[u8]) {
        self.whole(object);
        self.between(".<", ty, " at offset ");
        self.write(if negative { "-" } else { "" });
        self.write(if offset.is_empty() { b"0" } else { offset });
        self.write(">");
    }

    /// Prints `requires` and the constraint.
    pub(super) fn requires(&mut self, constraint: Id) {
        self.write(" requires ");
        let outer = core::mem::replace(&mut self.in_constraint, true);
        self.whole(constraint);
        self.in_constraint = outer;
    }

    fn requires_expression(&mut self, parameters: &'t [Id], requirements: &'t [Id]) {
        self.write("requires ");
        if !parameters.is_empty() {
            self.enclosed("(", parameters, ") ");
        }
        self.write("{");
        for requirement in requirements {
            self.whole(*requirement);
        }
        self.write(" }");
    }

    fn required_expression(&mut self, expression: Id, is_noexcept: bool, concept: Option<Id>) {
        let has_braces = is_noexcept || concept.is_some();
        self.write(if has_braces { " {" } else { " " });
        self.whole(expression);
        self.write(if has_braces { "}" } else { "" });
        self.write(if is_noexcept { " noexcept" } else { "" });
        if let Some(concept) = concept {
            self.write(" -> ");
            self.whole(concept);
        }
        self.write(";");
    }

    /// Prints a template parameter without an argument in the name; in a constraint, as the ABI writes the parameter.
    pub(super) fn unknown_parameter(&mut self, id: Id) {
        let (level, index) = match *self.node(id) {
            Node::TemplateParameter(index) if self.in_constraint => (None, index),
            Node::DeepParameter(level, index) => (level.checked_sub(1), index),
            _ => {
                self.failed = true;
                return;
            }
        };
        self.write("T");
        if let Some(level) = level {
            self.write("L");
            self.number(level as u64);
            self.write("_");
        }
        if let Some(index) = index.checked_sub(1) {
            self.number(index as u64);
        }
        self.write("_");
    }
}
