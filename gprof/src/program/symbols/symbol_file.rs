//! Reads symbols from a text as `nm` writes it: address, type and name on each line.

use crate::program::image::Symbol;

/// The functions in the text: symbols of type `t`, which are static, and `T`. Other lines are ignored.
#[must_use]
pub(crate) fn read(text: &[u8]) -> Vec<Symbol<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(symbol).collect()
}

fn symbol(line: &[u8]) -> Option<Symbol<'_>> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
    let digits = std::str::from_utf8(address).ok()?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let address = u64::from_str_radix(digits, 16).ok()?;
    let is_static = match kind {
        b"t" => true,
        b"T" => false,
        _ => return None,
    };
    Some(Symbol { address, name, is_static, is_func: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let symbols = read(b"0000000000001130 t local\n0x40 T main\n        U printf\n50 D data\nx T y\n60 T\n");
        let found: Vec<_> = symbols.iter().map(|symbol| (symbol.address, symbol.name, symbol.is_static)).collect();
        assert_eq!(found, [(0x1130, b"local".as_slice(), true), (0x40, b"main", false)]);
    }
}
