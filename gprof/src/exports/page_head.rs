//! The beginning of a page for browsers. The page needs no other file and no network; its policy forbids both.

use std::io::{self, Write};

use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

use crate::sink::markup::escaped;

/// Writes the head of a page, and the tag of its body. `title` is markup. The page runs this script and no other.
pub(super) fn write(title: &str, style: &str, script: &str, out: &mut dyn Write) -> io::Result<()> {
    let (may_run, may_style) = (hash(script), hash(style));
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-{may_run}'; \
         style-src 'sha256-{may_style}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>"
    )
}

/// The hash by which the page's policy names a script or a style.
fn hash(text: &str) -> String {
    BASE64_STANDARD.encode(Sha256::digest(text))
}

/// Writes warnings at the head of a page.
pub(super) fn warnings(warnings: &[String], out: &mut dyn Write) -> io::Result<()> {
    warnings
        .iter()
        .try_for_each(|text| writeln!(out, "<p role=\"alert\" class=\"warning\">{}</p>", escaped(text.as_bytes())))
}

/// Writes notes at the head of a page.
pub(super) fn notes(notes: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    notes.into_iter().try_for_each(|text| writeln!(out, "<p class=\"legend\">{}</p>", escaped(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_sha_256() {
        // The values of sha256sum, in base64.
        assert_eq!(hash("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        assert_eq!(hash(&"a".repeat(200)), "wqkI2Y9d+Yet5BtfziEwZ++8wh7yJAISpB5UtefCiuU=");
    }
}
