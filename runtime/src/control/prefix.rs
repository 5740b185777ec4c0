//! The conversions in `GMON_OUT_PREFIX`: `%r`, `%h`, `%p`, `%n`, and `%%`.

use core::slice;

use crate::file::names::{NAME_SIZE, NUMBER, push_build};
use crate::file::{Naming, Output};
use crate::message::say;
use crate::os::{process_id, push_host_name};
use crate::text::Text;

/// What was replaced in a value.
#[derive(Debug, Default, PartialEq, Eq)]
struct Replaced {
    /// Whether there is a conversion that tells processes apart.
    is_any: bool,
    /// Whether there is `%p`.
    has_number: bool,
    /// Whether there is `%r` and the process has no rank.
    lacks_rank: bool,
}

/// Names the file by the value of the variable. Invalid conversions are reported; then no conversion is replaced.
#[cfg_attr(test, allow(dead_code, reason = "tests read no settings"))]
pub(super) fn set(output: &mut Output, value: &[u8], rank: Option<u32>) {
    output.naming = Naming::Prefix;
    output.process = process_id();
    let said = match convert(&mut output.prefix, value, output.program.as_bytes(), rank) {
        Ok(replaced) => {
            output.is_whole_name = replaced.is_any;
            output.has_number = replaced.has_number;
            let why: &[u8] = b": no variable of a launcher has the rank: using 0 for %r (%p tells processes apart)";
            replaced.lacks_rank.then_some((&b""[..], why))
        }
        Err(conversion) => {
            output.prefix.clear();
            output.prefix.push(value);
            let why: &[u8] =
                b" is not %r, %h, %p, %n or %% (a percent sign): using the value as it is, and the process number";
            Some((conversion, why))
        }
    };
    if let Some((conversion, why)) = said {
        let colon: &[u8] = if conversion.is_empty() { b"" } else { b": " };
        say(&[b"GMON_OUT_PREFIX=", value, colon, conversion, why]);
    }
}

/// Appends the value with its conversions replaced. The error is a conversion that is not valid.
fn convert<'a>(
    prefix: &mut Text<NAME_SIZE>,
    value: &'a [u8],
    program: &[u8],
    rank: Option<u32>,
) -> Result<Replaced, &'a [u8]> {
    let mut left = value;
    let mut replaced = Replaced::default();
    while let Some((byte, rest)) = left.split_first() {
        let from_here = left;
        left = rest;
        if *byte != b'%' {
            prefix.push(slice::from_ref(byte));
            continue;
        }
        let Some((kind, rest)) = rest.split_first() else { return Err(b"% at the end") };
        match kind {
            b'r' => {
                prefix.push_decimal(u64::from(rank.unwrap_or(0)));
                replaced.lacks_rank = rank.is_none();
            }
            b'h' => push_host(prefix),
            b'p' => {
                prefix.push(&[NUMBER]);
                replaced.has_number = true;
            }
            b'n' => {
                prefix.push(program);
                push_build(prefix, b".");
            }
            b'%' => prefix.push(b"%"),
            _ => return Err(from_here.get(..2).unwrap_or(b"%")),
        }
        replaced.is_any |= !matches!(kind, b'n' | b'%');
        left = rest;
    }
    Ok(replaced)
}

/// Appends the name of the machine, which must not name another directory.
fn push_host(prefix: &mut Text<NAME_SIZE>) {
    let mut host = Text::<256>::new();
    push_host_name(&mut host);
    for byte in host.as_bytes() {
        prefix.push(if *byte == b'/' { b"_" } else { slice::from_ref(byte) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(value: &[u8], rank: Option<u32>) -> Result<(Vec<u8>, Replaced), &[u8]> {
        let mut prefix = Text::new();
        convert(&mut prefix, value, b"prog", rank).map(|replaced| (prefix.as_bytes().to_vec(), replaced))
    }

    fn whole(text: &[u8], is_any: bool) -> Result<(Vec<u8>, Replaced), &'static [u8]> {
        Ok((text.to_vec(), Replaced { is_any, has_number: text.contains(&NUMBER), lacks_rank: false }))
    }

    #[test]
    fn each_conversion_is_replaced() {
        let mut host = Text::<256>::new();
        push_host_name(&mut host);
        let host = host.as_bytes();
        assert_eq!(converted(b"a.%r", Some(12)), whole(b"a.12", true));
        assert_eq!(converted(b"%p-%p", None), whole(b"\0-\0", true));
        let build = format!("prog.{:08x}", crate::objects::program::build());
        assert_eq!(converted(b"%n", None), whole(build.as_bytes(), false));
        assert_eq!(converted(b"x/%h/y", None), whole(&[b"x/", host, b"/y"].concat(), true));
        assert_eq!(converted(b"%r%h%p%%", Some(0)), whole(&[b"0", host, b"\0%"].concat(), true));
        let replaced = Replaced { is_any: true, has_number: false, lacks_rank: true };
        assert_eq!(converted(b"%r", None), Ok((b"0".to_vec(), replaced)));
    }

    #[test]
    fn percent_signs_tell_no_processes_apart() {
        assert_eq!(converted(b"place/prefix", Some(1)), whole(b"place/prefix", false));
        assert_eq!(converted(b"100%%r", Some(1)), whole(b"100%r", false));
    }

    #[test]
    fn other_conversions_are_errors() {
        for (value, conversion) in
            [("%", "% at the end"), ("%r%%%", "% at the end"), ("%x%r", "%x"), ("a% r", "% "), ("%%%q", "%q")]
        {
            assert_eq!(converted(value.as_bytes(), Some(1)), Err(conversion.as_bytes()), "{value}");
        }
    }
}
