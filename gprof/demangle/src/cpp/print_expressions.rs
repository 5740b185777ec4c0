//! The printer: expressions.

use super::operators::Operator;
use super::printer::Printer;
use super::tree::{Id, Node};

impl<'t, 'a> Printer<'t, 'a> {
    pub(super) fn expression(&mut self, node: &'t Node<'a>) {
        match *node {
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
            Node::Call(function, ref arguments) => {
                // The types of a function that is called are not shown.
                match *self.node(function) {
                    Node::Function(name, _) => self.operand(name),
                    _ => self.operand(function),
                }
                self.enclosed("(", arguments, ")");
            }
            Node::New(operator, ref placement, ty, ref arguments) => {
                self.write(operator.text);
                self.write(" ");
                if !placement.is_empty() {
                    self.enclosed("(", placement, ") ");
                }
                self.whole(ty);
                if let Some(arguments) = arguments {
                    self.enclosed("(", arguments, ")");
                }
            }
            Node::Cast(ty, ref operands) => {
                self.enclosed("(", &[ty], ")");
                self.enclosed("(", operands, ")");
            }
            Node::NamedCast(cast, ty, operand) => {
                self.write(cast);
                self.enclosed("<", &[ty], ">");
                self.enclosed("(", &[operand], ")");
            }
            Node::Braces(ty, ref list) => {
                if let Some(ty) = ty {
                    self.whole(ty);
                }
                self.enclosed("{", list, "}");
            }
            Node::PackSize(pack) => {
                let size = self.pack_in(pack).map_or(0, <[Id]>::len);
                self.number(size as u64);
            }
            _ => self.failed = true,
        }
    }

    pub(super) fn literal(&mut self, ty: Id, negative: bool, digits: &[u8]) {
        match (self.node(ty), digits, negative) {
            (Node::Builtin("bool", _), b"0", false) => return self.write("false"),
            (Node::Builtin("bool", _), b"1", false) => return self.write("true"),
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

    pub(super) fn unary(&mut self, operator: Operator, operand: Id) {
        self.write(operator.text);
        match (operator.code, self.node(operand)) {
            (b"gs", _) => self.whole(operand),
            (b"st" | b"nx", _) => self.enclosed("(", &[operand], ")"),
            // Of a function whose address is taken, only the name is shown.
            (b"ad", Node::Function(name, _)) if matches!(self.node(*name), Node::Member(..)) => self.operand(*name),
            _ => self.operand(operand),
        }
    }

    pub(super) fn binary(&mut self, operator: Operator, first: Id, second: Id) {
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
    pub(super) fn operand(&mut self, id: Id) {
        let simple = matches!(
            self.node(id),
            Node::Text(_) | Node::Member(..) | Node::Braces(..) | Node::Parameter(_) | Node::Constructor(_)
        );
        if simple { self.whole(id) } else { self.enclosed("(", &[id], ")") }
    }
}
