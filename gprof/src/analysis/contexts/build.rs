//! Makes the tree of calling contexts from the tree of return addresses.

use std::collections::HashMap;

use super::call_sites::{CallSites, Gone};
use super::tree::{Contexts, Doubt, Frame, Growing, Undecided};
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
        crowds: HashMap::new(),
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
    gone: HashMap<(u64, FunctionId), Between>,
    /// The indexes of the lists of functions that were counted at return addresses with very many functions.
    crowds: HashMap<u64, usize>,
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
                    let context = self.growing.add(above.context, Frame::Outside, Doubt::None);
                    self.growing.count(context, node.ticks());
                }
                return above;
            }
            Place::Kernel => Frame::Kernel,
            Place::Elsewhere => Frame::Outside,
            Place::Cut(reason) => Frame::Cut(reason),
        };
        let context = self.growing.add(above.context, frame, Doubt::None);
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
            return self.growing.add(above.context, Frame::Outside, Doubt::None);
        };
        let mut context = match above.return_address {
            Some(return_address) => self.called(function, above.context, return_address),
            None => self.growing.add(above.context, Frame::Function(function), Doubt::None),
        };
        if let Some(inlines) = &mut self.inlines {
            for number in inlines.at(address) {
                context = self.growing.add(context, Frame::Inlined(*number), Doubt::None);
            }
        }
        context
    }
}

/// The functions that left the stack between a return address and the next frame.
struct Between {
    gone: Gone,
    /// What else is possible, in the list of the contexts.
    undecided: Option<u32>,
}

impl Building<'_, '_, '_> {
    /// Finds what left the stack between a return address and a function.
    fn find(&mut self, return_address: u64, function: FunctionId) {
        if self.gone.contains_key(&(return_address, function)) {
            return;
        }
        let Building { sites, growing, crowds, .. } = self;
        let mut gone = sites.gone(return_address, function);
        let mut crowd = || {
            let add = || growing.add_crowd(sites.counted_at(return_address).collect());
            *crowds.entry(return_address).or_insert_with(add)
        };
        let crowd = gone.is_crowded.then(&mut crowd);
        let undecided = Undecided { crowd, ..std::mem::take(&mut gone.undecided) };
        let undecided = gone.is_doubtful.then(|| growing.add_undecided(undecided));
        self.gone.insert((return_address, function), Between { gone, undecided });
    }

    /// Adds the frame of a function that a call instruction of `caller` led to, after the functions that left the stack
    /// before.
    fn called(&mut self, function: FunctionId, caller: Option<u32>, return_address: u64) -> Option<u32> {
        self.find(return_address, function);
        let Some(Between { gone, undecided }) = self.gone.get(&(return_address, function)) else { return caller };
        let decided = taken_on_stack(self.growing.contexts(), self.sites, caller, &gone.choices, function);
        let functions = decided.as_ref().map_or(gone.functions.as_slice(), Option::as_slice);
        let mut context = caller;
        for (at, function) in functions.iter().enumerate() {
            let doubt = if gone.is_doubtful && at >= gone.certain { Doubt::Frame } else { Doubt::None };
            context = self.growing.add(context, Frame::Function(*function), doubt);
        }
        // Other functions may stand between the last function that is certain and this one.
        let is_between = gone.is_doubtful && functions.len() <= gone.certain;
        context =
            self.growing.add(context, Frame::Function(function), if is_between { Doubt::Between } else { Doubt::None });
        if let Some(undecided) = undecided {
            self.growing.note(context, *undecided);
        }
        context
    }
}

/// In so many callers, [`taken_on_stack`] looks for the address of a function.
const MOST_CALLERS: usize = 64;

/// Chooses among the functions that a call through a pointer may have called: `choices`, and `callee`, which is the
/// function of the next frame. The nearest function on the stack that takes the address of any of these decides, if the
/// function takes the address of one only. The result is that one of `choices`, or `Some(None)` for `callee`; `None` if
/// nothing is decided. Where a pointer comes from is evidence, but no proof.
fn taken_on_stack(
    contexts: &Contexts,
    sites: &CallSites<'_, '_>,
    caller: Option<u32>,
    choices: &[FunctionId],
    callee: FunctionId,
) -> Option<Option<FunctionId>> {
    let mut next = caller.filter(|_| !choices.is_empty()).map(|caller| caller as usize);
    for _ in 0..MOST_CALLERS {
        let context = contexts.all().get(next?)?;
        if let Frame::Function(by) = context.frame {
            let mut taken = choices.iter().copied().filter(|of| sites.takes_address(by, *of));
            match (taken.next(), sites.takes_address(by, callee)) {
                (None, false) => {}
                (None, true) => return Some(None),
                (Some(one), false) if taken.next().is_none() => return Some(Some(one)),
                _ => return None,
            }
        }
        next = context.parent();
    }
    None
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
