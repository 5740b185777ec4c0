//! The operators and their codes.

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operator {
    /// The code: two letters.
    pub(super) code: &'static [u8; 2],
    /// The text. A name ends with a space if an operand may follow.
    pub(super) text: &'static str,
    /// The number of operands in an expression.
    pub(super) operands: u8,
}

const fn operator(code: &'static [u8; 2], text: &'static str, operands: u8) -> Operator {
    Operator { code, text, operands }
}

/// The operator with this code.
pub(super) fn find(code: &[u8]) -> Option<Operator> {
    OPERATORS.iter().find(|operator| operator.code == code).copied()
}

const OPERATORS: [Operator; 66] = [
    operator(b"aN", "&=", 2),
    operator(b"aS", "=", 2),
    operator(b"aa", "&&", 2),
    operator(b"ad", "&", 1),
    operator(b"an", "&", 2),
    operator(b"at", "alignof ", 1),
    operator(b"aw", "co_await ", 1),
    operator(b"az", "alignof ", 1),
    operator(b"cc", "const_cast", 2),
    operator(b"cl", "()", 2),
    operator(b"cm", ",", 2),
    operator(b"co", "~", 1),
    operator(b"dV", "/=", 2),
    operator(b"dX", "[...]=", 3),
    operator(b"da", "delete[] ", 1),
    operator(b"dc", "dynamic_cast", 2),
    operator(b"de", "*", 1),
    operator(b"di", "=", 2),
    operator(b"dl", "delete ", 1),
    operator(b"ds", ".*", 2),
    operator(b"dt", ".", 2),
    operator(b"dv", "/", 2),
    operator(b"dx", "]=", 2),
    operator(b"eO", "^=", 2),
    operator(b"eo", "^", 2),
    operator(b"eq", "==", 2),
    operator(b"fL", "...", 3),
    operator(b"fR", "...", 3),
    operator(b"fl", "...", 2),
    operator(b"fr", "...", 2),
    operator(b"ge", ">=", 2),
    operator(b"gs", "::", 1),
    operator(b"gt", ">", 2),
    operator(b"ix", "[]", 2),
    operator(b"lS", "<<=", 2),
    operator(b"le", "<=", 2),
    operator(b"ls", "<<", 2),
    operator(b"lt", "<", 2),
    operator(b"mI", "-=", 2),
    operator(b"mL", "*=", 2),
    operator(b"mi", "-", 2),
    operator(b"ml", "*", 2),
    operator(b"mm", "--", 1),
    operator(b"na", "new[]", 3),
    operator(b"ne", "!=", 2),
    operator(b"ng", "-", 1),
    operator(b"nt", "!", 1),
    operator(b"nw", "new", 3),
    operator(b"nx", "noexcept", 1),
    operator(b"oR", "|=", 2),
    operator(b"oo", "||", 2),
    operator(b"or", "|", 2),
    operator(b"pL", "+=", 2),
    operator(b"pl", "+", 2),
    operator(b"pm", "->*", 2),
    operator(b"pp", "++", 1),
    operator(b"ps", "+", 1),
    operator(b"pt", "->", 2),
    operator(b"qu", "?", 3),
    operator(b"rM", "%=", 2),
    operator(b"rS", ">>=", 2),
    operator(b"rc", "reinterpret_cast", 2),
    operator(b"rm", "%", 2),
    operator(b"rs", ">>", 2),
    operator(b"sc", "static_cast", 2),
    operator(b"ss", "<=>", 2),
];

/// Operators on a type or a whole expression, which are operators only in expressions.
pub(super) const SIZE_OF: Operator = operator(b"st", "sizeof ", 1);
/// `typeid`, which takes a type or an expression.
pub(super) const TYPE_ID: Operator = operator(b"te", "typeid ", 1);
/// `throw`.
pub(super) const THROW: Operator = operator(b"tw", "throw ", 1);
