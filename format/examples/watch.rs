//! Watches the profile that a program with GMON_LIVE=1 writes while the program runs: watch FILE [TIMES]

use std::{env, error::Error, fs, thread, time::Duration};

use gmon::{Histogram, Profile};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let Some(name) = words.next() else { return Ok(()) };
    let times = words.next().map_or(Ok(usize::MAX), |word| word.parse())?;
    for _ in 0..times {
        // The program writes counts into the file in place: every moment's file is a profile.
        let profile = Profile::parse(&fs::read(&name)?)?;
        let samples: i128 = profile.histograms().iter().map(Histogram::total).sum();
        let calls: u64 = profile.arcs().iter().map(|arc| arc.count).sum();
        println!("{samples:12} samples {calls:12} calls");
        thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}
