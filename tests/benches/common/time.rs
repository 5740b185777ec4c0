//! CPU time of programs that have ended, and the middle of figures.

/// The CPU time of all children that have ended.
pub(crate) fn children_seconds() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure, which is valid with zeros too.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The value in the middle, or the mean of the two there.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let half = figures.len() / 2;
    if figures.len().is_multiple_of(2) { f64::midpoint(figures[half - 1], figures[half]) } else { figures[half] }
}
