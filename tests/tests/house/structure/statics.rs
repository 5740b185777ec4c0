//! The statics of a source file of the runtime.

use super::tokens::{Token, tokens};

/// What the child of a fork does with a static, as the static's type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A `Reset` that `resets!` defines.
    Reset,
    /// An `Inherited`.
    Inherited,
    /// Neither.
    Other,
}

/// The statics that a source file defines, with their names. A static of a macro has the name `$`, and a `static mut`
/// the name `mut`.
pub(crate) fn statics(source: &str) -> Vec<(String, Kind)> {
    let tokens = tokens(source);
    let name = |at: usize| match tokens.get(at) {
        Some(Token::Name(name)) => name.as_str(),
        _ => "",
    };
    let is_sign = |at: usize, sign: char| tokens.get(at) == Some(&Token::Sign(sign));
    let mut found = Vec::new();
    let (mut end_of_resets, mut at) = (0, 0);
    while at < tokens.len() {
        match name(at) {
            // Declarations of other objects' statics.
            "extern" if matches!(tokens.get(at + 1), Some(Token::Text(_))) && is_sign(at + 2, '{') => {
                at = end_of_block(&tokens, at + 2);
            }
            "resets" if is_sign(at + 1, '!') && is_sign(at + 2, '{') => end_of_resets = end_of_block(&tokens, at + 2),
            "static" if name(at + 1) == "mut" && is_sign(at + 3, ':') => found.push(("mut".to_owned(), Kind::Other)),
            "static" if is_sign(at + 1, '$') => found.push(("$".to_owned(), Kind::Other)),
            // A lifetime has no name and colon after it.
            "static" if !name(at + 1).is_empty() && is_sign(at + 2, ':') => {
                let kind = match name(at + 3) {
                    "Reset" if at < end_of_resets => Kind::Reset,
                    "Inherited" if at >= end_of_resets => Kind::Inherited,
                    _ => Kind::Other,
                };
                found.push((name(at + 1).to_owned(), kind));
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The index of the brace that closes the block which opens at an index.
fn end_of_block(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}
