//! Runs a static program of a BSD:
//! `gmon-bsd-kernel [OPTION...] PROGRAM [ARGUMENT...]`. The options are `--record FILE`, `--trace`, `--set-id`,
//! `--user ID`, `--jail`, `--processors N`, and `--openbsd`.
//!
//! The program gets the environment of this command. The command's status is the program's status, or 128 plus the
//! number of the signal that ended the program; 125 means that the program was not started.
//!
//! - `--record FILE`: writes the events of the run, one per line.
//! - `--trace`: adds all system calls to the record.
//! - `--set-id`: `issetugid` returns 1.
//! - `--user ID`: the ID of the program's user. Without the option, the user is the tracer's user. Only a tracer of the
//!   superuser can access files as another user.
//! - `--jail`: the program runs in a jail of FreeBSD without rights (`allow.nosuser`,
//!   `allow.nounprivileged_proc_debug`).
//! - `--processors N`: the machine has N processors, and each requested tick stands for N threads that run at the same
//!   address.
//! - `--openbsd`: the program is a program for OpenBSD, not for FreeBSD.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod command {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::PathBuf;
    use std::process::ExitCode;

    use gmon_bsd_kernel::credentials::Credentials;
    use gmon_bsd_kernel::freebsd::FREEBSD;
    use gmon_bsd_kernel::machine::Run;
    use gmon_bsd_kernel::openbsd::OPENBSD;
    use gmon_bsd_kernel::record::Record;

    const NOT_STARTED: u8 = 125;

    /// Runs the command line.
    pub(super) fn main() -> ExitCode {
        match run(std::env::args_os().skip(1)) {
            Ok(status) if status & 0x7f == 0 => ExitCode::from((status >> 8) as u8),
            Ok(status) => ExitCode::from(128 + (status & 0x7f) as u8),
            Err(error) => {
                eprintln!("gmon-bsd-kernel: {error}");
                ExitCode::from(NOT_STARTED)
            }
        }
    }

    fn number(word: OsString) -> Option<u32> {
        word.to_str()?.parse().ok()
    }

    fn run(words: impl Iterator<Item = OsString>) -> Result<i32, String> {
        let (mut record, mut has_calls, mut is_set_id, mut is_in_jail) = (None, false, false, false);
        let (mut personality, mut processors) = (&FREEBSD, 1);
        let mut credentials = Credentials::of_tracer();
        let mut words = words.peekable();
        while let Some(option) = words.next_if(|word| word.as_bytes().starts_with(b"--")) {
            match option.as_bytes() {
                b"--record" => record = Some(PathBuf::from(words.next().ok_or("--record needs a file")?)),
                b"--trace" => has_calls = true,
                b"--set-id" => is_set_id = true,
                b"--jail" => is_in_jail = true,
                b"--user" => credentials.user = words.next().and_then(number).ok_or("--user needs a number")?,
                b"--processors" => {
                    let number = words.next().and_then(number).ok_or("--processors needs a number")?;
                    processors = u64::from(number);
                }
                b"--openbsd" => personality = &OPENBSD,
                _ => return Err(format!("unknown option {}", option.display())),
            }
        }
        let arguments: Vec<Vec<u8>> = words.map(OsStringExt::into_vec).collect();
        let program =
            PathBuf::from(OsString::from_vec(arguments.first().ok_or("the command line has no program")?.clone()));
        let environment = std::env::vars_os().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        let path = program.display().to_string();
        let record = Record::create(record.as_deref(), has_calls)
            .map_err(|error| format!("cannot create the record: {error}"))?;
        let environment = environment.collect();
        let run = Run { personality, program, arguments, environment, is_set_id, processors, credentials, is_in_jail };
        run.run(record).map_err(|error| format!("{path}: {error}"))
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use command::main as run;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn run() -> std::process::ExitCode {
    eprintln!("gmon-bsd-kernel: runs on Linux on x86-64 only");
    std::process::ExitCode::from(125)
}

fn main() -> std::process::ExitCode {
    run()
}
