//! Profiles for the forms outside of the families of GNU and 4.4BSD: each form holds less, and stores the rest in
//! another way.

use gmon::{Arc, Bins, Encoding, Form, Histogram, Image, Profile, Unit, Word};
use proptest::prelude::*;

/// A profile that the form holds, except for the order of arcs.
pub(super) fn profile(encoding: Encoding) -> BoxedStrategy<Profile> {
    let address = 0x1000..0x3000_u64;
    let most = if encoding.word() == Word::W32 { 1_u64 << 34 } else { 1 << 35 };
    let count = prop_oneof![3 => 1..1000_u64, 1 => 1..most];
    let arcs = prop::collection::vec((address.clone(), address, count), 0..20);
    (histograms(encoding), arcs, prop::collection::vec("[a-z/]{0,9}", 0..3), any::<bool>())
        .prop_map(move |(histograms, arcs, paths, is_ordered)| {
            let mut profile = Profile::of_samples(histograms).unwrap();
            for (at, (frompc, selfpc, count)) in (1..).zip(arcs) {
                let arc = held(encoding.form, Arc::new(frompc, selfpc, count), profile.histograms().first());
                profile.add_arcs(arc);
                if is_ordered && matches!(encoding.form, Form::Darwin | Form::Next) {
                    profile.set_order(frompc, selfpc, at);
                }
            }
            paths.iter().filter_map(|path| image(encoding.form, path)).for_each(|image| profile.add_image(image));
            profile
        })
        .boxed()
}

/// The arc as the form holds it; `None` if the form does not hold the arc.
fn held(form: Form, arc: Arc, histogram: Option<&Histogram>) -> Option<Arc> {
    match form {
        Form::MonOut => {
            let is_held = histogram.is_some_and(|histogram| histogram.range().contains(&arc.selfpc));
            is_held.then_some(Arc::new(0, arc.selfpc, arc.count))
        }
        Form::LdProfile => {
            let range = histogram?.range();
            let frompc = if range.contains(&arc.frompc) && range.start != arc.frompc { arc.frompc } else { 0 };
            range.contains(&arc.selfpc).then_some(Arc::new(frompc, arc.selfpc, arc.count))
        }
        _ => Some(arc),
    }
}

fn image(form: Form, path: &str) -> Option<Image> {
    match form {
        Form::Darwin => Some(Image::new(path).with_header(0x4000)),
        Form::Next => Some(Image::new(path).with_slide(0x100)),
        Form::IllumosProf => Some(Image::new(path).with_range(0x1000..0x2000)),
        _ => None,
    }
}

fn histograms(encoding: Encoding) -> BoxedStrategy<Vec<Histogram>> {
    // Darwin's form and LD_PROFILE have a rate.
    let unit = Unit::seconds(if matches!(encoding.form, Form::Darwin | Form::LdProfile) { 100 } else { 0 });
    let of =
        move |lowpc: u64, bins: Vec<u64>| Histogram::new(lowpc..lowpc + 4 * bins.len() as u64, unit, bins).unwrap();
    let bins = prop::collection::vec(0..=u64::from(u16::MAX), 1..40);
    match encoding.form {
        Form::IllumosProf => prop::collection::vec((0..0x4000_u64, 1..100_u64), 0..9)
            .prop_map(move |counts| {
                let range = 0..u64::MAX;
                let bins = Bins::sparse(u64::MAX, counts).unwrap();
                if bins.hit().next().is_some() { vec![Histogram::new(range, unit, bins).unwrap()] } else { vec![] }
            })
            .boxed(),
        Form::Darwin | Form::Next => {
            let bins = prop::collection::vec(prop_oneof![5 => 0..100_u64, 1 => 0..300_000_u64], 1..40);
            let lists = prop::collection::vec(bins, 0..3);
            lists.prop_map(move |lists| (1..).zip(lists).map(|(at, bins)| of(at * 0x1000, bins)).collect()).boxed()
        }
        Form::IllumosRtld => {
            prop::option::of(bins).prop_map(move |bins| bins.map(|bins| of(0, bins)).into_iter().collect()).boxed()
        }
        Form::LdProfile => (0x1000..0x2000_u64, bins).prop_map(move |(lowpc, bins)| vec![of(lowpc, bins)]).boxed(),
        _ => (0x1000..0x2000_u64, prop::option::of(bins))
            .prop_map(move |(lowpc, bins)| bins.map(|bins| of(lowpc, bins)).into_iter().collect())
            .boxed(),
    }
}
