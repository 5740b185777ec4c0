//! Reads the profile again and again, and hands each reading to a display.

use std::fs;
use std::time::{Duration, Instant, SystemTime};

use super::table::{Names, State, Status};
use super::target::{Process, Stamp, Target};
use crate::error::Error;
use crate::model;
use crate::model::moment::Moment;
use crate::reports::list;
use crate::sources::{self, DebugFiles, Loaded};
use crate::terminal::Terminal;
use crate::terminal::progress::Progress;

/// What a display shows.
pub(super) struct Reading<'a> {
    pub(super) status: &'a Status,
    /// The counts since the start.
    pub(super) counts: &'a Moment,
    /// The counts of the last period, and its length in seconds.
    pub(super) period: Option<(&'a Moment, f64)>,
    pub(super) names: &'a Names<'a>,
    /// Whether the display has not shown these counts yet.
    pub(super) is_new: bool,
}

/// What to do after a display has shown something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Read,
    Quit,
}

/// Shows readings.
pub(super) trait Display {
    /// Shows a reading, and waits until the next one is due or the user quits.
    fn show(&mut self, reading: &Reading<'_>) -> Result<Next, Error>;
}

/// Reads and shows until the display wants to quit.
///
/// # Errors
///
/// When the program cannot be read at the start, or the display fails.
pub(super) fn show(target: &Target, display: &mut dyn Display) -> Result<(), Error> {
    let mut is_first = true;
    loop {
        let image = target.image_stamp();
        let before = target.profile_stamps();
        let (loaded, warnings) = warned(|progress| match fs::metadata(target.profile()) {
            Ok(_) => sources::load(&target.options, &mut DebugFiles::default(), progress),
            Err(source) => Err(Error::Read { file: target.profile().display().to_string(), source }),
        });
        let next = match loaded {
            Ok(loaded) => Watched { target, display, image, warnings }.show(&loaded, before)?,
            Err(error) => {
                // A program that cannot be read at the start is no program; later, it may be on its way to the next
                // build.
                if std::mem::take(&mut is_first) {
                    sources::check_images(&target.options)?;
                }
                wait(target, display, &error)?
            }
        };
        is_first = false;
        if next == Next::Quit {
            return Ok(());
        }
    }
}

/// Shows why there is no profile yet.
fn wait(target: &Target, display: &mut dyn Display, error: &Error) -> Result<Next, Error> {
    let program = target.image().display().to_string();
    let status = Status { program, message: Some(error.to_string()), ..Status::default() };
    let counts = Moment::default();
    display.show(&Reading { status: &status, counts: &counts, period: None, names: &|_| String::new(), is_new: true })
}

/// Calls a function that reads files. Returns the first warning.
fn warned<T>(read: impl FnOnce(&mut Progress<'_>) -> T) -> (T, Option<String>) {
    let mut warnings = Vec::new();
    let result = read(&mut Progress::new(&mut warnings, &Terminal::default(), &|| Duration::ZERO));
    let warnings = String::from_utf8_lossy(&warnings);
    let first = warnings.lines().next().map(|line| line.strip_prefix("gprof: ").unwrap_or(line).to_owned());
    (result, first)
}

/// A program whose symbols were read.
struct Watched<'a> {
    target: &'a Target,
    display: &'a mut dyn Display,
    /// The stamp of the program when it was read.
    image: Stamp,
    /// A warning of the last reading.
    warnings: Option<String>,
}

/// The counts of a reading.
struct Counted {
    counts: Moment,
    at: Instant,
    process: Process,
}

impl Watched<'_> {
    /// Shows readings as long as the program and its shared objects are those that were read.
    fn show(mut self, program: &Loaded, mut before: [Stamp; 2]) -> Result<Next, Error> {
        let functions = warned(|progress| model::functions(program, &self.target.options, progress)).0;
        let (mut newer, mut earlier): (Option<Loaded>, Option<Counted>) = (None, None);
        loop {
            let loaded = newer.as_ref().unwrap_or(program);
            let at = Instant::now();
            let analysis = list::wanted(&self.target.options, loaded)
                .and_then(|wanted| model::analyze_counts(loaded, &self.target.options, wanted, &functions));
            let analysis = match analysis {
                Ok(analysis) => analysis,
                Err(error) => return wait(self.target, self.display, &error),
            };
            let process = self.target.process(loaded.side_files().first(), before);
            let counted = Counted { counts: analysis.moment(), at, process };
            let names = |id| String::from_utf8_lossy(&analysis.name(id)).into_owned();
            let next = self.until_newer(program, &counted, earlier.as_ref(), &names)?;
            match next {
                Ok((read, stamps)) => (newer, before) = (Some(read), stamps),
                Err(next) => return Ok(next),
            }
            earlier = Some(counted);
        }
    }

    /// Shows counts until newer counts were read, which are returned, or until there is something else to do.
    fn until_newer(
        &mut self,
        program: &Loaded,
        counted: &Counted,
        earlier: Option<&Counted>,
        names: &Names<'_>,
    ) -> Result<Result<(Loaded, [Stamp; 2]), Next>, Error> {
        let since = earlier.filter(|earlier| earlier.process.start == counted.process.start).and_then(|earlier| {
            let seconds = counted.at.duration_since(earlier.at).as_secs_f64();
            counted.counts.since(&earlier.counts).map(|counts| (counts, seconds)).filter(|_| seconds > 0.0)
        });
        let mut status = self.status(counted, since.as_ref().map(|(counts, seconds)| counts.samples / seconds));
        let shown = self.target.profile_stamps();
        let mut is_new = true;
        loop {
            let period = since.as_ref().map(|(counts, seconds)| (counts, *seconds));
            let reading = Reading { status: &status, counts: &counted.counts, period, names, is_new };
            if self.display.show(&reading)? == Next::Quit {
                return Ok(Err(Next::Quit));
            }
            is_new = false;
            let before = self.target.profile_stamps();
            if status.state.is_over() && before == shown {
                continue;
            }
            // A program that was removed has no new build.
            if self.target.image_stamp().is_some_and(|now| Some(now) != self.image) {
                return Ok(Err(Next::Read));
            }
            let (read, warning) = warned(|progress| sources::load_again(program, &self.target.options, progress));
            self.warnings = warning;
            match read {
                Ok(Some(read)) => return Ok(Ok((read, before))),
                Ok(None) => return Ok(Err(Next::Read)),
                // The file may be on its way from one form to the next. The last counts stay until there are others.
                Err(error) => status.message = Some(format!("waiting: {error}")),
            }
        }
    }

    fn status(&self, counted: &Counted, per_second: Option<f64>) -> Status {
        let Process { pid, host, start, state } = &counted.process;
        Status {
            program: self.target.image().display().to_string(),
            pid: *pid,
            host: host.clone(),
            state: *state,
            start: *start,
            end: if *state == State::Running { Some(SystemTime::now()) } else { self.target.written() },
            samples: counted.counts.samples,
            per_second,
            message: self.warnings.clone(),
        }
    }
}
