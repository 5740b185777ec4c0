//! The layers of a drawing: boxes, and the points where arrows pass a layer.

use super::shapes::{Arrow, Point};

/// A box, or a point of an arrow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    /// The layer.
    pub(super) rank: usize,
    pub(super) width: f64,
    height: f64,
    /// Whether it is a point of an arrow.
    pub(super) is_point: bool,
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
