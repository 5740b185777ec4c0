//! Divides an input into parts.

/// Takes a part from the beginning of an input: its length in two bytes, little-endian, and its content. The last part
/// may be shorter than its length says.
pub(crate) fn take<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = input.split_first_chunk()?;
    let (part, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into()).unwrap_or((rest, &[]));
    *input = rest;
    Some(part)
}

/// Takes a byte from the beginning of an input; 0 at its end.
pub(crate) fn byte(input: &mut &[u8]) -> u8 {
    let Some((first, rest)) = input.split_first() else { return 0 };
    *input = rest;
    *first
}
