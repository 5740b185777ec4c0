//! Calls that were counted on demand, in a program and in shared objects, and in sums.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gmon::side_file::{Place, Selection, property};
use gmon_tests::directory;
use gmon_tests::random::Random;
use serde_json::Value;

use super::made::{BIN, Image, RATE, Run, beside, images, printed};

/// Writes a run of ten seconds, of which calls were counted for three seconds: those of functions at addresses of which
/// `is_selected` says so. Returns a run that has the samples of these seconds and no others.
fn write(images: &[Image], path: &Path, run: &Run, is_selected: impl Fn(u64) -> bool) -> Run {
    let profile = run.write_profile(images, path);
    let mut side = run.side_file(images, &profile);
    side.add_property(property::ELAPSED, b"10000000000").unwrap();
    let functions = images.iter().enumerate().flat_map(|(image, of)| of.functions.iter().map(move |at| (image, *at)));
    let functions = functions.filter(|(_, address)| is_selected(*address));
    let places = functions.map(|(image, address)| Place { object: image as u32, address }).collect();
    let intervals = std::iter::once(2_000_000_000..5_000_000_000).collect();
    side.add_selection(Selection::new(b"", places, intervals)).unwrap();
    let mut counted = Run::default();
    for (image, bins) in &run.ticks {
        for (bin, ticks) in bins.iter().filter(|(_, ticks)| **ticks > 1) {
            side.add_counted_samples(None, *image as u32, BIN, *bin, ticks / 2).unwrap();
            *counted.ticks.entry(*image).or_default().entry(*bin).or_default() += ticks / 2;
        }
    }
    fs::write(beside(path, "side"), side.write()).unwrap();
    counted
}

/// A number for each function, by the index of the image and the address.
type Numbers = BTreeMap<(usize, u64), f64>;

/// What `number` says of each row of the flat profile.
fn rows(images: &[Image], directory: &Path, profiles: &[&str], number: impl Fn(&Value, f64) -> Option<f64>) -> Numbers {
    let output = printed(images, directory, &[&["-b", "-p", "--format=json"], profiles].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let factor = json["time"]["per_call_factor"].as_f64().unwrap();
    let function = |function: &Value| {
        let path = json["images"][function["image"].as_u64().unwrap() as usize]["path"].as_str().unwrap();
        let image = images.iter().position(|image| image.path == Path::new(path)).unwrap();
        let address = function["address"].as_str().unwrap().strip_prefix("0x").unwrap();
        (function["id"].as_u64().unwrap(), (image, u64::from_str_radix(address, 16).unwrap()))
    };
    let functions: BTreeMap<u64, _> = json["functions"].as_array().unwrap().iter().map(function).collect();
    let rows = json["flat_profile"].as_array().unwrap().iter();
    rows.filter_map(|row| Some((functions[&row["function"].as_u64().unwrap()], number(row, factor)?))).collect()
}

/// The samples of all calls of each function that has a time of one call.
fn times_of_calls(images: &[Image], directory: &Path, profiles: &[&str]) -> Numbers {
    rows(images, directory, profiles, |row, factor| {
        assert!(row["total_per_call"].is_null(), "{row}");
        Some(row["self_per_call"].as_f64()? / factor * f64::from(RATE) * row["calls"].as_f64()?)
    })
}

/// Compares the samples of calls with those that reports of runs have, which have only the samples of the time in which
/// calls were counted. Returns the number of functions.
fn compare(images: &[Image], directory: &Path, found: &Numbers, counted: &[Run]) -> usize {
    let names: Vec<String> = (0..counted.len()).map(|at| format!("counted {at}")).collect();
    for (run, name) in counted.iter().zip(&names) {
        run.write_side(images, &directory.join(name));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let expected = rows(images, directory, &names, |row, _| Some(row["self"].as_f64()? * f64::from(RATE)));
    for (place, samples) in found {
        let expected = expected.get(place).copied().unwrap_or(0.0);
        assert!((samples - expected).abs() < 1e-6, "{place:?}: {samples}, not {expected}");
    }
    found.len()
}

/// Fails if samples or selections of an object are those of another object, or if a sum loses them.
#[test]
fn times_of_calls_in_shared_objects_and_in_sums() {
    let images = images("on_demand");
    let directory = directory("side_files_on_demand");
    let mut random = Random::new(8);
    let counted = ["one", "two"].map(|name| {
        let run = Run::random(&images, &mut random);
        write(&images, &directory.join(name), &run, |_| true)
    });
    let found = times_of_calls(&images, &directory, &["one", "two"]);
    let number = compare(&images, &directory, &found, &counted);
    let objects: Vec<usize> = (0..3).filter(|image| found.keys().any(|(found, _)| found == image)).collect();
    assert!(number > 5 && objects == [0, 1, 2], "{found:?}");
    assert!(printed(&images, &directory, &["-s", "one", "two"]).stderr.is_empty());
    assert_eq!(times_of_calls(&images, &directory, &["gmon.sum"]), found);
    // A profile without a side file is of a run that counted all calls, also in a sum.
    Run::random(&images, &mut random).write_profile(&images, &directory.join("alone"));
    assert_eq!(times_of_calls(&images, &directory, &["one", "two", "alone"]), BTreeMap::new());
    printed(&images, &directory, &["-s", "one", "two", "alone"]);
    assert_eq!(times_of_calls(&images, &directory, &["gmon.sum"]), BTreeMap::new());
}

/// Fails if a function has a time of one call that one of two runs did not select.
#[test]
fn a_function_must_be_selected_in_all_runs() {
    let images = images("on_demand_some");
    let directory = directory("side_files_on_demand_some");
    let mut random = Random::new(9);
    let is_low = |address: u64| address % 64 < 32;
    let counted = [("all", true), ("some", false)].map(|(name, all)| {
        let run = Run::random(&images, &mut random);
        write(&images, &directory.join(name), &run, |address| all || is_low(address))
    });
    let found = times_of_calls(&images, &directory, &["all", "some"]);
    assert!(
        compare(&images, &directory, &found, &counted) > 2 && found.keys().all(|(_, address)| is_low(*address)),
        "{found:?}"
    );
    let alone = times_of_calls(&images, &directory, &["all"]);
    assert!(alone.keys().any(|(_, address)| !is_low(*address)), "{alone:?}");
}
