//! What the numbers of a report measure.

use gmon::{Dimension, Profile};

use super::flat;
use crate::cli::rules::Granularity;
use crate::image::UNIT;

/// What the numbers of a report measure.
#[derive(Debug)]
pub struct Clock {
    /// Samples for each unit of the dimension: each second, as a rule. 0 when the profile has no samples at all.
    pub rate: f64,
    /// What samples measure, normally seconds.
    pub dimension: Dimension,
    /// The dimension's abbreviation, normally `s`.
    pub abbrev: u8,
    /// Bytes of code that one bin stands for.
    pub granularity: f64,
}

impl Clock {
    /// The time that samples stand for.
    #[must_use]
    pub fn time(&self, samples: f64) -> f64 {
        samples / self.rate
    }

    /// The part of all samples that one is, in percent.
    #[must_use]
    pub fn percent_of_one(total: f64) -> f64 {
        100.0 / total
    }

    /// What a profile says.
    pub(crate) fn new(profile: &Profile, granularity: Granularity) -> Clock {
        let (first, last) = (profile.histograms.first(), profile.histograms.last());
        let scale = last.map_or(0.0, flat::bin_scale);
        Clock {
            rate: first.map_or(0.0, |histogram| f64::from(histogram.profrate)),
            dimension: first.map_or(Dimension::SECONDS, |histogram| histogram.dimension),
            abbrev: first.map_or(b's', |histogram| histogram.abbrev),
            granularity: match granularity {
                Granularity::Bytes => last.map_or(0.0, flat::bin_size),
                Granularity::Units => scale * UNIT as f64,
                Granularity::WholeUnits => (scale as u64).saturating_mul(UNIT) as f64,
            },
        }
    }
}
