//! Makes the tree of calling contexts from the tree of return addresses.

use std::collections::HashMap;

use super::call_sites::{CallSites, Gone};
use super::tree::{Contexts, Frame, Growing};
use crate::load::stacks::{Place, StackNode, Stacks};
use crate::symbols::functions::{FunctionId, Functions};

/// Returns the names of the functions that were inlined at an address, the outermost first.
pub type InlinedAt<'a, 'data> = dyn Fn(u64) -> Vec<&'data [u8]> + 'a;

/// Makes the tree of contexts.
#[must_use]
pub fn contexts<'s>(stacks: &Stacks, functions: &Functions<'s>, sites: &CallSites<'_, 's>) -> Contexts {
    with_inlined(stacks, functions, sites, None).0
}

/// Makes the tree of contexts. With `inlined_at`, inlined functions have frames of their own. Returns the names of these
/// functions.
#[must_use]
pub fn with_inlined<'s, 'data>(
    stacks: &Stacks,
    functions: &Functions<'s>,
    sites: &CallSites<'_, 's>,
    inlined_at: Option<&InlinedAt<'_, 'data>>,
) -> (Contexts, Vec<&'data [u8]>) {
    let nodes = stacks.nodes();
    let mut has_children = vec![false; nodes.len()];
    for parent in nodes.iter().filter_map(StackNode::parent) {
        has_children[parent as usize] = true;
    }
    let mut building = Building {
        functions,
        sites,
        growing: Growing::default(),
        gone: HashMap::new(),
        inlines: inlined_at.map(|find| Inlines {
            find,
            at: HashMap::new(),
            numbers: HashMap::new(),
            names: Vec::new(),
        }),
    };
    let mut callers: Vec<Caller> = Vec::with_capacity(nodes.len());
    for (node, has_children) in nodes.iter().zip(has_children) {
        let above = node.parent().map_or(Caller::default(), |parent| callers[parent as usize]);
        callers.push(building.node(node, above, has_children));
    }
    let names = building.inlines.map(|inlines| inlines.names).unwrap_or_default();
    (building.growing.finish(), names)
}

/// A node as the caller of the nodes below.
#[derive(Clone, Copy, Default)]
struct Caller {
    /// The context; `None` above the outermost frame.
    context: Option<u32>,
    /// The address to which the callee returns, if the node is a call.
    return_address: Option<u64>,
}

struct Building<'a, 's, 'data> {
    functions: &'a Functions<'s>,
    sites: &'a CallSites<'a, 's>,
    growing: Growing,
    /// The functions that left the stack between a return address and the next frame.
    gone: HashMap<(u64, FunctionId), Gone>,
    inlines: Option<Inlines<'a, 'data>>,
}

impl Building<'_, '_, '_> {
    /// Adds the frames and the ticks of a node. Returns the node as the caller of other nodes.
    fn node(&mut self, node: &StackNode, above: Caller, has_children: bool) -> Caller {
        let frame = match node.place() {
            Place::Code(address) => return self.code(address, node.ticks(), above, has_children),
            Place::Thread(_) => {
                // A thread is no frame. Ticks of the thread itself have no known frame.
                if node.ticks() > 0 {
                    let context = self.growing.add(above.context, Frame::Outside, false);
                    self.growing.count(context, node.ticks());
                }
                return above;
            }
            Place::Kernel => Frame::Kernel,
            Place::Elsewhere => Frame::Outside,
            Place::Cut(reason) => Frame::Cut(reason),
        };
        let context = self.growing.add(above.context, frame, false);
        self.growing.count(context, node.ticks());
        Caller { context, return_address: None }
    }

    /// Adds a node with an address. The ticks belong to the instruction at the address; callees belong to the instruction
    /// before, which may be in another function.
    fn code(&mut self, address: u64, ticks: u64, above: Caller, has_children: bool) -> Caller {
        if ticks > 0 || !has_children {
            let context = self.frame(address, above);
            self.growing.count(context, ticks);
        }
        if !has_children {
            return Caller::default();
        }
        if !self.sites.is_return_address(address) {
            // A signal arrived here, or a signal handler returns here. No call led to this frame or to the next.
            let context = self.frame(address, Caller { return_address: None, ..above });
            return Caller { context, return_address: None };
        }
        Caller { context: self.frame(address.wrapping_sub(1), above), return_address: Some(address) }
    }

    /// Adds the frame of an instruction, after the functions that left the stack before.
    fn frame(&mut self, address: u64, above: Caller) -> Option<u32> {
        let Some(function) = self.functions.find(address).map(|id| self.functions[id].counts_for) else {
            return self.growing.add(above.context, Frame::Outside, false);
        };
        let (mut context, mut is_doubtful) = (above.context, false);
        if let Some(return_address) = above.return_address {
            let sites = self.sites;
            let find = || sites.gone(return_address, function);
            let gone = self.gone.entry((return_address, function)).or_insert_with(find);
            for (at, function) in gone.functions.iter().enumerate() {
                let is_doubtful = gone.is_doubtful && at >= gone.certain;
                context = self.growing.add(context, Frame::Function(*function), is_doubtful);
            }
            // Other functions may stand between the last function that is certain and this one.
            is_doubtful = gone.is_doubtful && gone.functions.len() <= gone.certain;
        }
        context = self.growing.add(context, Frame::Function(function), is_doubtful);
        if let Some(inlines) = &mut self.inlines {
            for number in inlines.at(address) {
                context = self.growing.add(context, Frame::Inlined(*number), false);
            }
        }
        context
    }
}

/// The inlined functions at addresses.
struct Inlines<'a, 'data> {
    find: &'a InlinedAt<'a, 'data>,
    /// The numbers of the functions at each address, the outermost first.
    at: HashMap<u64, Vec<u32>>,
    numbers: HashMap<&'data [u8], u32>,
    names: Vec<&'data [u8]>,
}

impl Inlines<'_, '_> {
    fn at(&mut self, address: u64) -> &[u32] {
        let Inlines { find, at, numbers, names } = self;
        at.entry(address).or_insert_with(|| {
            let number = |name| {
                *numbers.entry(name).or_insert_with(|| {
                    names.push(name);
                    (names.len() - 1) as u32
                })
            };
            find(address).into_iter().map(number).collect()
        })
    }
}
