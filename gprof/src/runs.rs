//! The profiles of all runs.

use std::io::Write;

use gmon::{Accumulator, Hints, Histogram, Profile};

use crate::error::Error;
use crate::image::Image;
use crate::input::Parts;
use crate::options::{Contents, Options, Source};
use crate::progress::Progress;
use crate::{doubts, input};

/// What is known of all profiles.
#[derive(Default)]
pub(crate) struct Runs {
    /// What they have room for.
    pub(crate) contents: Contents,
    /// What each consists of.
    pub(crate) parts: Vec<Parts>,
    /// One bin for each that has samples: what can be added up there can stand in one report.
    alike: Accumulator,
}

impl Runs {
    /// Reads the profiles of one image, and gives their sum.
    ///
    /// # Errors
    ///
    /// When one cannot be read or is no profile, or does not go with those before, of this image or another.
    pub(crate) fn read(
        &mut self,
        options: &Options,
        sources: &[Source],
        image: &Image<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Profile, Error> {
        let hints = Hints { form: options.form, word: Some(image.word), order: Some(image.order) };
        let mut sum = Accumulator::default();
        for (done, source) in sources.iter().enumerate() {
            progress.count("reading profiles", done, sources.len());
            let (profile, has, parts) = input::profile(source, &hints)?;
            self.parts.push(parts);
            self.contents.samples |= has.samples;
            self.contents.calls |= has.calls;
            if let Some(doubt) = doubts::doubts(&profile, &image.code) {
                // Where even a warning cannot be written, nobody is left to be told.
                let _ = writeln!(progress, "gprof: warning: {source}: {doubt}");
            }
            let fail = |error| Error::Profile { file: source.to_string(), source: error };
            // Histograms of different images need not have bins of one size, but their samples must be as long.
            let unit = |first: &Histogram| Histogram { lowpc: 0, highpc: 1, bins: vec![0], signed: false, ..*first };
            let histograms = profile.histograms.first().map(unit).into_iter().collect();
            sum.add(profile).map_err(fail)?;
            self.alike.add(Profile { histograms, ..Profile::default() }).map_err(fail)?;
        }
        Ok(sum.finish())
    }
}
