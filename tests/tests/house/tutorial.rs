//! docs/tutorial.md: the commands run, and print what the page shows. Times depend on the machine, numbers of calls do
//! not.

use std::collections::BTreeSet;
use std::fs;

use crate::readme::{Block, Home, blocks, root};

/// The functions of the program.
const FUNCTIONS: [&str; 5] = ["main", "read_words", "find", "is_of", "hash"];

/// What a line says of a function of the program, whatever the machine is: the function, and the numbers of calls.
fn facts(line: &str) -> Option<(Vec<String>, String)> {
    let words: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with('[')).collect();
    let function = words.last().filter(|word| FUNCTIONS.contains(word))?;
    let is_count = |word: &&&str| {
        let digits = word.trim_start_matches(['-', '+']);
        digits.len() > 3 && digits.chars().all(|letter| letter.is_ascii_digit() || letter == '/')
    };
    Some((words.iter().filter(is_count).map(|word| (*word).to_owned()).collect(), (*function).to_owned()))
}

// Fails if the page shows other calls than the programs make, a command that fails, or output that no command prints.
#[test]
fn the_commands_print_what_the_page_shows() {
    let text = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let home = Home::new("tutorial");
    // The output of each block of commands ends with a line of its own.
    let mut script = "make install PREFIX=$HOME/gmon >installed\n".to_owned();
    let mut shown: Vec<Vec<String>> = Vec::new();
    for block in blocks(&text) {
        match block {
            Block::Commands(commands) => {
                script += &format!("{commands}echo @@@\n");
                shown.push(Vec::new());
            }
            Block::Output(output) => shown.last_mut().unwrap().push(output),
            Block::Rust(_) => panic!("the tutorial has no Rust"),
        }
    }
    let source = fs::read_to_string(root().join("docs/examples/words/words.c")).unwrap();
    let printed = home.print(&script);
    let printed: Vec<&str> = printed.split("@@@\n").collect();
    assert_eq!(printed.len(), shown.len() + 1);
    let mut seen = BTreeSet::new();
    for (shown, printed) in shown.iter().zip(printed) {
        let lines: Vec<&str> = printed.lines().map(str::trim).collect();
        let known: Vec<_> = printed.lines().filter_map(facts).collect();
        for line in shown.iter().flat_map(|output| output.lines()).filter(|line| !line.is_empty()) {
            let line_without_blanks = line.trim();
            if source.contains(line) {
                seen.insert("a line of the source");
            } else if let Some(facts) = facts(line) {
                assert!(known.contains(&facts), "{line}: {facts:?}: {printed}");
                seen.insert(if facts.0.len() > 2 { "a difference" } else { "calls" });
            } else if line.starts_with("calls: ") || line.contains(" words, ") {
                assert!(lines.contains(&line_without_blanks), "{line}: {printed}");
                seen.insert(if line.starts_with("calls: ") { "a change of calls" } else { "the program's output" });
            } else if line.starts_with("Total: ") {
                assert!(lines.iter().any(|line| line.starts_with("Total: ")), "{printed}");
            }
        }
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
}
