//! The width of comments and documents: comments have at most 120 columns, and documents at most 140.

use std::fs;
use std::path::{Path, PathBuf};

/// The most columns of a line of a comment.
const COMMENT: usize = 120;
/// The most columns of a line of text in a document.
const DOCUMENT: usize = 140;

/// How a language writes comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comments {
    /// `//`
    Slashes,
    /// `//` and `/* */`
    Blocks,
    /// `#`
    Hashes,
}

/// How the language of a file writes comments; `None` for files that are no sources.
fn comments_of(path: &Path) -> Option<Comments> {
    if path.file_name()? == "Makefile" {
        return Some(Comments::Hashes);
    }
    match path.extension()?.to_str()? {
        "rs" => Some(Comments::Slashes),
        "c" | "h" | "ld" => Some(Comments::Blocks),
        "sh" | "toml" | "mk" => Some(Comments::Hashes),
        _ => None,
    }
}

fn is_long(line: &str, most: usize) -> bool {
    line.chars().count() > most
}

/// The numbers of the lines that are comments and too long. A row of a table cannot be wrapped.
fn long_comments(text: &str, comments: Comments) -> Vec<usize> {
    let (mut found, mut is_inside) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let is_comment = match comments {
            Comments::Slashes => start.starts_with("//") && !start.contains("//! |"),
            Comments::Blocks => is_inside || start.starts_with("//") || start.starts_with("/*"),
            Comments::Hashes => start.starts_with('#'),
        };
        if is_comment && is_long(line, COMMENT) {
            found.push(at + 1);
        }
        if comments == Comments::Blocks {
            let last = |mark| line.rfind(mark).map_or(0, |at| at + 1);
            is_inside = if is_inside { last("*/") == 0 } else { last("/*") > last("*/") };
        }
    }
    found
}

/// The numbers of the lines of a document that are text and too long: not code, rows of tables, headings, or links
/// alone.
fn long_text(text: &str) -> Vec<usize> {
    let (mut found, mut is_code, mut is_after_code) = (Vec::new(), false, true);
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        is_code ^= start.starts_with("```");
        // An indented line after an empty line, or after code, is code.
        let is_indented_code = is_after_code && line.starts_with("    ") && !start.starts_with(['*', '-']);
        is_after_code = start.is_empty() || is_indented_code;
        let is_text = !is_code && !is_indented_code && !start.starts_with(['|', '#', '<', '[']);
        if is_text && is_long(line, DOCUMENT) {
            found.push(at + 1);
        }
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The files of the project, without those that builds make.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap_or_default();
        if path.is_symlink() || name.starts_with('.') || name == "target" {
            continue;
        }
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn comments_and_documents_are_not_too_wide() {
    let (mut wide, mut sources, mut documents) = (Vec::new(), 0, 0);
    for path in files(root()) {
        let inside = path.strip_prefix(root()).unwrap();
        let comments = comments_of(inside).filter(|_| !inside.starts_with("testdata"));
        let is_document = inside.extension().is_some_and(|extension| extension == "md");
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let lines = match comments {
            Some(comments) => long_comments(&text, comments),
            None if is_document => long_text(&text),
            None => continue,
        };
        sources += usize::from(comments.is_some());
        documents += usize::from(is_document);
        wide.extend(lines.iter().map(|line| format!("{}:{line}", inside.display())));
    }
    assert!(sources > 500 && documents > 15, "{sources} sources, {documents} documents");
    assert!(wide.is_empty(), "wrap or shorten these lines: {wide:#?}");
}

#[test]
fn long_lines_are_found() {
    let (full, long) = ("ä".repeat(COMMENT - 3), "ä".repeat(COMMENT - 2));
    for (comments, mark) in [(Comments::Slashes, "// "), (Comments::Hashes, "#  "), (Comments::Blocks, "// ")] {
        assert_eq!(long_comments(&format!("{mark}{full}\n  {mark}{full}\n{long}{long}\n"), comments), [2], "{mark}");
    }
    let row = format!("//! | {long} |\n/// {long}\n");
    assert_eq!(long_comments(&row, Comments::Slashes), [2], "a row of a table");
    let block =
        format!("/* {long} */\ncode({long}); /* a\n   {long}\n   b */\ncode({long}, {long}); /* c */\n {long}{long}\n");
    assert_eq!(long_comments(&block, Comments::Blocks), [1, 3]);

    let long = "ä ".repeat(DOCUMENT);
    let text = format!(
        "{long}\n\n    {long}\n    {long}\nb\n    {long}\n\n* {long}\n```\n{long}\n```\n| {long} |\n# {long}\n"
    );
    assert_eq!(long_text(&text), [1, 6, 8]);
}
