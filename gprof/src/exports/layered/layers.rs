//! The layers of a drawing: the boxes, the points where arrows pass a layer, their order in each layer, and their
//! places across the drawing.

use super::ranks::{Arrow, Point};

/// A box, or a point of an arrow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    /// The layer.
    pub(super) rank: usize,
    pub(super) width: f64,
    height: f64,
    /// Whether it is a point of an arrow.
    is_point: bool,
}

#[derive(Debug)]
pub(super) struct Layers {
    /// The boxes, and then the points of arrows.
    pub(super) vertices: Vec<Vertex>,
    /// The vertices of each layer, from the left.
    pub(super) layers: Vec<Vec<usize>>,
    /// The neighbors of each vertex in the layer above.
    pub(super) above: Vec<Vec<usize>>,
    /// The neighbors of each vertex in the layer below.
    pub(super) below: Vec<Vec<usize>>,
    /// The vertices of each arrow from the top; empty for an arrow from a box to itself.
    pub(super) chains: Vec<Vec<usize>>,
}

/// The width of the point of an arrow.
const POINT: f64 = 6.0;

impl Layers {
    pub(super) fn new(sizes: &[Point], arrows: &[Arrow], ranks: &[usize]) -> Layers {
        let vertex =
            |(size, rank): (&Point, &usize)| Vertex { rank: *rank, width: size[0], height: size[1], is_point: false };
        let mut layers = Layers {
            vertices: sizes.iter().zip(ranks).map(vertex).collect(),
            layers: Vec::new(),
            above: Vec::new(),
            below: Vec::new(),
            chains: Vec::new(),
        };
        for arrow in arrows {
            let chain = layers.chain(arrow);
            layers.chains.push(chain);
        }
        layers.connect();
        layers.fill();
        layers
    }

    /// Adds the points of an arrow.
    fn chain(&mut self, arrow: &Arrow) -> Vec<usize> {
        if arrow.from == arrow.to {
            return Vec::new();
        }
        let is_down = self.vertices[arrow.from].rank < self.vertices[arrow.to].rank;
        let (top, bottom) = if is_down { (arrow.from, arrow.to) } else { (arrow.to, arrow.from) };
        let mut chain = vec![top];
        for rank in self.vertices[top].rank + 1..self.vertices[bottom].rank {
            chain.push(self.vertices.len());
            self.vertices.push(Vertex { rank, width: POINT, height: 0.0, is_point: true });
        }
        chain.push(bottom);
        chain
    }

    fn connect(&mut self) {
        self.above = vec![Vec::new(); self.vertices.len()];
        self.below = vec![Vec::new(); self.vertices.len()];
        for pair in self.chains.iter().flat_map(|chain| chain.windows(2)) {
            self.below[pair[0]].push(pair[1]);
            self.above[pair[1]].push(pair[0]);
        }
    }

    /// Puts the vertices into their layers, in the order of a walk that keeps what belongs together side by side.
    fn fill(&mut self) {
        let ranks = self.vertices.iter().map(|vertex| vertex.rank + 1).max().unwrap_or(0);
        self.layers = vec![Vec::new(); ranks];
        let mut is_seen = vec![false; self.vertices.len()];
        let starts = (0..self.vertices.len()).filter(|at| self.above[*at].is_empty());
        let mut left: Vec<usize> = starts.collect();
        left.reverse();
        while let Some(at) = left.pop() {
            if !std::mem::replace(&mut is_seen[at], true) {
                self.layers[self.vertices[at].rank].push(at);
                left.extend(self.below[at].iter().rev());
            }
        }
    }

    /// Returns the top and the bottom of each layer.
    pub(super) fn heights(&self, gap: f64) -> Vec<[f64; 2]> {
        let mut top = 0.0;
        let mut heights = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let height = layer.iter().map(|at| self.vertices[*at].height).fold(0.0, f64::max);
            heights.push([top, top + height]);
            top += height + gap;
        }
        heights
    }
}

/// The number of walks through all layers.
const ORDER_SWEEPS: usize = 16;

/// Orders each layer by the middle of the neighbors in the layer above, then in the layer below, and so on. Keeps the
/// order with the fewest crossings.
pub(super) fn order(layers: &mut Layers) {
    let mut place = places(layers);
    let mut best = (crossings(layers, &place), layers.layers.clone());
    for sweep in 0..ORDER_SWEEPS {
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

/// The number of walks through all layers.
const POSITION_SWEEPS: usize = 24;

/// Returns the middle of each vertex. Every vertex is drawn to its neighbors; long arrows are straight where they can
/// be.
pub(super) fn positions(layers: &Layers, gap: f64) -> Vec<f64> {
    let mut across = packed(layers, gap);
    for sweep in 0..POSITION_SWEEPS {
        let is_last = sweep + 6 >= POSITION_SWEEPS;
        let is_down = sweep % 2 == 0;
        for step in 0..layers.layers.len() {
            let rank = if is_down { step } else { layers.layers.len() - 1 - step };
            place(layers, rank, [is_down || is_last, !is_down || is_last], gap, &mut across);
        }
    }
    across
}

/// Places each layer from the left, without more space than needed.
fn packed(layers: &Layers, gap: f64) -> Vec<f64> {
    let mut across = vec![0.0; layers.vertices.len()];
    for layer in &layers.layers {
        let mut left = 0.0;
        for at in layer {
            let width = layers.vertices[*at].width;
            across[*at] = left + width / 2.0;
            left += width + gap;
        }
    }
    across
}

/// Places the vertices of a layer as near as possible to their neighbors above, below, or both.
fn place(layers: &Layers, rank: usize, [above, below]: [bool; 2], gap: f64, across: &mut [f64]) {
    let layer = &layers.layers[rank];
    let mut offset = 0.0;
    let mut wishes: Vec<Wish> = Vec::with_capacity(layer.len());
    for (index, at) in layer.iter().enumerate() {
        if let Some(before) = index.checked_sub(1).map(|before| layer[before]) {
            offset += (layers.vertices[before].width + layers.vertices[*at].width) / 2.0 + gap;
        }
        let wish = wish(layers, *at, [above, below], across);
        wishes.push(Wish { place: wish.place - offset, offset, ..wish });
    }
    for (at, place) in layer.iter().zip(satisfied(&wishes)) {
        across[*at] = place;
    }
}

/// Where a vertex would like to be.
#[derive(Clone, Copy, Debug)]
struct Wish {
    place: f64,
    weight: f64,
    /// The least distance from the first vertex of the layer.
    offset: f64,
}

fn wish(layers: &Layers, at: usize, [above, below]: [bool; 2], across: &[f64]) -> Wish {
    let (mut sum, mut weight) = (0.0, 0.0);
    let sides = [(above, &layers.above[at]), (below, &layers.below[at])];
    for other in sides.into_iter().filter(|(counts, _)| *counts).flat_map(|(_, near)| near) {
        let points = usize::from(layers.vertices[at].is_point) + usize::from(layers.vertices[*other].is_point);
        let strength = [1.0, 2.0, 8.0][points];
        sum += strength * across[*other];
        weight += strength;
    }
    // Without neighbors, a vertex goes where the others leave room.
    match weight {
        0.0 => Wish { place: across[at], weight: 0.01, offset: 0.0 },
        _ => Wish { place: sum / weight, weight, offset: 0.0 },
    }
}

/// Returns the places that are nearest to the wishes and keep the order: the places without offsets ascend.
/// Neighbors whose wishes are in the wrong order share the mean of their wishes.
fn satisfied(wishes: &[Wish]) -> Vec<f64> {
    // Groups with the sum of their weighted wishes, their weight, and their size.
    let mut groups: Vec<(f64, f64, usize)> = Vec::new();
    for wish in wishes {
        let mut group = (wish.place * wish.weight, wish.weight, 1);
        while let Some(last) = groups.last().copied().filter(|last| last.0 / last.1 > group.0 / group.1) {
            groups.pop();
            group = (group.0 + last.0, group.1 + last.1, group.2 + last.2);
        }
        groups.push(group);
    }
    let places = groups.into_iter().flat_map(|(sum, weight, size)| std::iter::repeat_n(sum / weight, size));
    places.zip(wishes).map(|(place, wish)| place + wish.offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exports::layered::ranks::{Arrow, ranks};

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

    #[test]
    fn wishes_in_the_wrong_order_meet() {
        let wish = |place: f64, offset: f64| Wish { place: place - offset, weight: 1.0, offset };
        assert_eq!(satisfied(&[wish(0.0, 0.0), wish(50.0, 10.0)]), [0.0, 50.0]);
        assert_eq!(satisfied(&[wish(50.0, 0.0), wish(0.0, 10.0)]), [20.0, 30.0]);
        assert_eq!(satisfied(&[wish(5.0, 0.0), wish(5.0, 10.0), wish(90.0, 20.0)]), [0.0, 10.0, 90.0]);
    }
}
