//! The counts in the list of shared objects that an earlier runtime wrote beside a profile.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use gmon::object_list::{Header, Object, ObjectList};

use super::counts::{ObjectCounts, RunCounts, RunObject};
use crate::program::image;
use crate::sources::outside::OutsideImages;

/// The identity and the path of the program that a list names.
pub(super) fn program(header: Header) -> Option<(String, PathBuf)> {
    header.program.map(|program| (program.identity, path(program.path)))
}

/// The counts of a list.
pub(super) fn counts(list: ObjectList) -> RunCounts {
    let ObjectList { objects, calls, kernel, vdso, elsewhere, calls_elsewhere, .. } = list;
    let arcs = calls.iter().map(|call| ([call.caller.0, call.caller.1, call.callee.0, call.callee.1], call.count));
    RunCounts {
        objects: objects.into_iter().map(object).collect(),
        arcs: arcs.collect(),
        outside_images: OutsideImages { kernel, vdso, elsewhere, calls: calls_elsewhere },
        ..RunCounts::default()
    }
}

/// An object, with the last part of the name of its profile.
fn object(listed: Object) -> RunObject {
    let path = path(listed.path);
    let mut suffix = path.file_name().unwrap_or_default().to_owned();
    if listed.twins > 0 {
        suffix.push(format!(".{}", listed.twins.saturating_add(1)));
    }
    RunObject {
        number: listed.number,
        identity: listed.build_id.as_deref().map(image::padded_build_id),
        counts: ObjectCounts::File { suffix, checksum: listed.profile },
        path,
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use gmon::side_file::Checksum;

    use super::*;

    #[test]
    fn a_list() {
        let text = "gmon objects 2\nprofile 3 00000000000000ff\nprogram beef /a b\n\
            object 1 0 9 1f beef /lib/a b.so\nobject 7 1 8 2 - /x\\012y/a b.so\n\
            arc 0 16 7 32 5\nsamples kernel 3\nsamples vdso 2\nsamples elsewhere 1\ncalls elsewhere 4\nend\n";
        let list = ObjectList::parse(text.as_bytes()).unwrap();
        assert_eq!(program(list.header.clone()), Some(("beef".to_owned(), "/a b".into())));
        let counts = counts(list);
        let object = |number, identity: Option<&str>, path: &str, suffix: &str, checksum| RunObject {
            number,
            identity: identity.map(str::to_owned),
            path: path.into(),
            counts: ObjectCounts::File { suffix: suffix.into(), checksum },
        };
        let one = object(1, Some("beef0000"), "/lib/a b.so", "a b.so", Checksum { length: 9, sum: 0x1f });
        let two = object(7, None, "/x\ny/a b.so", "a b.so.2", Checksum { length: 8, sum: 2 });
        assert_eq!(counts.objects, [one, two]);
        assert_eq!(counts.arcs, [([0, 16, 7, 32], 5)]);
        assert_eq!(counts.outside_images, OutsideImages { kernel: 3, vdso: 2, elsewhere: 1, calls: 4 });
    }
}
