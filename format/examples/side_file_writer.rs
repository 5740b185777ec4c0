//! Writes a side file as a runtime does: in order, with buffers of a fixed size.

use core::convert::Infallible;

use gmon::encode::Sink;
use gmon::encode::side_file::{
    CutReason, Header, IdentityBytes, LARGEST_CONTEXT, Measure, ObjectItem, Piece, Place, context, cut, end, header,
    object, padding, part,
};
use gmon::layout::mark;
use gmon::layout::side_file::{CONTEXTS, CUTS, IS_PROGRAM, KERNEL, NATIVE, OBJECTS, PROGRAM};

/// The file, and the sum of the marks of its bytes. A runtime has a descriptor and a page instead of a vector.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    sum: u64,
}

impl Sink for File {
    type Error = Infallible;

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.sum = self.sum.wrapping_add(mark(self.bytes.len() as u64, *byte));
            self.bytes.push(*byte);
        }
    }
}

/// Encodes the objects. Called twice: paths may be longer than any buffer, so the length is measured first.
fn objects<S: Sink>(out: &mut S) {
    let (flags, identity) = (IS_PROGRAM, IdentityBytes::BuildId(&[0xbe, 0xef, 0, 0]));
    let path = b"/bin/program";
    object(out, &ObjectItem { number: PROGRAM, flags, identity, lowpc: 0x1000, highpc: 0x2000, path, generation: 0 });
}

fn main() {
    let mut file = File::default();
    let word_size = size_of::<usize>() as u8;
    header(&mut file, &Header { word_size, order: NATIVE, flags: 0, profile_length: 0, profile_sum: 0 });

    let mut measure = Measure::default();
    objects(&mut measure);
    part(&mut file, OBJECTS, 0, measure.length());
    objects(&mut file);
    padding(&mut file, measure.length());

    // The tree: main at 0x1010, called at 0x1801 from itself, which is in the kernel. Three ticks have no chain.
    let (main, again) = ([0x1010, 0x1801].map(|address| Place { object: PROGRAM, address })).into();
    let kernel = Place { object: KERNEL, address: 0 };
    let nodes = [(0, None, main, 0), (1, Some(main), again, 2), (1, Some(again), kernel, 5)];
    let mut buffer = [0; 64];
    let mut piece = Piece::new(&mut buffer);
    for (distance, parent, place, ticks) in nodes {
        if !piece.has_room(LARGEST_CONTEXT) {
            assert!(piece.flush(&mut file, CONTEXTS));
        }
        context(&mut piece, distance, parent, place, ticks);
    }
    assert!(piece.flush(&mut file, CONTEXTS));
    cut(&mut piece, CutReason::NO_STACK, 3);
    assert!(piece.flush(&mut file, CUTS));
    let sum = file.sum;
    end(&mut file, sum);

    // A reader gets the same content.
    let side = gmon::side_file::SideFile::parse(&file.bytes).expect("a whole file");
    assert_eq!(side.contexts().inclusive(), [7, 7, 5]);
    assert_eq!(side.contexts().total() + side.unwalked().map(|(_, ticks)| ticks).sum::<u64>(), 10);
}
