//! The parts of a graph that no arrow connects, and the layer of each box.

/// A place or a size: across and down, in pixels.
pub(crate) type Point = [f64; 2];

/// An arrow between two boxes, by their indexes. An arrow from a box to itself has no route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// A part: its boxes and arrows, by their indexes.
#[derive(Debug, Default)]
pub(super) struct Component {
    /// In ascending order.
    pub(super) boxes: Vec<usize>,
    pub(super) arrows: Vec<usize>,
}

impl Component {
    /// Returns the arrows of the part, between the places of its boxes.
    pub(super) fn inner_arrows(&self, arrows: &[Arrow]) -> Vec<Arrow> {
        let place = |index: usize| self.boxes.partition_point(|other| *other < index);
        let inner = |index: &usize| Arrow { from: place(arrows[*index].from), to: place(arrows[*index].to) };
        self.arrows.iter().map(inner).collect()
    }
}

/// Returns the parts, the one with the first box first.
pub(super) fn components(boxes: usize, arrows: &[Arrow]) -> Vec<Component> {
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    for arrow in arrows {
        near[arrow.from].push(arrow.to);
        near[arrow.to].push(arrow.from);
    }
    let mut number: Vec<Option<usize>> = vec![None; boxes];
    let mut count = 0;
    for start in 0..boxes {
        let mut left = if number[start].is_none() { vec![start] } else { continue };
        while let Some(at) = left.pop() {
            if number[at].replace(count).is_none() {
                left.extend(near[at].iter().filter(|other| number[**other].is_none()));
            }
        }
        count += 1;
    }
    let mut components: Vec<Component> = (0..count).map(|_| Component::default()).collect();
    for (index, number) in number.iter().enumerate() {
        if let Some(component) = number.and_then(|number| components.get_mut(number)) {
            component.boxes.push(index);
        }
    }
    for (index, arrow) in arrows.iter().enumerate() {
        if let Some(component) = number[arrow.from].and_then(|number| components.get_mut(number)) {
            component.arrows.push(index);
        }
    }
    components
}

/// Returns the layer of each box: below all boxes with arrows to it, but for arrows that close a circle.
pub(super) fn ranks(boxes: usize, arrows: &[Arrow]) -> Vec<usize> {
    let down = without_circles(boxes, arrows);
    let mut above = vec![0_usize; boxes];
    down.iter().flatten().for_each(|to| above[*to] += 1);
    let mut ranks = vec![0_usize; boxes];
    let mut ready: Vec<usize> = (0..boxes).filter(|at| above[*at] == 0).collect();
    let roots = ready.clone();
    while let Some(from) = ready.pop() {
        for to in &down[from] {
            ranks[*to] = ranks[*to].max(ranks[from] + 1);
            above[*to] -= 1;
            if above[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    // A box without callers stands right above the first of the boxes that it leads to.
    for root in roots {
        ranks[root] = down[root].iter().map(|to| ranks[*to] - 1).min().unwrap_or(0);
    }
    ranks
}

/// Returns the boxes below each box. A walk starts at the first boxes; an arrow back to a box on the way of the walk is
/// turned around.
fn without_circles(boxes: usize, arrows: &[Arrow]) -> Vec<Vec<usize>> {
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    for arrow in arrows.iter().filter(|arrow| arrow.from != arrow.to) {
        targets[arrow.from].push(arrow.to);
    }
    let mut down = vec![Vec::new(); boxes];
    let (mut is_seen, mut is_open) = (vec![false; boxes], vec![false; boxes]);
    let has_caller = has_arrows_to(boxes, arrows);
    let starts = (0..boxes).filter(|at| !has_caller[*at]).chain(0..boxes);
    for start in starts {
        let mut path = vec![(start, 0_usize)];
        if std::mem::replace(&mut is_seen[start], true) {
            continue;
        }
        is_open[start] = true;
        while let Some((from, next)) = path.last_mut() {
            let from = *from;
            let Some(to) = targets[from].get(*next).copied() else {
                is_open[from] = false;
                path.pop();
                continue;
            };
            *next += 1;
            if is_open[to] {
                down[to].push(from);
            } else {
                down[from].push(to);
                if !std::mem::replace(&mut is_seen[to], true) {
                    is_open[to] = true;
                    path.push((to, 0));
                }
            }
        }
    }
    down
}

fn has_arrows_to(boxes: usize, arrows: &[Arrow]) -> Vec<bool> {
    let mut has_arrows = vec![false; boxes];
    arrows.iter().filter(|arrow| arrow.from != arrow.to).for_each(|arrow| has_arrows[arrow.to] = true);
    has_arrows
}
