//! Rust's tokens, as far as needed to find module dependencies.

/// A token. Comments are not tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Name(String),
    /// The text of a string.
    Text(String),
    /// `::`.
    Colons,
    /// Any other sign.
    Sign(char),
}

/// The tokens of a source file.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let letters: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let next = letters.get(at + 1).copied().unwrap_or('\0');
        at = match letter {
            '/' if next == '/' => skip_line(&letters, at),
            '/' if next == '*' => skip_comment(&letters, at),
            '"' => text(&letters, at, 0, false, &mut found),
            '\'' => skip_character(&letters, at),
            ':' if next == ':' => {
                found.push(Token::Colons);
                at + 2
            }
            _ if letter.is_alphanumeric() || letter == '_' => name(&letters, at, &mut found),
            _ => {
                if !letter.is_whitespace() {
                    found.push(Token::Sign(letter));
                }
                at + 1
            }
        };
    }
    found
}

fn skip_line(letters: &[char], at: usize) -> usize {
    letters[at..].iter().position(|letter| *letter == '\n').map_or(letters.len(), |length| at + length)
}

fn skip_comment(letters: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < letters.len() {
        match (letters[at], letters.get(at + 1)) {
            ('/', Some('*')) => depth += 1,
            ('*', Some('/')) => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

/// A character literal, or the quotation mark of a lifetime.
fn skip_character(letters: &[char], at: usize) -> usize {
    match (letters.get(at + 1), letters.get(at + 2)) {
        (Some('\\'), _) => {
            letters[at + 3..].iter().position(|letter| *letter == '\'').map_or(at + 3, |end| at + end + 4)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}

/// A string from its first quotation mark, whose end has this many `#` after it.
fn text(letters: &[char], start: usize, marks: usize, is_raw: bool, found: &mut Vec<Token>) -> usize {
    let mut value = String::new();
    let mut at = start + 1;
    while let Some(&letter) = letters.get(at) {
        if letter == '\\' && !is_raw {
            at += 2;
        } else if letter == '"' && letters[at + 1..].iter().take_while(|mark| **mark == '#').count() >= marks {
            break;
        } else {
            value.push(letter);
            at += 1;
        }
    }
    found.push(Token::Text(value));
    at + 1 + marks
}

/// A name, a number, or a string with prefix letters.
fn name(letters: &[char], start: usize, found: &mut Vec<Token>) -> usize {
    let length = letters[start..].iter().take_while(|letter| letter.is_alphanumeric() || **letter == '_').count();
    let (name, end) = (letters[start..start + length].iter().collect::<String>(), start + length);
    let marks = letters[end..].iter().take_while(|letter| **letter == '#').count();
    let is_raw = ["r", "br", "cr"].contains(&name.as_str());
    if is_raw && letters.get(end + marks) == Some(&'"') {
        return text(letters, end + marks, marks, true, found);
    }
    if ["b", "c"].contains(&name.as_str()) && letters.get(end) == Some(&'"') {
        return text(letters, end, 0, false, found);
    }
    if name == "b" && letters.get(end) == Some(&'\'') {
        return skip_character(letters, end);
    }
    found.push(Token::Name(name));
    end
}
