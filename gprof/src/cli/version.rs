//! The text of `--version`: what this build of gprof is, reads, and writes.

use gmon::Form;

use crate::question::format::Format;

/// Returns the version, the target of the build, the forms of profiles that gprof reads, and the formats that gprof writes.
///
/// The first line ends with the version, as GNU's first line does, because scripts look there.
pub(super) fn text() -> String {
    let forms: Vec<String> = Form::ALL.iter().map(ToString::to_string).collect();
    let formats: Vec<&str> = Format::all().map(Format::name).collect();
    let [version, target] = [env!("CARGO_PKG_VERSION"), env!("GPROF_TARGET")];
    let [forms, formats] = [forms.join(", "), formats.join(", ")];
    format!(
        "gprof (gmon toolchain) {version}\nTarget: {target}\nForms of profiles: {forms}\nOutput formats: {formats}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_last_word_of_the_first_line() {
        let text = text();
        let first = text.lines().next().unwrap();
        assert_eq!(first.rsplit_once(' '), Some(("gprof (gmon toolchain)", env!("CARGO_PKG_VERSION"))));
    }

    #[test]
    fn every_form_and_every_format_is_listed() {
        let text = text();
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
