//! Makes the profile of a running program (`--attach`). The runtime of the program is asked for two copies of the
//! profile; what has been counted between them is the profile of this time. [`gmon::layout::request`] has the protocol.

mod interval;
mod live;
mod process;
#[cfg(test)]
mod refusals;
mod request;
mod signal;
#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gmon::layout::request::{Action, Question};

use crate::error::Error;
use crate::question::files::{InMemory, ProfilePath, ProfiledImage};
use crate::question::options::{Attach, Options};
use crate::sources;
use crate::terminal::interrupts::Interrupts;
use crate::terminal::progress::Progress;
use live::Live;
use process::{Process, Status, fault};
use request::{Asked, Steps};

/// How long after the end of the time the process switches off by itself what it has switched on for this time. The
/// answer to the second question may take that long.
const LEASE: Duration = Duration::from_secs(10);

/// How long a process may take from its start until its runtime handles requests. `prog & gprof --attach $!` asks a
/// process that may not even execute the program yet.
const START: Duration = Duration::from_millis(500);

/// The time between two looks at a process that starts.
const LOOK: Duration = Duration::from_millis(10);

/// Makes the profile of a running program. The options then have the program and this profile. A signal by which users
/// end programs ends the time early; afterwards these signals end this process as usual.
///
/// # Errors
///
/// When the process cannot be asked, does not answer, refuses, or ends.
pub(crate) fn take_profile(
    options: &mut Options,
    attach: &Attach,
    progress: &mut Progress<'_>,
) -> Result<Interrupts, Error> {
    let process = Process::find(attach.process)?;
    let own = rustix::process::geteuid().as_raw();
    let status = check(&process, own)?;
    let root = process.other_root();
    let image = match options.images.first() {
        Some(named) if options.named.image => named.image.clone(),
        _ => process.executable()?,
    };
    options.images = vec![ProfiledImage { image: image.clone(), profiles: Vec::new() }];
    options.sysroot = options.sysroot.take().or_else(|| root.clone());
    // The user should not wait for a report that cannot be made.
    sources::check_images(options)?;
    let caught = Interrupts::catch();
    let interrupts = caught.map_err(|error| fault(process.pid, format!("signals cannot be caught: {error}")))?;
    let places = root.map_or_else(request::places_here, |root| request::places_below(&root));
    let asked = Asked { pid: process.pid, number: status.number, user: status.user, places };
    let mut live = Live::new(&process, own, &interrupts, progress);
    let taken = take(&asked, attach, &mut live);
    if let Some(signal) = live.ended_by {
        progress.clear();
        Interrupts::end_by(signal);
    }
    let profiles = vec![ProfilePath::Memory(Arc::new(taken?))];
    options.images = vec![ProfiledImage { image, profiles }];
    interrupts.release();
    Ok(interrupts)
}

/// Checks that the process can be asked. A process that cannot be asked may just have been started.
fn check(process: &Process, own: u32) -> Result<Status, Error> {
    let begin = Instant::now();
    loop {
        process.status(own)?;
        match process.check_runtime(own) {
            Err(_) if begin.elapsed() < START => _ = process.wait(LOOK),
            checked => return checked,
        }
    }
}

/// Asks for a copy of the profile, lets the time pass, asks for another copy, and makes the profile of this time.
fn take(asked: &Asked, attach: &Attach, steps: &mut dyn Steps) -> Result<InMemory, Error> {
    // Two runs have the same number with a probability of 1 in 2^64.
    let session = RandomState::new().build_hasher().finish();
    let limit = attach.time.saturating_add(LEASE).as_nanos();
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let question = |action| Question { action, session, limit, calls: attach.calls.as_deref() };
    let begin = asked.ask(&question(Action::Begin), steps)?;
    steps.pass(attach.time)?;
    let end = asked.ask(&question(Action::End), steps)?;
    interval::between(asked.pid, &begin, &end)
}
