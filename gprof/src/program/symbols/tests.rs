//! Tests that read programs of the project, which are not in the package.
#![cfg(feature = "internals")]

use std::path::PathBuf;

use super::functions::joined::ImageFunctions;
use super::functions::{FunctionId, Functions};
use super::inlines::InlinedCode;
use super::sources::{FileNames, Sources};
use crate::program::image::address_space::Images;
use crate::program::image::{Image, ImageStorage, Policy};

/// The function with a name.
fn named<'data>(image: &Image<'data>, name: &[u8]) -> Functions<'data> {
    let symbols = image.symbols.iter().filter(|symbol| symbol.name == name);
    Functions::new(symbols.copied().collect(), image.code.end)
}

/// Two programs with debug information as the images of one program, and a function of each.
fn with_two_images<T>(check: impl FnOnce(&Images<'_>, &Functions<'_>, [FunctionId; 2]) -> T) -> T {
    let paths = ["inlined", "cycles"]
        .map(|name| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/gnu")).join(name));
    let bytes = paths.each_ref().map(|path| std::fs::read(path).unwrap());
    let storage = [ImageStorage::default(), ImageStorage::default()];
    let image = |at: usize| Image::parse(&bytes[at], Policy::Full, &storage[at]).unwrap();
    let images = paths.into_iter().zip([image(0), image(1)]).collect();
    let images = Images::new(images, &[gmon::Profile::new(), gmon::Profile::new()]).unwrap();
    let parts =
        images.iter().zip([&b"outer"[..], b"burn"]).zip(images.moves()).map(|((image, name), (shift, last, label))| {
            ImageFunctions { functions: named(image, name), shift, last, label: label.to_owned() }
        });
    let functions = Functions::join(parts.collect());
    let ids = [0, 1].map(|at| functions.id(at).unwrap());
    check(&images, &functions, ids)
}

#[test]
fn neighbors_in_two_images_have_the_files_of_their_images() {
    with_two_images(|images, functions, ids| {
        let names = FileNames::new(images).of(functions, ids.to_vec());
        assert_eq!(ids.map(|id| names[&id].as_ref()), [&b"inlined.c"[..], b"cycles.c"]);
        let sources = Sources::of_images(functions, images);
        let place = ids.map(|id| sources.place(id).map(|place| (sources.name(place.file, false), place.line)));
        assert_eq!(place, [Some((&b"inlined.c"[..], 11)), Some((b"cycles.c", 8))]);
        // A name with directories belongs to one file.
        let path = sources.name(0, true);
        assert!(path.len() > b"inlined.c".len());
        assert_eq!([sources.named(path), sources.named(b"cycles.c"), sources.named(b"/c")], [vec![0], vec![1], vec![]]);
    });
}

#[test]
fn code_of_an_inlined_function_is_found_in_its_image() {
    with_two_images(|images, _, _| {
        let code = InlinedCode::new(images);
        let shifts: Vec<u64> = images.mappings().iter().map(|mapping| mapping.shift).collect();
        let at = |image: usize, address: u64| code.at(address.wrapping_add(shifts[image]));
        assert_eq!([at(0, 0x11f8), at(0, 0x120f)], [vec![&b"square"[..]], vec![b"square"]]);
        assert_eq!([at(0, 0x11ea), at(1, 0x1200)], [vec![], vec![]] as [Vec<&[u8]>; 2]);
    });
}
