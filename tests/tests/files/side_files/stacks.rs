//! The stacks of side files, in the address space of the reports.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use gmon::side_file::{self, CUT, CutReason, ELSEWHERE, KERNEL, SideFile};
use gmon_tests::directory;
use gmon_tests::random::Random;
use gprof::{Loaded, Options, Place, Stacks};

use super::made::{Image, Run, beside, images};

/// Adds stacks of random places, and returns the number of their ticks. Ticks in cuts have no place.
fn add_stacks(side: &mut SideFile, images: &[Image], random: &mut Random) -> (u64, u64) {
    let mut nodes: Vec<Option<usize>> = vec![None];
    let mut sum = 0;
    for _ in 0..50 {
        let (image, address) = (random.below(4) as usize, random.below(1 << 40));
        let others = [(KERNEL, 0), (ELSEWHERE, address), (CUT, u64::from(CutReason::NO_TABLE.code()))];
        let (object, address) = match images.get(image) {
            Some(known) => (image as u32, *random.pick(&known.functions)),
            None => *random.pick(&others),
        };
        let place = side_file::Place { object, address };
        let ticks = if place.object == CUT { 0 } else { random.below(9) };
        let parent = *random.pick(&nodes);
        nodes.push(Some(side.add_context(parent, place, ticks).unwrap()));
        sum += ticks;
    }
    side.add_cut(CutReason::NO_STACK, 3).unwrap();
    (sum, 3)
}

fn load(images: &[Image], profiles: &[&Path], objects: bool) -> (Loaded, Options) {
    let options = Options::new(&images[0].path, profiles.iter().copied()).shared_objects(objects);
    let mut warnings = Vec::new();
    let loaded = gprof::load(&options, &mut warnings).unwrap();
    assert_eq!(String::from_utf8(warnings).unwrap(), "");
    (loaded, options)
}

/// The sum of ticks by place: the image's path and the address that the linker gave.
fn by_place(stacks: &Stacks, loaded: &Loaded, options: &Options) -> BTreeMap<String, u64> {
    let analysis = gprof::analyze(loaded, options, &mut Vec::new()).unwrap();
    let mut sums = BTreeMap::new();
    for node in stacks.nodes() {
        let name = match node.place() {
            Place::Code(address) => {
                let images = analysis.images().iter();
                let of = |image: &&gprof::Mapping| image.code.contains(&address.wrapping_sub(image.shift));
                let image = images.clone().find(of).unwrap_or_else(|| panic!("{address:#x}"));
                name(&image.path, address.wrapping_sub(image.shift))
            }
            other => format!("{other:?}"),
        };
        *sums.entry(name).or_default() += node.ticks();
    }
    sums.retain(|_, ticks| *ticks > 0);
    sums
}

fn name(path: &Path, address: u64) -> String {
    format!("{} {address:#x}", path.display())
}

/// The same sums by what the side files say.
fn expected(images: &[Image], sides: &[&SideFile], with_objects: bool) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for node in sides.iter().flat_map(|side| side.contexts().nodes()) {
        let side_file::Place { object, address } = node.place();
        let name = match images.get(object as usize) {
            Some(image) if object == 0 || with_objects => name(&image.path, address),
            _ if object == KERNEL => "Kernel".to_owned(),
            // All code without a name is one function.
            _ if object == ELSEWHERE && address != 0 && with_objects => name(Path::new("[jit]"), 8),
            _ => "Elsewhere".to_owned(),
        };
        *sums.entry(name).or_default() += node.ticks();
    }
    sums.retain(|_, ticks| *ticks > 0);
    sums
}

#[test]
fn one_tree_of_all_runs() {
    let images = images("stacks");
    let directory = directory("side_files_stacks");
    let mut random = Random::new(11);
    let paths: Vec<_> = ["one", "two", "three"].map(|name| directory.join(name)).into();
    let mut sides = Vec::new();
    let mut sums = (0, 0, 0);
    for path in &paths {
        let run = Run::random(&images, &mut random);
        let profile = run.write_profile(&images, path);
        let mut side = run.side_file(&images, &profile);
        if path.ends_with("three") {
            sums.2 = run.total();
        } else {
            let (ticks, cut) = add_stacks(&mut side, &images, &mut random);
            sums = (sums.0 + ticks, sums.1 + cut, 0);
        }
        fs::write(beside(path, "side"), side.write()).unwrap();
        sides.push((side, run));
    }
    let files: Vec<&SideFile> = sides.iter().map(|(side, _)| side).collect();
    for with_objects in [true, false] {
        let paths: Vec<_> = paths.iter().map(PathBuf::as_path).collect();
        let (loaded, options) = load(&images, &paths, with_objects);
        let stacks = loaded.stacks().unwrap();
        assert_eq!(by_place(stacks, &loaded, &options), expected(&images, &files, with_objects));
        assert_eq!(stacks.nodes().iter().map(gprof::StackNode::ticks).sum::<u64>(), sums.0);
        assert_eq!(stacks.cuts(), &[(CutReason::NO_STACK, sums.1)].into());
        let mut known = HashSet::new();
        assert!(stacks.nodes().iter().all(|node| known.insert((node.parent(), node.place()))), "nodes are different");
        let covered: u64 = sides.iter().take(2).map(|(_, run)| run.total()).sum();
        // The stacks of these runs lack ticks.
        assert_eq!((stacks.covered().count, stacks.covered().ticks), (2, sums.0 + sums.1));
        assert_eq!((stacks.partial().count, stacks.partial().ticks), (2, covered - sums.0 - sums.1));
        assert_eq!((stacks.uncovered().count, stacks.uncovered().ticks), (1, sums.2));
        let (loaded, _) = load(&images, &[paths[2]], with_objects);
        assert_eq!(loaded.stacks(), None);
    }
}
