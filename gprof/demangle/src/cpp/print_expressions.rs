//! Prints expressions.

use super::operators::Operator;
use super::printer::Printer;
use super::tree::{DesignatorKind, Id, Node};

impl<'t, 'a> Printer<'t, 'a> {
    pub(super) fn expression(&mut self, node: &'t Node<'a>) {
        match *node {
            Node::Decltype(expression) => self.between("decltype (", expression, ")"),
            Node::Literal(ty, negative, digits) => self.literal(ty, negative, digits),
            Node::Parameter(number) => self.numbered("{parm#", number, "}"),
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
                // The types of a called function are not printed.
                match *self.node(function) {
                    Node::Function(name, _) => self.operand(name),
                    _ => self.operand(function),
                }
                self.enclosed("(", arguments, ")");
            }
            Node::Fold(kind, operator, first, second) => self.fold(kind, operator, first, second),
            Node::Designated(designator, kind, value) => self.designated(designator, kind, value),
            Node::VendorExpression(name, ref arguments) => {
                self.whole(name);
                self.enclosed("(", arguments, ")");
            }
            Node::PackSize(_) | Node::ArgumentCount(_) => self.size(node),
            _ => self.construction(node),
        }
    }

    /// Prints expressions that make a value of a type: `new`, casts and lists in braces.
    fn construction(&mut self, node: &'t Node<'a>) {
        match *node {
            Node::New(ref placement, ty, arguments) => {
                self.write("new ");
                if !placement.is_empty() {
                    self.enclosed("(", placement, ") ");
                }
                self.whole(ty);
                if let Some(arguments) = arguments {
                    self.whole(arguments);
                }
            }
            Node::Cast(ty, ref operands) => {
                if let Some(ty) = ty {
                    self.enclosed("(", &[ty], ")");
                }
                self.enclosed("(", operands, ")");
            }
            Node::CastOne(ty, operand) => {
                self.enclosed("(", &[ty], ")");
                self.operand(operand);
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
            _ => self.failed = true,
        }
    }

    /// Prints the size of a pack, or of a list of arguments with packs.
    fn size(&mut self, node: &'t Node<'a>) {
        match *node {
            Node::PackSize(pack) => {
                let size = self.pack_in(pack).map_or(0, <[Id]>::len);
                self.number(size as u64);
            }
            Node::ArgumentCount(ref arguments) => {
                let mut count = 0_usize;
                for argument in arguments {
                    let length = match *self.node(*argument) {
                        Node::PackExpansion(pattern) => self.pack_in(pattern).map_or(0, <[Id]>::len),
                        _ => 1,
                    };
                    count = count.saturating_add(length);
                }
                self.number(count as u64);
            }
            _ => self.failed = true,
        }
    }

    fn fold(&mut self, kind: u8, operator: Operator, first: Id, second: Option<Id>) {
        // A folded expression is printed with all arguments of its packs.
        let pack_index = core::mem::replace(&mut self.pack_index, usize::MAX);
        self.write("(");
        if kind == b'l' {
            self.write("...");
        } else {
            self.operand(first);
        }
        self.write(operator.text);
        match (kind, second) {
            (b'l', _) => self.operand(first),
            (_, Some(second)) => {
                self.write("...");
                self.write(operator.text);
                self.operand(second);
            }
            _ => self.write("..."),
        }
        self.write(")");
        self.pack_index = pack_index;
    }

    fn designated(&mut self, designator: Id, kind: DesignatorKind, value: Id) {
        self.write(if kind == DesignatorKind::Member { "." } else { "[" });
        self.whole(designator);
        if let DesignatorKind::Range(end) = kind {
            self.write(" ... ");
            self.whole(end);
        }
        if kind != DesignatorKind::Member {
            self.write("]");
        }
        if matches!(self.node(value), Node::Designated(..)) {
            return self.whole(value);
        }
        self.write("=");
        self.operand(value);
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
        let is_float = matches!(
            self.node(ty),
            Node::Builtin("float" | "double" | "long double" | "__float128" | "std::bfloat16_t", _)
        );
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
            // Only the name of a function whose address is taken is printed.
            (b"ad", Node::Function(name, _)) if matches!(self.node(*name), Node::Member(..)) => self.operand(*name),
            _ => self.operand(operand),
        }
    }

    pub(super) fn binary(&mut self, operator: Operator, first: Id, second: Id) {
        // Another pair of parentheses keeps `>` from looking like the end of the template arguments.
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

    /// Prints an operand, in parentheses unless it is simple.
    pub(super) fn operand(&mut self, id: Id) {
        let simple = matches!(
            self.node(id),
            Node::Text(_) | Node::Member(..) | Node::Braces(..) | Node::Parameter(_) | Node::Constructor(_)
        );
        if simple { self.whole(id) } else { self.enclosed("(", &[id], ")") }
    }
}
