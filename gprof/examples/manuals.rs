//! Writes the manual page and the completions of shells into `share` of a directory: `manuals DIRECTORY [NAME]`. NAME is the name under
//! which gprof is installed.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::{Shell, generate_to};

/// The sections of the manual page that the definitions of options do not contain.
const SECTIONS: &str = include_str!("../../docs/man/gprof-sections.roff");

/// The day of the last change of the page.
const DATE: &str = "2026-11-22";

/// The directories where shells look for completions.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: manuals DIRECTORY [NAME]");
        return ExitCode::FAILURE;
    };
    // Names of commands live as long as the program.
    let name: &'static str = std::env::args().nth(2).unwrap_or_else(|| "gprof".to_owned()).leak();
    match write(&directory.join("share"), name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("manuals: {}: {error}", directory.display());
            ExitCode::FAILURE
        }
    }
}

fn write(share: &std::path::Path, name: &'static str) -> std::io::Result<()> {
    let manuals = share.join("man/man1");
    fs::create_dir_all(&manuals)?;
    fs::write(manuals.join(format!("{name}.1")), page(name)?)?;
    for (shell, place) in COMPLETIONS {
        let place = share.join(place);
        fs::create_dir_all(&place)?;
        let written = generate_to(shell, &mut gprof::command().name(name), name, &place)?;
        // Bash looks for a file with the name of the program.
        if shell == Shell::Bash {
            fs::rename(written, place.join(name))?;
        }
    }
    Ok(())
}

/// Returns the manual page.
fn page(name: &'static str) -> std::io::Result<String> {
    let command = gprof::command().name(name);
    let title = name.to_uppercase().replace('-', "\\-");
    let mut page = format!(".TH {title} 1 {DATE} \"gmon {}\"\n", env!("CARGO_PKG_VERSION"));
    let man = clap_mangen::Man::new(command.clone());
    let mut part = |render: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        render(&mut bytes).map(|()| page.push_str(&String::from_utf8_lossy(&bytes)))
    };
    // The text of options spells apostrophes with a string that only the page's title would define.
    part(&|out| out.write_all(b".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n"))?;
    part(&|out| man.render_name_section(out))?;
    part(&|out| out.write_all(synopsis(&command).as_bytes()))?;
    part(&|out| man.render_description_section(out))?;
    part(&|out| man.render_options_section(out))?;
    page.push_str(SECTIONS);
    Ok(tidy(&page))
}

/// Returns the synopsis: each option with its argument, on a line of its own.
fn synopsis(command: &clap::Command) -> String {
    let escaped = |text: &str| text.replace('-', "\\-");
    let mut text = format!(".SH SYNOPSIS\n.B {}\n", escaped(command.get_name()));
    for option in command.get_arguments().filter(|option| !option.is_positional() && !option.is_hide_set()) {
        let value = option.get_value_names().filter(|_| option.get_action().takes_values());
        let value = value.and_then(|names| names.first());
        let is_optional = option.get_num_args().is_some_and(|count| count.min_values() == 0);
        let argument = |glue: &str| match value {
            Some(name) if is_optional => format!("[{glue}\\fI{name}\\fR]"),
            Some(name) => format!(" \\fI{name}\\fR"),
            None => String::new(),
        };
        let short = option.get_short().map(|letter| format!("\\fB\\-{letter}\\fR{}", argument("")));
        let long = option.get_long().map(|name| format!("\\fB\\-\\-{}\\fR{}", escaped(name), argument("=")));
        let names: Vec<String> = [short, long].into_iter().flatten().collect();
        let more = if matches!(option.get_action(), clap::ArgAction::Append) { "..." } else { "" };
        text.push_str(&format!("[{}]{more}\n", names.join("|")));
    }
    text.push_str("[\\fIIMAGE\\fR [\\fIPROFILES\\fR...]]\n");
    text
}

/// Returns the page without lines that are too long, blanks at the ends of lines, and needless breaks.
fn tidy(page: &str) -> String {
    const WIDTH: usize = 78;
    let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
    let mut tidy = String::new();
    for (at, line) in lines.iter().enumerate() {
        // An empty line lies between two breaks.
        let is_break = *line == ".br" || line.is_empty();
        if is_break && lines.get(at + 1).is_some_and(|next| *next == ".br" || next.is_empty()) || line.is_empty() {
            continue;
        }
        let mut length = 0;
        for word in line.split(' ') {
            let fits = length + 1 + word.len() <= WIDTH;
            // A line of text must not begin with these characters, which begin a request.
            if length > 0 && (fits || line.starts_with('.') || word.starts_with(['.', '\''])) {
                tidy.push(' ');
                length += 1;
            } else if length > 0 {
                tidy.push('\n');
                length = 0;
            }
            tidy.push_str(word);
            length += word.len();
        }
        tidy.push('\n');
    }
    tidy
}
