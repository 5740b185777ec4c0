//! What gprof prints of itself: the manual page and the completions of shells (`--generate`), which packagers install
//! beside the program, and the text of `--version`.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap_complete::{Shell, generate};
use gmon::Form;

use super::arguments::{KINDS, command};
use crate::error::Error;
use crate::question::format::Format;

/// The text that `--generate=KIND` asks for, if this is the whole command line. The first word names the program, also
/// in the text: gprof may be installed under another name.
///
/// # Errors
///
/// When the kind does not exist.
pub fn generated(words: &[OsString]) -> Result<Option<Vec<u8>>, Error> {
    let [program, option] = words else { return Ok(None) };
    let Some(kind) = option.to_str().and_then(|option| option.strip_prefix("--generate")) else { return Ok(None) };
    let kind = kind.trim_start_matches('=');
    let name = Path::new(program).file_name().map_or("gprof".into(), |name| name.to_string_lossy().into_owned());
    let shell = match kind {
        "man" => return page(&name).map(|page| Some(page.into_bytes())).map_err(Error::Output),
        "bash" => Shell::Bash,
        "zsh" => Shell::Zsh,
        "fish" => Shell::Fish,
        _ => {
            let known = KINDS.join(", ");
            return Err(Error::Usage(format!("invalid value '{kind}' for '--generate <KIND>' ({known})")));
        }
    };
    let mut completions = Vec::new();
    generate(shell, &mut command(), name, &mut completions);
    Ok(Some(completions))
}

/// The sections of the manual page that the definitions of options do not contain.
const SECTIONS: &str = include_str!("sections.roff");

/// The day of the last change of the page.
const DATE: &str = "2026-11-28";

/// Returns the manual page.
fn page(name: &str) -> std::io::Result<String> {
    // clap keeps the names of commands as long as the program runs.
    let command = command().name(String::leak(name.to_owned()) as &'static str);
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

/// Returns the version, the target of the build, the forms of profiles that gprof reads, and the formats that gprof
/// writes.
///
/// The first line ends with the version, as GNU's first line does, because scripts look there.
pub(super) fn version() -> String {
    let formats: Vec<&str> = Format::all().map(Format::name).collect();
    format!("{}Output formats: {}\n", build(), formats.join(", "))
}

/// Returns the forms of profiles that gprof reads, by the names that `--profile-form` takes. Each has the systems and
/// programs that write the same form.
pub(super) fn forms() -> String {
    let mut text =
        "Forms of profiles (--profile-form=FORM; -O has auto, magic for gnu, bsd, 4.4bsd, and prof for mon-out):\n"
            .to_owned();
    for form in Form::every() {
        let same = match form.writers() {
            [] => String::new(),
            writers => format!("; the same: {}", writers.join(", ")),
        };
        text.push_str(&format!("  {:<16}{form}{same}\n", form.name()));
    }
    text
}

/// Returns the version, the target of the build, and the forms of profiles that gprof reads.
pub(super) fn build() -> String {
    let forms: Vec<String> = Form::ALL.iter().map(ToString::to_string).collect();
    let [version, target] = [env!("CARGO_PKG_VERSION"), env!("GPROF_TARGET")];
    format!("gprof (gmon toolchain) {version}\nTarget: {target}\nForms of profiles: {}\n", forms.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_last_word_of_the_first_line() {
        let text = version();
        let first = text.lines().next().unwrap();
        assert_eq!(first.rsplit_once(' '), Some(("gprof (gmon toolchain)", env!("CARGO_PKG_VERSION"))));
    }

    #[test]
    fn every_form_and_every_format_is_listed() {
        let text = version();
        let listed = |title: &str| -> Vec<String> {
            let line = text.lines().find_map(|line| line.strip_prefix(title)).unwrap();
            line.split(", ").map(|name| name.trim().to_owned()).collect()
        };
        let forms = listed("Forms of profiles:");
        assert!(Form::ALL.iter().all(|form| forms.contains(&form.to_string())), "{forms:?}");
        assert!(forms.contains(&"GNU".to_owned()) && forms.contains(&"4.4BSD".to_owned()), "{forms:?}");
        let formats = listed("Output formats:");
        assert!(formats.iter().all(|name| Format::named(name).is_some()), "{formats:?}");
        assert_eq!(formats.len(), Format::all().count());
    }
}
