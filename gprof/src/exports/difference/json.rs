//! The difference as JSON. docs/json.md has the schema.

use std::io::{self, Write};

use super::super::json::write_warnings;
use super::fields::{change, fields, judged};
use crate::model::statistics::POWER;
use crate::model::{Analysis, ArcChange, Cause, Difference, Evidence, Finding, Runs};
use crate::program::image::address_space::Mapping;
use crate::reports::{on_demand, warnings};
use crate::sink::json::{Record, write_list, write_record};

/// The version of the schema, which grows when a program for the old schema would misread the new schema.
const VERSION: u64 = 2;

pub(crate) fn render(difference: &Difference<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"difference_version\":{VERSION},")?;
    write_warnings(&warnings::of_difference(difference), out)?;
    out.write_all(b"\"time\":")?;
    write_record(&time(difference), out)?;
    let [base, new] = [difference.base_analysis(), difference.new_analysis()];
    for (names, side) in
        [(["base_calls_on_demand", "base_calls_estimated"], base), (["calls_on_demand", "calls_estimated"], new)]
    {
        let records =
            [side.calls_on_demand().map(on_demand::record), side.call_windows().map(on_demand::record_of_windows)];
        for (name, record) in names.into_iter().zip(records) {
            if let Some(record) = record {
                write!(out, ",\n\"{name}\":")?;
                write_record(&record, out)?;
            }
        }
    }
    write!(out, ",\n\"total\":")?;
    let mut total: Record<'_> = change(["base", "now", "change", "percent"], &difference.total).into();
    let names = ["low", "high", "p", "corrected_p", "visible", "is_log", "changed"];
    total.extend(judged(Some(&difference.runs.total), names));
    write_record(&total, out)?;
    write!(out, ",\n\"runs\":")?;
    write_record(&runs(&difference.runs), out)?;
    write_list("changed_calls", difference.runs.calls.iter().map(|call| changed_calls(difference, call)), out)?;
    write_list("findings", difference.runs.findings.iter().map(|found| finding(difference, found)), out)?;
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

fn runs<'a>(runs: &Runs) -> Record<'a> {
    let evidence: &[u8] = match runs.evidence {
        Evidence::Runs => b"runs",
        Evidence::Pairs => b"pairs",
        _ => b"sampling",
    };
    vec![
        ("base", runs.counts[0].into()),
        ("now", runs.counts[1].into()),
        ("evidence", evidence.into()),
        ("level", runs.evidence.level().into()),
        ("tests", runs.tests.into()),
        ("corrected_level", runs.level.into()),
        ("power", POWER.into()),
    ]
}

fn changed_calls<'a>(difference: &'a Difference<'_, '_>, arc: &ArcChange) -> Record<'a> {
    let [caller, called] = difference.arc_names(arc);
    vec![
        ("caller", caller.into()),
        ("called", called.into()),
        ("calls_base", arc.calls.base.into()),
        ("calls", arc.calls.new.into()),
        ("percent", arc.calls.percent().into()),
        ("is_exact", arc.calls.is_exact.into()),
    ]
}

fn finding<'a>(difference: &'a Difference<'_, '_>, found: &Finding) -> Record<'a> {
    let cause: Option<&[u8]> = match found.cause {
        Cause::EachCall => Some(b"each_call"),
        Cause::Calls => Some(b"calls"),
        Cause::Both => Some(b"both"),
        _ => None,
    };
    let path = difference.path_names(found).into_iter().map(|name| vec![("name", name.into())]);
    vec![
        ("name", difference.row_name(&found.row).into_owned().into()),
        ("cause", cause.into()),
        ("origin", found.origin.map(|arc| vec![changed_calls(difference, &arc)]).unwrap_or_default().into()),
        ("path", path.collect::<Vec<Record<'a>>>().into()),
    ]
}

fn image(image: &Mapping) -> Record<'_> {
    vec![
        ("path", image.path.as_os_str().as_encoded_bytes().into()),
        ("build_id", image.build_id.as_deref().map(str::as_bytes).into()),
    ]
}
