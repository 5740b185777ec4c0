//! Prints lambdas with their template parameters, and modules.

use super::printer::Printer;
use super::tree::{Id, Lambda, Node};

impl<'t> Printer<'t, '_> {
    pub(super) fn lambda(&mut self, lambda: &'t Lambda) {
        let outer = (self.in_lambda, self.head);
        self.in_lambda = true;
        self.head = &[];
        self.write("{lambda");
        if !lambda.head.is_empty() {
            self.write("<");
            for (at, declaration) in lambda.head.iter().enumerate() {
                if at > 0 {
                    self.write(", ");
                }
                // A declaration may refer to earlier ones.
                self.head = lambda.head.get(..at).unwrap_or_default();
                self.whole(*declaration);
                self.write(" ");
                self.declared_name(*declaration, at);
            }
            self.write(">");
            self.head = &lambda.head;
            if let Some(constraint) = lambda.head_constraint {
                self.requires(constraint);
                self.write(" ");
            }
        }
        self.write("(");
        self.list(&lambda.parameters);
        self.write(")");
        if let Some(constraint) = lambda.constraint {
            self.requires(constraint);
        }
        (self.in_lambda, self.head) = outer;
        self.write("#");
        self.number(lambda.number.saturating_add(1));
        self.write("}");
    }

    /// Prints a made-up name for a lambda's template parameter, from its kind and number.
    fn declared_name(&mut self, declaration: Id, index: usize) {
        let declared = match *self.node(declaration) {
            Node::PackParameter(declared) => declared,
            _ => declaration,
        };
        match self.node(declared) {
            Node::TypeParameter | Node::ConstrainedParameter(_) => self.write("$T"),
            Node::ValueParameter(_) => self.write("$N"),
            Node::TemplateTemplateParameter(_) => self.write("$TT"),
            _ => self.failed = true,
        }
        self.number(index as u64);
    }

    /// Prints a template parameter in the parameters of a lambda: a declared one, or `auto`.
    pub(super) fn parameter_of_lambda(&mut self, index: usize) {
        if let Some(declaration) = self.head.get(index) {
            return self.declared_name(*declaration, index);
        }
        self.write("auto:");
        self.number((index as u64).saturating_add(1));
    }

    pub(super) fn module(&mut self, outer: Option<Id>, name: &[u8], is_partition: bool) {
        if let Some(outer) = outer {
            self.whole(outer);
        }
        if is_partition {
            self.write(":");
        } else if outer.is_some() {
            self.write(".");
        }
        self.write(name);
    }
}
