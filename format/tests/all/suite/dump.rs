//! Reads dumps: testdata/format/README.md has their syntax.

/// The bytes of a dump, or what is wrong with the dump.
pub(crate) fn bytes(dump: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for line in dump.lines() {
        let (content, _comment) = line.split_once('#').unwrap_or((line, ""));
        if !content.trim().is_empty() {
            add_line(&mut bytes, content).map_err(|problem| format!("{problem}: {line}"))?;
        }
    }
    Ok(bytes)
}

fn add_line(bytes: &mut Vec<u8>, content: &str) -> Result<(), String> {
    let (offset, hexadecimal) = content.split_once("  ").ok_or("two spaces must follow the offset")?;
    if offset.len() < 4 || usize::from_str_radix(offset, 16) != Ok(bytes.len()) {
        return Err(format!("the offset is {:04x}", bytes.len()));
    }
    if let Some((value, times)) = hexadecimal.trim().split_once(" * ") {
        let times = times.parse().map_err(|_| "a decimal number must follow the *")?;
        bytes.extend(std::iter::repeat_n(byte(value)?, times));
        return Ok(());
    }
    for digits in hexadecimal.trim().split(' ') {
        bytes.push(byte(digits)?);
    }
    Ok(())
}

fn byte(digits: &str) -> Result<u8, String> {
    let is_byte = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let value = is_byte.then(|| u8::from_str_radix(digits, 16).ok()).flatten();
    value.ok_or_else(|| format!("`{digits}` is not a byte"))
}
