//! The user's settings, as far as they can have an effect where the kernel samples, names the file and writes the file.

use core::ffi::{CStr, c_char, c_int};

use crate::control::{self, Environment, Variable, settings, snapshot, strings};
use crate::file::{self, Form, Naming, names};
use crate::kernel;
use crate::kernel::system::snapshot::{open_beforehand, remember_directory};
use crate::message::{say, say_error};
use crate::os::Fd;

/// The bytes of a program's name that the kernel keeps.
const KERNELS_NAME: usize = 23;

/// The settings that matter after profiling has started.
pub(super) struct Settings {
    /// The directory that the user chose.
    pub(super) directory: Option<Fd>,
    /// The signal that makes the runtime write the file.
    dump_signal: Option<c_int>,
    /// Whether the file is opened at start-up.
    opens_file: bool,
}

/// Reads the environment, and prints a message for each variable that has no effect.
///
/// # Safety
///
/// `envp` must be the environment, and this thread the only one.
pub(super) unsafe fn read(name: &CStr, envp: *const *const c_char) -> Settings {
    // SAFETY: the caller's promise.
    let environment = possible(unsafe { Environment::of(strings(envp)) });
    let directory = settings::configure(name, &environment);
    // SAFETY: the caller's promise.
    unsafe { file::configure(|output| use_kernels_name(output, name)) };
    kernel::choose_sampler(&settings::sampling(&environment));
    // The kernel writes the file after any signal, so both valid values are fulfilled.
    let _ = settings::may_catch_signals(&environment);
    let dump_signal = settings::dump_signal(&environment);
    let opens_file = settings::is_live(&environment) || dump_signal.is_some();
    Settings { directory, dump_signal, opens_file }
}

/// Names snapshots as the kernel names the file, so that the kernel replaces them at the end.
fn use_kernels_name(output: &mut file::Output, name: &CStr) {
    let name = name.to_bytes();
    output.program.clear();
    output.program.push(name.get(..KERNELS_NAME).unwrap_or(name));
    output.naming = Naming::Private;
    output.replaces = true;
    output.mask = 0; // the kernel opens only files with mode 0600
}

/// Removes the settings that have no effect, with a message for each.
fn possible(environment: Environment<'_>) -> Environment<'_> {
    let mut left = environment;
    let without_effect = |variable: Variable, value: &CStr, why: &[u8]| {
        say(&[variable.name(), value.to_bytes(), b" has no effect on OpenBSD: ", why]);
    };
    if let Some(prefix) = left.value(Variable::Prefix) {
        left.remove(Variable::Prefix);
        let why = b"the kernel names the file, and PROFDIR sets the directory";
        without_effect(Variable::Prefix, prefix, why);
    }
    if let Some(form) = left.value(Variable::Format).filter(|form| Form::named(form.to_bytes()).is_some()) {
        left.remove(Variable::Format);
        if Form::named(form.to_bytes()) != Some(Form::OpenBsd) {
            without_effect(Variable::Format, form, b"the kernel writes the file in OpenBSD's form");
        }
    }
    if let Some(sum) = left.value(Variable::Children).filter(|value| value.to_bytes() == b"sum") {
        left.remove(Variable::Children);
        without_effect(Variable::Children, sum, b"the kernel writes a file for each process");
    }
    if let Some(only) = left.value(Variable::Only) {
        without_effect(Variable::Only, only, b"each program with this start-up object is profiled");
    }
    left
}

impl Settings {
    /// Prepares for snapshots, after profiling has started.
    pub(super) fn prepare_snapshots(&self) {
        let prepared = match self.directory {
            _ if self.opens_file => open_beforehand(self.directory),
            Some(_) => remember_directory(self.directory),
            None => Ok(()),
        };
        if let Err((what, error)) = prepared {
            say_error(&[names::name().to_bytes(), b": cannot ", what], error);
        } else if self.opens_file {
            control::write_snapshot(); // the file is a profile from the start
        }
        if let Some(signal) = self.dump_signal {
            snapshot::watch(signal);
        }
    }
}
