//! The order of the boxes in each layer.

use super::layers::Layers;

/// The number of walks through all layers.
const SWEEPS: usize = 16;

/// Orders each layer by the middle of the neighbors in the layer above, then in the layer below, and so on. Keeps the order
/// with the fewest crossings.
pub(super) fn order(layers: &mut Layers) {
    let mut place = places(layers);
    let mut best = (crossings(layers, &place), layers.layers.clone());
    for sweep in 0..SWEEPS {
        let is_down = sweep % 2 == 0;
        let count = layers.layers.len();
        for step in 1..count {
            let rank = if is_down { step } else { count - 1 - step };
            sort(layers, rank, is_down, &mut place);
        }
        let found = crossings(layers, &place);
        if found < best.0 {
            best = (found, layers.layers.clone());
        }
        if found == 0 {
            break;
        }
    }
    layers.layers = best.1;
}

/// The place of each vertex in its layer.
fn places(layers: &Layers) -> Vec<usize> {
    let mut places = vec![0; layers.vertices.len()];
    for layer in &layers.layers {
        layer.iter().enumerate().for_each(|(place, at)| places[*at] = place);
    }
    places
}

fn sort(layers: &mut Layers, rank: usize, is_down: bool, place: &mut [usize]) {
    let neighbors = if is_down { &layers.above } else { &layers.below };
    let key = |at: &usize| {
        let near = &neighbors[*at];
        let sum: usize = near.iter().map(|other| place[*other]).sum();
        // A vertex without neighbors stays where it is.
        if near.is_empty() { place[*at] as f64 } else { sum as f64 / near.len() as f64 }
    };
    let layer = &mut layers.layers[rank];
    let mut keyed: Vec<(f64, usize)> = layer.iter().map(|at| (key(at), *at)).collect();
    keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (index, (_, at)) in keyed.into_iter().enumerate() {
        layer[index] = at;
        place[at] = index;
    }
}

/// Counts the crossings of all arrows between two layers: the inversions of the lower ends.
fn crossings(layers: &Layers, place: &[usize]) -> usize {
    layers.layers.windows(2).map(|pair| crossings_below(layers, pair, place)).sum()
}

fn crossings_below(layers: &Layers, pair: &[Vec<usize>], place: &[usize]) -> usize {
    // A tree of counts: each inner element has the sum of a range of places.
    let mut tree = vec![0_usize; pair[1].len() + 1];
    let (mut crossings, mut seen) = (0, 0);
    for at in &pair[0] {
        let mut ends: Vec<usize> = layers.below[*at].iter().map(|below| place[*below]).collect();
        ends.sort_unstable();
        for end in &ends {
            let (mut before, mut index) = (0, end + 1);
            while index > 0 {
                before += tree[index];
                index &= index - 1;
            }
            crossings += seen - before;
        }
        for end in &ends {
            let mut index = end + 1;
            while index < tree.len() {
                tree[index] += 1;
                index += index & index.wrapping_neg();
            }
            seen += 1;
        }
    }
    crossings
}

#[cfg(test)]
mod tests {
    use super::super::ranks::ranks;
    use super::super::shapes::Arrow;
    use super::*;

    #[test]
    fn arrows_that_need_not_cross_do_not() {
        let pairs = [(0, 3), (0, 4), (1, 2), (1, 3), (2, 6), (3, 5), (4, 5)];
        let arrows = pairs.map(|(from, to)| Arrow { from, to });
        let mut layers = Layers::new(&[[10.0, 10.0]; 7], &arrows, &ranks(7, &arrows));
        order(&mut layers);
        assert_eq!(crossings(&layers, &places(&layers)), 0, "{layers:?}");
    }

    #[test]
    fn each_crossing_counts() {
        let arrows = [(0, 3), (0, 4), (1, 2), (1, 3)].map(|(from, to)| Arrow { from, to });
        let mut layers = Layers::new(&[[10.0, 10.0]; 5], &arrows, &[0, 0, 1, 1, 1]);
        layers.layers = vec![vec![0, 1], vec![2, 3, 4]];
        // 1 to 2 crosses both arrows of 0, and 1 to 3 crosses 0 to 4.
        assert_eq!(crossings(&layers, &places(&layers)), 3);
    }
}
