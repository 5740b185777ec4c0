//! The user's settings, checked. An invalid value is reported, and the default is used.

use core::ffi::{CStr, c_int};

use super::calls::Demand;
use super::environment::{Environment, Variable};
use super::{only, prefix};
use crate::file::{self, Children, Form, Naming, Output};
use crate::kernel::{HIGHEST_RATE, RATE_OTHERWISE, SAMPLER_NAMES, Sampler, Wish};
use crate::message::{say, say_error};
use crate::os::{Fd, WALKS_STACKS, file_mask, is_free_for_use, signal_named};
use crate::text::{Digits, decimal, millionths};

/// Whether the program is to be profiled.
pub(crate) fn wants(argv0: &CStr, environment: &Environment<'_>) -> bool {
    environment.value(Variable::Only).is_none_or(|pattern| only::is_wanted(pattern.to_bytes(), argv0.to_bytes()))
}

/// Sets the name and the form of the file. The result is the directory that the user asked for.
pub(crate) fn configure(argv0: &CStr, environment: &Environment<'_>) -> Option<Fd> {
    let form = environment.value(Variable::Format).and_then(|name| {
        let form = Form::named(name.to_bytes());
        if form.is_none() {
            refuse(Variable::Format, name.to_bytes(), b" is not openbsd, freebsd, bsd or gnu: using the default");
        }
        form
    });
    // SAFETY: nothing else runs yet.
    unsafe {
        file::configure(|output| {
            output.form = form;
            output.mask = file_mask();
            output.children = children(environment);
            output.wants_process = environment.wants_process;
            name(output, argv0, environment);
        });
        file::set_rank(environment.rank());
    }
    // A prefix includes the directory.
    let directory = environment.value(Variable::Directory).filter(|_| environment.value(Variable::Prefix).is_none())?;
    match Fd::open_directory(directory) {
        Ok(fd) => Some(fd),
        Err(error) => {
            say_error(&[b"PROFDIR=", directory.to_bytes(), b": cannot open, using the current directory"], error);
            None
        }
    }
}

/// Reports that the value of a variable is not used, and what is used instead.
#[inline(never)]
fn refuse(variable: Variable, value: &[u8], why: &[u8]) {
    say(&[variable.name(), value, why]);
}

/// What the children of a fork leave.
fn children(environment: &Environment<'_>) -> Children {
    match environment.value(Variable::Children).map(CStr::to_bytes) {
        None | Some(b"separate") => Children::Separate,
        Some(b"sum") => Children::Sum,
        Some(b"none") => Children::None,
        Some(value) => {
            refuse(Variable::Children, value, b" is not separate, sum or none: using separate");
            Children::Separate
        }
    }
}

/// Whether the runtime may catch signals that would end the program.
pub(crate) fn may_catch_signals(environment: &Environment<'_>) -> bool {
    match environment.value(Variable::Signals).map(CStr::to_bytes) {
        None | Some(b"all") => true,
        Some(b"none") => false,
        Some(value) => {
            refuse(Variable::Signals, value, b" is not all or none: using all");
            true
        }
    }
}

/// Whether the runtime keeps what happens outside the program.
pub(crate) fn tells_of_objects(environment: &Environment<'_>) -> bool {
    is_on(environment, Variable::Objects, true)
}

/// Whether the runtime walks the stack at each sample. Systems whose kernel samples do not read the variable.
pub(crate) fn walks_stacks(environment: &Environment<'_>) -> bool {
    WALKS_STACKS && is_on(environment, Variable::Stacks, true)
}

/// Whether threads are told apart.
pub(crate) fn tells_threads(environment: &Environment<'_>) -> bool {
    WALKS_STACKS && is_on(environment, Variable::Threads, false)
}

/// Whether a variable is 1 and not 0, or the `default` for another value, which is reported.
fn is_on(environment: &Environment<'_>, variable: Variable, default: bool) -> bool {
    match environment.value(variable).map(CStr::to_bytes) {
        None => default,
        Some(b"0") => false,
        Some(b"1") => true,
        Some(value) => {
            let using: &[u8] = if default { b" is not 0 or 1: using 1" } else { b" is not 0 or 1: using 0" };
            refuse(variable, value, using);
            default
        }
    }
}

/// Whether the process counts in the file itself.
pub(crate) fn is_live(environment: &Environment<'_>) -> bool {
    let is_live = is_on(environment, Variable::Live, false);
    if is_live && let Some(form) = environment.value(Variable::Format).filter(|form| form.to_bytes() != b"bsd") {
        refuse(Variable::Format, form.to_bytes(), b" does not work with GMON_LIVE=1: using bsd");
    }
    is_live
}

/// How the program is to be sampled.
pub(crate) fn sampling(environment: &Environment<'_>) -> Wish {
    let rate = environment.value(Variable::Rate).and_then(|value| {
        let rate = decimal(value.to_bytes()).filter(|rate| (1..=HIGHEST_RATE).contains(rate));
        if rate.is_none() {
            let mut highest = Digits::new();
            highest.push_decimal(u64::from(HIGHEST_RATE));
            let range: [&[u8]; 3] = [b" is not a number from 1 to ", highest.as_bytes(), RATE_OTHERWISE];
            say(&[Variable::Rate.name(), value.to_bytes(), range[0], range[1], range[2]]);
        }
        rate
    });
    let wall = match environment.value(Variable::Clock).map(CStr::to_bytes) {
        None | Some(b"cpu") => false,
        Some(b"wall") => true,
        Some(value) => {
            refuse(Variable::Clock, value, b" is not cpu or wall: using cpu");
            false
        }
    };
    let sampler = environment.value(Variable::Sampler).and_then(|name| {
        let sampler = Sampler::named(name.to_bytes());
        if sampler.is_none() {
            say(&[Variable::Sampler.name(), name.to_bytes(), b" is not ", SAMPLER_NAMES, b": using the default"]);
        }
        sampler
    });
    Wish { rate, wall, sampler }
}

/// The signal that makes the runtime write the file.
pub(crate) fn dump_signal(environment: &Environment<'_>) -> Option<c_int> {
    signal(environment, Variable::DumpSignal, b" is a signal that cannot write the file: using none")
}

/// Which calls are counted from the start.
pub(crate) fn calls<'a>(environment: &Environment<'a>) -> Option<Demand<'a>> {
    let value = environment.value(Variable::Calls)?.to_bytes();
    match value {
        b"on" | b"1" => return Some(Demand::All(b"")),
        b"off" | b"0" => return None,
        _ => {}
    }
    let Some(percent) = value.iter().position(|byte| *byte == b'%') else { return Some(Demand::All(value)) };
    let (share, list) = (value.get(..percent).unwrap_or_default(), value.get(percent + 1..).unwrap_or_default());
    let list = if list.is_empty() { Some(list) } else { list.strip_prefix(b",") };
    let share = millionths(share).filter(|share| (LEAST_SHARE..=LARGEST_SHARE).contains(share));
    match share.zip(list) {
        Some((share, list)) => Some(Demand::InWindows(share, list)),
        None => {
            refuse(
                Variable::Calls,
                value,
                b" is not a share from 0.1% to 50%, nor a share, a comma and a list: using none",
            );
            None
        }
    }
}

/// The least and the largest share of the time for windows, in millionths.
const LEAST_SHARE: u64 = 1_000;
const LARGEST_SHARE: u64 = 500_000;

/// The signal that switches the counting of calls.
pub(crate) fn calls_signal(environment: &Environment<'_>) -> Option<c_int> {
    let why = b" is a signal that cannot switch the counting of calls: using none";
    let found = signal(environment, Variable::CallsSignal, why)?;
    let dump = environment.value(Variable::DumpSignal).and_then(|name| signal_named(name.to_bytes()));
    if dump == Some(found) {
        let name = environment.value(Variable::CallsSignal).map_or(&b""[..], CStr::to_bytes);
        refuse(Variable::CallsSignal, name, b" is the signal of GMON_DUMP_SIGNAL: using none");
        return None;
    }
    Some(found)
}

/// The signal that a variable names. A signal that has another use is refused, with a reason.
fn signal(environment: &Environment<'_>, variable: Variable, why: &[u8]) -> Option<c_int> {
    let name = environment.value(variable)?.to_bytes();
    let wrong = match signal_named(name) {
        Some(signal) if is_free_for_use(signal) => return Some(signal),
        Some(_) => why,
        None => b" is not a signal: using none",
    };
    refuse(variable, name, wrong);
    None
}

/// Sets the parts of the file's name: see [`Naming`].
fn name(output: &mut Output, argv0: &CStr, environment: &Environment<'_>) {
    output.program.push(argv0.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default());
    if let Some(prefix) = environment.value(Variable::Prefix) {
        prefix::set(output, prefix.to_bytes(), environment.rank());
    } else if environment.value(Variable::Directory).is_some() {
        output.naming = Naming::Private;
    }
}
