//! Spells lengths of time.

use std::time::Duration;

/// Spells the time that a program ran: `7.3 s`, `2:05`, or `26:02:05`.
pub(super) fn run_time(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{}.{} s", rest, time.subsec_millis() / 100),
        (0, _) => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let spelled = |seconds: f64| run_time(Duration::from_secs_f64(seconds));
        assert_eq!([0.0, 59.96, 60.0, 3599.0].map(spelled), ["0.0 s", "59.9 s", "1:00", "59:59"]);
        assert_eq!([3600.0, 93_725.0].map(spelled), ["1:00:00", "26:02:05"]);
    }
}
