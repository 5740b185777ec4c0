//! Prints the ten bins of a profile with the most samples.

use std::{env, error::Error, fs};

use gmon::{Hints, Profile};

fn main() -> Result<(), Box<dyn Error>> {
    let name = env::args().nth(1).unwrap_or("gmon.out".into());
    match fs::read(&name) {
        Ok(bytes) => print_hottest(&gmon::read(&bytes, &Hints::default())?),
        Err(error) => println!("{name}: {error}"),
    }
    Ok(())
}

fn print_hottest(profile: &Profile) {
    let mut hits = Vec::new();
    for histogram in profile.histograms() {
        hits.extend(histogram.hit().map(|(bin, count)| (count, histogram.bin_range(bin))));
    }
    hits.sort_by_key(|(count, _)| -count);
    for (count, range) in hits.iter().take(10) {
        println!("{count:8} {:#x}..{:#x}", range.start, range.end);
    }
}
