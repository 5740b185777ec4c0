//! The outputs of a run: where each goes, and in which format.

use std::path::PathBuf;

use super::arguments::Arguments;
use crate::error::Error;
use crate::question::files::Output;
use crate::question::format::Format;

/// The outputs, at least one. `--format` counts for all outputs; without it, the name of a file tells the format. With
/// `--extract`, the only file is that of `--extract`.
pub(super) fn outputs(arguments: &Arguments) -> Result<Vec<Output>, Error> {
    let is_table = |format: Format| if arguments.table && format == Format::Text { Format::Table } else { format };
    let output = |file: Option<&PathBuf>| {
        let format = match (arguments.format, file) {
            (Some(format), _) => format,
            (None, None) => Format::Text,
            (None, Some(file)) => Format::of_file(file).ok_or_else(|| unknown(file))?,
        };
        Ok(Output { file: file.cloned(), format: is_table(format) })
    };
    let files = &arguments.output;
    if arguments.extract.is_some() || files.is_empty() {
        return match files.get(1) {
            Some(_) => Err(Error::Usage("'--extract' writes one file, so one '--output' can name the file".to_owned())),
            None => Ok(vec![output(None)?]),
        };
    }
    for (at, file) in files.iter().enumerate() {
        if files[..at].contains(file) {
            return Err(Error::Usage(format!("'--output {}' stands twice", file.display())));
        }
    }
    files.iter().map(|file| output(Some(file).filter(|file| file.as_os_str() != "-"))).collect()
}

fn unknown(file: &std::path::Path) -> Error {
    let known = Format::endings();
    Error::Usage(format!("'--output {}': no format has this ending ({known}): add '--format=FORMAT'", file.display()))
}

/// Returns how the command line asks for an output that is not plain text, for an error.
pub(super) fn spelled(output: &Output, arguments: &Arguments) -> String {
    match (arguments.format, &output.file) {
        (None, _) if output.format == Format::Table => "--table".to_owned(),
        (None, Some(file)) => format!("--output {}", file.display()),
        _ => format!("--format={}", output.format.name()),
    }
}
