//! The unit of the samples.

use gmon::{Dimension, Profile};

use super::flat;
use crate::program::image::UNIT;
use crate::question::rules::Granularity;

/// The unit of the samples.
#[derive(Debug)]
#[non_exhaustive]
pub struct Clock {
    /// The number of samples for each unit of the dimension, normally for each second; 0 if the profile has no samples.
    pub rate: f64,
    /// The dimension of the samples, normally seconds.
    pub dimension: Dimension,
    /// The abbreviation of the dimension, normally `s`.
    pub abbrev: u8,
    /// The number of bytes of code that one bin of a histogram covers.
    pub granularity: f64,
}

impl Clock {
    /// Returns the time that a number of samples stands for.
    #[must_use]
    pub fn time(&self, samples: f64) -> f64 {
        samples / self.rate
    }

    /// Returns whether samples stand for seconds.
    #[must_use]
    pub fn is_seconds(&self) -> bool {
        self.dimension == Dimension::SECONDS && self.rate > 0.0
    }

    /// Returns the seconds that a number of samples stands for, or else the samples.
    #[must_use]
    pub fn seconds_or_samples(&self, samples: u64) -> f64 {
        if self.is_seconds() { self.time(samples as f64) } else { samples as f64 }
    }

    /// Returns the percentage of `total` that one sample is.
    #[must_use]
    pub fn percent_of_one(total: f64) -> f64 {
        100.0 / total
    }

    /// Reads the unit from a profile.
    pub(crate) fn new(profile: &Profile, granularity: Granularity) -> Clock {
        let (first, last) = (profile.histograms().first(), profile.histograms().last());
        let scale = last.map_or(0.0, flat::bin_scale);
        Clock {
            rate: first.map_or(0.0, |histogram| f64::from(histogram.unit().profrate)),
            dimension: first.map_or(Dimension::SECONDS, |histogram| histogram.unit().dimension),
            abbrev: first.map_or(b's', |histogram| histogram.unit().abbrev),
            granularity: match granularity {
                Granularity::Bytes => last.map_or(0.0, flat::bin_size),
                Granularity::Units => scale * UNIT as f64,
                Granularity::WholeUnits => (scale as u64).saturating_mul(UNIT) as f64,
            },
        }
    }
}
