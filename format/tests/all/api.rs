//! Checks what programs expect of all types: they can be sent to other threads, shared, printed, and mostly cloned.

use core::fmt::Debug;
use core::hash::Hash;
use std::error::Error as StdError;
use std::io::Cursor;
use std::iter::FusedIterator;

use gmon::encode::side_file as encode;
use gmon::{
    Arc, DataModel, Encoding, Form, Histogram, IoError, Order, Profile, Record, Records, Stream, Unit, layout,
    object_list, side_file, write,
};

fn is_shared<T: Debug + Send + Sync + Unpin>() {}
fn is_value<T: Debug + Clone + Send + Sync + Unpin + 'static>() {}
fn is_compared<T: Clone + Eq + Hash>() {}
fn is_error<T: StdError + Clone + Eq + Send + Sync + 'static>() {}
fn is_fused<T: FusedIterator + Clone>() {}

macro_rules! each {
    ($check:ident: $($type:ty),* $(,)?) => {
        $($check::<$type>();)*
    };
}

#[test]
fn values_are_sent_shared_printed_and_cloned() {
    each!(is_value:
        gmon::Accumulator, Arc, gmon::Bins, gmon::Block, gmon::Counter, gmon::CounterWidth, DataModel, gmon::Detection,
        gmon::Dimension, Encoding, gmon::ErrorKind, gmon::Evidence, gmon::Foreign, Form, gmon::HintKind,
        gmon::Hints, Histogram, gmon::Image, gmon::OldHeader, Order, gmon::Part, Profile, Record, gmon::RecordCounts,
        Records<&[u8]>, Unit, gmon::Word, gmon::Hit<'static>, gmon::Orders<'static>,
    );
    each!(is_value:
        side_file::Accumulator, side_file::Call, side_file::Calls, side_file::Checksum, side_file::ContextTree,
        side_file::CutReason, side_file::EstimatedCalls, side_file::Estimates, side_file::Identity,
        side_file::Kind, side_file::Mapping, side_file::Node, side_file::Object, side_file::Outside,
        side_file::Place, side_file::Samples, side_file::Selection,
        side_file::SideFile, side_file::Thread, side_file::Windows,
    );
    each!(is_value:
        object_list::Call, object_list::Header, object_list::Object, object_list::ObjectList, object_list::Program,
    );
    each!(is_value:
        gmon::encode::BsdHeader, gmon::encode::GnuHistogram<'static>, encode::BinEncoder, encode::CallEncoder,
        encode::EstimateEncoder, encode::Header, encode::IdentityBytes<'static>, encode::Measure,
        encode::ObjectItem<'static>, encode::SelectionEncoder, encode::ThreadItem<'static>,
    );
    each!(is_value:
        layout::GmonHdr, layout::RawArc, layout::side_file::RawMapping, layout::side_file::RawNode,
        layout::side_file::RawSums, layout::side_file::RawThread,
    );
}

#[test]
fn what_owns_a_reader_or_a_buffer_is_sent_shared_and_printed() {
    each!(is_shared: Stream<Cursor<Vec<u8>>>, Records<Stream<Cursor<Vec<u8>>>>, encode::Piece<'static>);
    each!(is_fused: gmon::Hit<'static>, gmon::Orders<'static>, Records<&[u8]>);
}

#[test]
fn keys_can_be_hashed() {
    each!(is_compared: gmon::Bins, Encoding, gmon::Evidence, Histogram, Unit);
}

#[test]
fn errors_are_errors() {
    each!(is_error:
        gmon::Error, gmon::UnknownName, IoError,
    );
}

#[test]
fn records_return_what_they_read_from() {
    let encoding = Encoding::new(Form::Bsd, DataModel::Ilp32, Order::Big);
    let file = write(&Profile::new().with_arcs([Arc::new(1, 2, 3), Arc::new(4, 5, 6)]), encoding).unwrap();
    let mut records = Records::new(&file, encoding).unwrap();
    assert!(matches!(records.next(), Some(Ok(Record::Arc(arc))) if arc.frompc == 1));
    let offset = usize::try_from(records.offset()).unwrap();
    assert_eq!(records.into_inner(), &file[offset..]);
    let mut records = Records::from_reader(Cursor::new(&file), encoding).unwrap();
    assert_eq!(records.by_ref().count(), 2);
    assert_eq!(records.into_inner().position(), file.len() as u64);
}

#[test]
fn counts_of_a_profile_are_changed_removed_and_taken() {
    let mut profile = Profile::new();
    profile.add_arcs([Arc::new(1, 2, 3), Arc::new(4, 5, 0)]);
    profile.add_blocks([gmon::Block::new(1, 7), gmon::Block::new(2, 0)]);
    profile.arcs_mut().iter_mut().for_each(|arc| arc.selfpc += 1);
    profile.retain_arcs(|arc| arc.count != 0);
    profile.retain_blocks(|block| block.count != 0);
    assert_eq!(profile.take_arcs(), [Arc::new(1, 3, 3)]);
    assert_eq!(profile.take_blocks(), [gmon::Block::new(1, 7)]);
    assert!(profile.is_empty());
}

#[test]
fn data_models_have_their_usual_names() {
    let names = [DataModel::Ilp32, DataModel::Lp64, DataModel::Llp64].map(|model| model.to_string());
    assert_eq!(names, ["ILP32", "LP64", "LLP64"]);
}
