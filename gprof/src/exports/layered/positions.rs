//! The place of each box across the drawing.

use super::layers::Layers;

/// The number of walks through all layers.
const SWEEPS: usize = 24;

/// Returns the middle of each vertex. Every vertex is drawn to its neighbors; long arrows are straight where they can be.
pub(super) fn positions(layers: &Layers, gap: f64) -> Vec<f64> {
    let mut across = packed(layers, gap);
    for sweep in 0..SWEEPS {
        let is_last = sweep + 6 >= SWEEPS;
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

    #[test]
    fn wishes_in_the_wrong_order_meet() {
        let wish = |place: f64, offset: f64| Wish { place: place - offset, weight: 1.0, offset };
        assert_eq!(satisfied(&[wish(0.0, 0.0), wish(50.0, 10.0)]), [0.0, 50.0]);
        assert_eq!(satisfied(&[wish(50.0, 0.0), wish(0.0, 10.0)]), [20.0, 30.0]);
        assert_eq!(satisfied(&[wish(5.0, 0.0), wish(5.0, 10.0), wish(90.0, 20.0)]), [0.0, 10.0, 90.0]);
    }
}
