//! Writes the manual page and the completions of shells into `share` of a directory: `manuals DIRECTORY`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::{Shell, generate_to};

/// Where shells look for completions.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: manuals DIRECTORY");
        return ExitCode::FAILURE;
    };
    match write(&directory.join("share")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("manuals: {}: {error}", directory.display());
            ExitCode::FAILURE
        }
    }
}

fn write(share: &std::path::Path) -> std::io::Result<()> {
    let manuals = share.join("man/man1");
    fs::create_dir_all(&manuals)?;
    let mut page = Vec::new();
    clap_mangen::Man::new(gprof::cli::command()).render(&mut page)?;
    fs::write(manuals.join("gprof.1"), page)?;
    for (shell, place) in COMPLETIONS {
        let place = share.join(place);
        fs::create_dir_all(&place)?;
        let written = generate_to(shell, &mut gprof::cli::command(), "gprof", &place)?;
        // Bash looks for a file of the program's own name.
        if shell == Shell::Bash {
            fs::rename(written, place.join("gprof"))?;
        }
    }
    Ok(())
}
