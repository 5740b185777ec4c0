//! Samples outside of all functions, and outside of all images.

use std::fs;
use std::io::sink;
use std::path::{Path, PathBuf};

use gmon::side_file::Checksum;
use gprof::{Analysis, Options, SamplePlace};

use crate::knots::DATA;

/// A copy of the profile of `knots` beside a list with samples outside of all images.
fn profile(name: &str, [kernel, vdso, elsewhere]: [u64; 3]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outside-{name}"));
    fs::create_dir_all(&directory).unwrap();
    let profile = fs::read(format!("{DATA}bsd/knots.gmon")).unwrap();
    let Checksum { length, sum } = Checksum::of(&profile);
    let samples = format!("samples kernel {kernel}\nsamples vdso {vdso}\nsamples elsewhere {elsewhere}\n");
    let list = format!("gmon objects 1\nprofile {length} {sum:x}\n{samples}end\n");
    fs::write(directory.join("gmon.out"), profile).unwrap();
    fs::write(directory.join("gmon.out.objects"), list).unwrap();
    directory.join("gmon.out")
}

fn with_analysis(options: &Options, check: impl FnOnce(&Analysis<'_>)) {
    let loaded = gprof::load(options, &mut sink()).unwrap();
    check(&gprof::analyze(&loaded, options, &mut sink()).unwrap());
}

#[test]
fn exports_have_the_samples_outside_of_all_images() {
    let options = Options::new(format!("{DATA}bsd/knots"), [profile("exports", [30, 20, 4])]);
    with_analysis(&options, |analysis| {
        let stats = analysis.stats();
        let images = stats.outside_images;
        assert_eq!((images.kernel, images.vdso, images.elsewhere), (30, 20, 4), "{stats:?}");
        let trees = analysis.sample_trees();
        let samples = |wanted: SamplePlace<'_>| {
            let tree = &trees.trees[0];
            let is_it = |place: usize| trees.places[tree.places[place]] == wanted;
            tree.nodes.iter().filter(|node| is_it(node.place)).map(|node| node.own).sum::<u64>()
        };
        assert_eq!((stats.outside, samples(SamplePlace::Kernel), samples(SamplePlace::Outside)), (0.0, 30, 24));
        assert_eq!(trees.total, 201 + 54);
        // No frame and no place is without samples.
        assert!(trees.trees[0].nodes.iter().all(|node| node.own > 0));
        let of_functions = trees.places.iter().filter(|place| matches!(place, SamplePlace::Function(_)));
        assert_eq!(of_functions.count(), analysis.flat_rows().filter(|row| row.self_time > 0.0).count());
        assert!(!trees.places.contains(&SamplePlace::LeftOut));
    });
}

#[test]
fn differences_have_rows_of_the_samples_outside_of_all_images() {
    let sides = [profile("base", [30, 20, 4]), profile("new", [40, 21, 7])];
    let options = sides.map(|profile| Options::new(format!("{DATA}bsd/knots"), [profile]).compared().unused(true));
    let loaded = [0, 1].map(|side: usize| gprof::load(&options[side], &mut sink()).unwrap());
    let [base, new] = [0, 1].map(|side: usize| gprof::analyze(&loaded[side], &options[side], &mut sink()).unwrap());
    let difference = gprof::difference(&base, &new).unwrap();
    let own = |name: &str| {
        let row = difference.rows.iter().find(|row| difference.row_name(row) == name.as_bytes()).unwrap();
        [row.own.old, row.own.new].map(|time| (time * 100.0).round())
    };
    assert_eq!((own("<kernel>"), own("<outside>")), ([30.0, 40.0], [24.0, 28.0]));
    let total = [difference.total.old, difference.total.new].map(|time| (time * 100.0).round());
    assert_eq!(total, [255.0, 269.0]);
}
