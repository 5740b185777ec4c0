//! The difference as JSON. docs/json.md has the schema.

use std::io::{self, Write};

use super::super::json::write_warnings;
use super::fields::{change, fields};
use crate::model::{Analysis, Difference};
use crate::program::image::address_space::Mapping;
use crate::reports::{on_demand, warnings};
use crate::sink::json::{Record, write_list, write_record};

/// The version of the schema, which grows when a program for the old schema would misread the new schema.
const VERSION: u64 = 1;

pub(crate) fn render(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"difference_version\":{VERSION},")?;
    write_warnings(&warnings::of_difference(difference), out)?;
    out.write_all(b"\"time\":")?;
    write_record(&time(difference), out)?;
    for (name, side) in
        [("base_calls_on_demand", difference.base_analysis()), ("calls_on_demand", difference.new_analysis())]
    {
        if let Some(calls) = side.calls_on_demand() {
            write!(out, ",\n\"{name}\":")?;
            write_record(&on_demand::record(calls), out)?;
        }
    }
    write!(out, ",\n\"total\":")?;
    write_record(&change(["base", "now", "change", "percent"], &difference.total).into(), out)?;
    write_list("base_images", difference.base_analysis().images().iter().map(image), out)?;
    write_list("images", difference.new_analysis().images().iter().map(image), out)?;
    write_list("functions", difference.rows.iter().map(|row| fields(difference, row)), out)?;
    writeln!(out, ",\n\"functions_left_out\":{}}}", difference.left_out)
}

fn time<'a>(difference: &'a Difference<'_, '_>) -> Record<'a> {
    let [base, new] = [difference.base_analysis(), difference.new_analysis()].map(Analysis::clock);
    vec![
        ("unit", new.dimension.as_bytes().into()),
        ("samples_per_unit", new.rate.into()),
        ("base_samples_per_unit", base.rate.into()),
        ("base_factor", difference.factor.into()),
        ("inclusive_is_measured", difference.is_measured.into()),
        ("noise_errors", difference.noise_errors.into()),
    ]
}

fn image(image: &Mapping) -> Record<'_> {
    vec![
        ("path", image.path.as_os_str().as_encoded_bytes().into()),
        ("build_id", image.build_id.as_deref().map(str::as_bytes).into()),
    ]
}
