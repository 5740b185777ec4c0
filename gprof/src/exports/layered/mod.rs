//! Places for the boxes and arrows of a graph: in layers from callers down to callees, with few crossings.
//!
//! These are the usual four steps. Each arrow is made to point down, each box gets a layer below its callers, the boxes
//! of a layer are ordered so that few arrows cross, and then moved near their callers and callees. An arrow that passes
//! layers has a point of its own in each. docs/pictures.md says why no crate does this.

mod layers;
mod ranks;

use layers::Layers;
pub(super) use ranks::{Arrow, Point};

/// The places of a drawing.
#[derive(Debug)]
pub(super) struct Layout {
    /// The middle of each box.
    pub(super) boxes: Vec<Point>,
    /// The points of each arrow, from its first box to the last. Arrows are vertical at each point.
    pub(super) arrows: Vec<Vec<Point>>,
    /// The size of the drawing.
    pub(super) size: Point,
}

/// The space between two boxes, and between two layers.
const GAP: Point = [18.0, 58.0];

/// The least width of a row, if the graph has several parts.
const LEAST_ROW: f64 = 1200.0;

/// Lays out boxes of these sizes. Parts of the graph that no arrow connects stand side by side, and in rows if there
/// are many. The work grows with the product of the numbers of arrows and of layers.
pub(super) fn layout(sizes: &[Point], arrows: &[Arrow]) -> Layout {
    let mut whole =
        Layout { boxes: vec![[0.0; 2]; sizes.len()], arrows: vec![Vec::new(); arrows.len()], size: [0.0, 0.0] };
    let (mut corner, mut row_height) = ([0.0, 0.0], 0.0_f64);
    for component in ranks::components(sizes.len(), arrows) {
        let part_sizes: Vec<Point> = component.boxes.iter().map(|index| sizes[*index]).collect();
        let part = connected(&part_sizes, &component.inner_arrows(arrows));
        if corner[0] > 0.0 && corner[0] + part.size[0] > whole.size[0].max(LEAST_ROW) {
            corner = [0.0, corner[1] + row_height + GAP[1]];
            row_height = 0.0;
        }
        let moved = |[x, y]: &Point| [x + corner[0], y + corner[1]];
        component.boxes.iter().zip(&part.boxes).for_each(|(index, place)| whole.boxes[*index] = moved(place));
        for (index, route) in component.arrows.iter().zip(&part.arrows) {
            whole.arrows[*index] = route.iter().map(moved).collect();
        }
        row_height = row_height.max(part.size[1]);
        whole.size = [whole.size[0].max(corner[0] + part.size[0]), whole.size[1].max(corner[1] + part.size[1])];
        corner[0] += part.size[0] + 2.0 * GAP[0];
    }
    whole
}

/// Lays out boxes that arrows connect.
fn connected(sizes: &[Point], arrows: &[Arrow]) -> Layout {
    let ranks = ranks::ranks(sizes.len(), arrows);
    let mut layers = Layers::new(sizes, arrows, &ranks);
    layers::order(&mut layers);
    let across = layers::positions(&layers, GAP[0]);
    let down = layers.heights(GAP[1]);
    let left = edge(&layers, &across, f64::min, -0.5);
    let width = edge(&layers, &across, f64::max, 0.5) - left;
    let height = down.last().map_or(0.0, |[_, bottom]| *bottom);
    let at = |vertex: usize| [across[vertex] - left, down[layers.vertices[vertex].rank][0]];
    let boxes = (0..sizes.len()).map(|index| {
        let [top, bottom] = down[layers.vertices[index].rank];
        [across[index] - left, f64::midpoint(top, bottom)]
    });
    let boxes: Vec<Point> = boxes.collect();
    let route = |(arrow, chain): (&Arrow, &Vec<usize>)| {
        let mut points = Vec::new();
        for vertex in chain {
            let ([x, top], bottom) = (at(*vertex), down[layers.vertices[*vertex].rank][1]);
            let half = sizes.get(*vertex).map_or(f64::midpoint(-top, bottom), |size| size[1] / 2.0);
            let middle = f64::midpoint(top, bottom);
            points.extend([[x, middle - half], [x, middle + half]]);
        }
        // The first point is inside the upper box, and the last one inside the lower box.
        points.pop();
        points.drain(..points.len().min(1));
        if chain.first() != Some(&arrow.from) {
            points.reverse();
        }
        points
    };
    let arrows = arrows.iter().zip(&layers.chains).map(route).collect();
    Layout { boxes, arrows, size: [width.max(0.0), height] }
}

/// Returns the outermost left or right edge of all boxes.
fn edge(layers: &Layers, across: &[f64], choose: fn(f64, f64) -> f64, side: f64) -> f64 {
    let edges = layers.vertices.iter().zip(across).map(|(vertex, x)| x + side * vertex.width);
    edges.reduce(choose).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: Point = [60.0, 30.0];

    fn arrow((from, to): (usize, usize)) -> Arrow {
        Arrow { from, to }
    }

    #[test]
    fn callers_stand_above_callees() {
        let arrows = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 1), (2, 2)].map(arrow);
        let layout = layout(&[SIZE; 5], &arrows);
        let down = |index: usize| layout.boxes[index][1];
        assert!(down(0) < down(1) && down(1) < down(2) && down(2) < down(3), "{layout:?}");
        // A box without arrows stands beside the others.
        assert_eq!(down(0), down(4));
        // The arrow back to 1 begins at the top of 3 and ends at the bottom of 1.
        let back = &layout.arrows[4];
        assert_eq!(back.first().unwrap()[1], down(3) - 15.0);
        assert_eq!(back.last().unwrap()[1], down(1) + 15.0);
        // The arrow from 0 to 2 passes 1.
        assert_eq!(layout.arrows[2].len(), 4);
        assert_ne!(layout.arrows[2][1][0], layout.boxes[1][0]);
        assert_eq!(layout.arrows[5], [] as [Point; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn boxes_do_not_overlap(arrows in prop::collection::vec((0..30_usize, 0..30_usize), 0..90)) {
            let arrows: Vec<Arrow> = arrows.into_iter().map(arrow).collect();
            let layout = layout(&[SIZE; 30], &arrows);
            for (at, one) in layout.boxes.iter().enumerate() {
                prop_assert!(one[0] >= 29.9 && one[0] <= layout.size[0] - 29.9, "{:?}", layout);
                prop_assert!(one[1] >= 14.9 && one[1] <= layout.size[1] - 14.9, "{:?}", layout);
                for other in &layout.boxes[..at] {
                    let apart = |axis: usize| (one[axis] - other[axis]).abs() >= SIZE[axis] - 1e-6;
                    prop_assert!(apart(0) || apart(1), "{:?}", layout);
                }
            }
            for (arrow, route) in arrows.iter().zip(&layout.arrows) {
                prop_assert_eq!(route.len() >= 2, arrow.from != arrow.to);
                prop_assert!(route.iter().flatten().all(|number| number.is_finite()));
            }
        }
    }
}
