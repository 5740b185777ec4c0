//! In which order programs run, and when there are enough runs.

use std::time::Duration;

use crate::error::Error;

/// The runs of a program after which no more follow, whatever growth is visible.
const MOST_RUNS: usize = 1000;

/// How many times the median a run takes that is named.
const FAR_OUT: f64 = 2.0;

/// The runs of a program from which on a median says something.
const FEWEST: usize = 3;

/// What a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The program of `--against`.
    Base,
    /// The program of the command line.
    New,
}

/// When there are enough runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// The least number of runs of each program.
    pub(super) runs: usize,
    /// Whether there is a base.
    pub(super) has_base: bool,
    /// The growth of the total that must be visible, as a percentage.
    pub(super) until: Option<f64>,
    /// The time after which no run begins.
    pub(super) longest: Option<Duration>,
}

/// Why no more runs follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// There are as many as wanted, and the growth is visible that must be.
    Enough,
    /// The time is over.
    Time,
    /// There are [`MOST_RUNS`].
    Most,
}

/// What the runs cost and show.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    /// For each side, how long each run took.
    pub(super) times: [Vec<Duration>; 2],
    /// The growth of the total that the runs show, as a percentage, if they show any.
    pub(super) visible: Option<f64>,
    pub(super) end: End,
}

/// What happens outside of the plan.
pub(super) trait Steps {
    /// Runs a program and keeps its profile. Returns how long the run took. The first run of each program has the
    /// number 1.
    ///
    /// # Errors
    ///
    /// When the program fails, or leaves no profile.
    fn run(&mut self, side: Side, number: usize) -> Result<Duration, Error>;

    /// Returns the growth of the total that this number of runs of each program shows, as a percentage, if they show
    /// any.
    ///
    /// # Errors
    ///
    /// When a profile cannot be read.
    fn visible(&mut self, runs: usize) -> Result<Option<f64>, Error>;

    /// Returns the time since the first run began.
    fn elapsed(&mut self) -> Duration;

    /// Tells how far the runs are.
    fn tell(&mut self, done: usize, visible: Option<f64>);
}

/// Runs the programs in turns until there are enough runs.
///
/// # Errors
///
/// The errors of the steps.
pub(super) fn take(plan: &Plan, steps: &mut dyn Steps) -> Result<Taken, Error> {
    let mut times = [Vec::new(), Vec::new()];
    let mut number = 0;
    loop {
        number += 1;
        for side in plan.turn(number) {
            times[*side as usize].push(steps.run(*side, number)?);
        }
        // One run of each program has no spread.
        let visible = if number > 1 { steps.visible(number)? } else { None };
        steps.tell(number, visible);
        if let Some(end) = plan.end(number, visible, steps.elapsed()) {
            return Ok(Taken { times, visible, end });
        }
    }
}

impl Plan {
    /// The runs of a turn. The program that is first changes from turn to turn, so that a slow drift of the machine is
    /// on neither side.
    fn turn(&self, number: usize) -> &'static [Side] {
        match (self.has_base, number % 2) {
            (false, _) => &[Side::New],
            (true, 1) => &[Side::Base, Side::New],
            (true, _) => &[Side::New, Side::Base],
        }
    }

    /// Whether these runs are enough.
    fn end(&self, number: usize, visible: Option<f64>, elapsed: Duration) -> Option<End> {
        let is_visible = self.until.is_none_or(|limit| visible.is_some_and(|visible| visible <= limit));
        match (number >= self.runs && is_visible, self.longest.is_some_and(|longest| elapsed >= longest)) {
            (true, _) => Some(End::Enough),
            (false, true) => Some(End::Time),
            (false, false) => (number >= MOST_RUNS.max(self.runs)).then_some(End::Most),
        }
    }

    /// Returns how far the runs are, in words.
    pub(super) fn progress(&self, done: usize, visible: Option<f64>) -> String {
        let count = if done > self.runs { format!("{done} runs") } else { format!("{done} of {} runs", self.runs) };
        let each = if self.has_base { " of each program" } else { "" };
        let shows = match (done, visible) {
            (0 | 1, _) => String::new(),
            (_, Some(percent)) => format!(": they show a growth from {percent:.1} % on"),
            (_, None) => ": they show no growth yet".to_owned(),
        };
        format!("{count}{each}{shows}")
    }

    /// Returns why the runs are not all that the user wanted, if they are not.
    pub(super) fn shortage(&self, taken: &Taken) -> Option<String> {
        let done = taken.times[1].len();
        let why = match taken.end {
            End::Enough => return None,
            End::Time => format!("--max-time is over after {}", self.progress(done, taken.visible)),
            End::Most => format!("no more runs after {}", self.progress(done, taken.visible)),
        };
        let is_hidden = |limit: &f64| taken.visible.is_none_or(|visible| visible > *limit);
        let missed = self.until.filter(is_hidden).map(|limit| format!(" (--until={limit}%)"));
        Some(format!("{why}{}", missed.unwrap_or_default()))
    }
}

/// Returns the runs that took twice as long as the median: their indices, and how many times the median they took.
pub(super) fn outliers(times: &[Duration]) -> Vec<(usize, f64)> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    let median = match sorted.len() {
        count if count < FEWEST => return Vec::new(),
        count if count % 2 == 0 => (sorted[middle - 1] + sorted[middle]) / 2,
        _ => sorted[middle],
    };
    let factor = |time: &Duration| time.as_secs_f64() / median.as_secs_f64().max(f64::MIN_POSITIVE);
    times.iter().map(factor).enumerate().filter(|(_, factor)| *factor >= FAR_OUT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps whose runs take the time that the number of the run says, and that show this growth after each turn.
    struct Fake {
        shown: Vec<Option<f64>>,
        fails_at: Option<usize>,
        seen: String,
        clock: Duration,
    }

    impl Fake {
        fn new(shown: &[Option<f64>]) -> Fake {
            Fake { shown: shown.to_vec(), fails_at: None, seen: String::new(), clock: Duration::ZERO }
        }
    }

    impl Steps for Fake {
        fn run(&mut self, side: Side, number: usize) -> Result<Duration, Error> {
            self.seen.push_str(if side == Side::Base { "b" } else { "n" });
            self.seen.push_str(&number.to_string());
            self.clock += Duration::from_secs(1);
            if self.fails_at == Some(number) { Err(Error::NoSamples) } else { Ok(Duration::from_secs(number as u64)) }
        }

        fn visible(&mut self, runs: usize) -> Result<Option<f64>, Error> {
            Ok(self.shown.get(runs - 1).copied().flatten())
        }

        fn elapsed(&mut self) -> Duration {
            self.clock
        }

        fn tell(&mut self, done: usize, visible: Option<f64>) {
            self.seen.push_str(&format!("[{done} {visible:?}]"));
        }
    }

    const PLAN: Plan = Plan { runs: 3, has_base: true, until: None, longest: None };

    /// Catches an order in which one program is always first, numbers that do not begin at 1, and a turn too many or
    /// too few.
    #[test]
    fn programs_take_turns() {
        let mut fake = Fake::new(&[Some(9.0), Some(4.0), None]);
        let taken = take(&PLAN, &mut fake).unwrap();
        assert_eq!(fake.seen, "b1n1[1 None]n2b2[2 Some(4.0)]b3n3[3 None]");
        let seconds = [1, 2, 3].map(Duration::from_secs).to_vec();
        assert_eq!(taken, Taken { times: [seconds.clone(), seconds], visible: None, end: End::Enough });
        let alone = Plan { has_base: false, runs: 1, ..PLAN };
        let mut fake = Fake::new(&[]);
        assert_eq!(take(&alone, &mut fake).unwrap().times, [vec![], vec![Duration::from_secs(1)]]);
        assert_eq!(fake.seen, "n1[1 None]");
    }

    /// Catches an end before the least number of runs, an end at a growth that is larger than the limit, and runs
    /// without end.
    #[test]
    fn runs_go_on_until_the_growth_is_visible() {
        let plan = Plan { until: Some(3.0), ..PLAN };
        let end = |plan: &Plan, shown: &[Option<f64>]| {
            let taken = take(plan, &mut Fake::new(shown)).unwrap();
            (taken.times[1].len(), taken.end)
        };
        let some = |shown: &[f64]| shown.iter().map(|shown| Some(*shown)).collect::<Vec<_>>();
        assert_eq!(end(&plan, &some(&[0.0, 1.0, 2.0, 2.0])), (3, End::Enough));
        assert_eq!(end(&plan, &some(&[9.0, 9.0, 3.1, 3.0])), (4, End::Enough));
        assert_eq!(end(&plan, &[]), (MOST_RUNS, End::Most), "no growth is ever visible");
        // A turn takes two seconds.
        let short = Plan { longest: Some(Duration::from_secs(7)), ..plan };
        assert_eq!(end(&short, &some(&[9.0; 9])), (4, End::Time));
        assert_eq!(end(&short, &some(&[9.0, 9.0, 9.0, 3.0])), (4, End::Enough));
        let short = Plan { longest: Some(Duration::from_secs(1)), until: None, ..plan };
        assert_eq!(end(&short, &[]), (1, End::Time), "before the least number of runs");
    }

    /// Catches a failure after which the runs go on.
    #[test]
    fn a_failure_ends_the_runs() {
        let mut fake = Fake::new(&[]);
        fake.fails_at = Some(2);
        assert!(matches!(take(&PLAN, &mut fake), Err(Error::NoSamples)));
        assert_eq!(fake.seen, "b1n1[1 None]n2");
    }

    /// Catches a text that counts runs wrongly, or is silent about a limit that was missed.
    #[test]
    fn texts_say_how_far_the_runs_are() {
        assert_eq!(PLAN.progress(1, None), "1 of 3 runs of each program");
        assert_eq!(PLAN.progress(2, None), "2 of 3 runs of each program: they show no growth yet");
        let alone = Plan { has_base: false, until: Some(2.5), ..PLAN };
        assert_eq!(alone.progress(4, Some(3.21)), "4 runs: they show a growth from 3.2 % on");
        let taken = |end, visible| Taken { times: [Vec::new(), vec![Duration::ZERO; 4]], visible, end };
        assert_eq!(alone.shortage(&taken(End::Enough, Some(2.0))), None);
        let late = alone.shortage(&taken(End::Time, Some(3.0))).unwrap();
        assert_eq!(late, "--max-time is over after 4 runs: they show a growth from 3.0 % on (--until=2.5%)");
        let most = PLAN.shortage(&taken(End::Most, None)).unwrap();
        assert_eq!(most, "no more runs after 4 runs of each program: they show no growth yet");
    }

    /// Catches a mean in place of the median, a limit that a run of twice the median does not reach, and a median of
    /// two runs.
    #[test]
    fn a_run_twice_as_slow_as_the_median_is_named() {
        let of = |seconds: &[u64]| outliers(&seconds.iter().map(|time| Duration::from_secs(*time)).collect::<Vec<_>>());
        assert_eq!(of(&[10, 11, 10, 100]), [(3, 100.0 / 10.5)]);
        assert_eq!(of(&[10, 20, 10, 10, 19]), [(1, 2.0)]);
        assert_eq!(of(&[10, 100]), []);
        assert_eq!(of(&[]), []);
    }
}
