//! Makes the tree of calling contexts from the tree of return addresses.

use std::collections::HashMap;

use super::call_sites::{CallSites, Gone};
use super::tree::{Contexts, Doubt, Frame, Growing, Undecided};
use crate::program::symbols::functions::{FunctionId, Functions};
use crate::sources::stacks::{Place, StackNode, Stacks};

/// Returns the names of the functions that were inlined at an address, the outermost first.
pub type InlinedAt<'a, 'data> = dyn Fn(u64) -> Vec<&'data [u8]> + 'a;

/// Makes the tree of contexts.
#[must_use]
pub fn contexts<'s>(stacks: &Stacks, functions: &Functions<'s>, sites: &CallSites<'_, 's>) -> Contexts {
    with_inlined(stacks, functions, sites, None).0
}

/// Makes the tree of contexts. With `inlined_at`, inlined functions have frames of their own. Returns the names of
/// these functions.
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

    /// Adds a node with an address. The ticks belong to the instruction at the address; callees belong to the
    /// instruction before, which may be in another function.
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
    /// What functions on the stack say about the choices.
    evidence: Evidence,
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
        self.gone.insert((return_address, function), Between { gone, undecided, evidence: Evidence::default() });
    }

    /// Adds the frame of a function that a call instruction of `caller` led to, after the functions that left the stack
    /// before.
    fn called(&mut self, function: FunctionId, caller: Option<u32>, return_address: u64) -> Option<u32> {
        self.find(return_address, function);
        let Some(Between { gone, undecided, evidence }) = self.gone.get_mut(&(return_address, function)) else {
            return caller;
        };
        let sites = self.sites;
        let find = |by| Taken::by(|of| sites.takes_address(by, of), &gone.choices, function);
        let decided =
            if gone.choices.is_empty() { None } else { evidence.on_stack(self.growing.contexts(), caller, find) };
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

/// What a function says about a call through a pointer, by the addresses of functions that the function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    /// The function takes the address of no function that the call may have called.
    Nothing,
    /// The function takes the address of one: of a choice, or of the function of the next frame (`None`).
    One(Option<FunctionId>),
    /// The function takes the addresses of several.
    Several,
}

impl Taken {
    /// What a function says that takes the addresses for which `takes` is true.
    fn by(takes: impl Fn(FunctionId) -> bool, choices: &[FunctionId], callee: FunctionId) -> Taken {
        let mut taken = choices.iter().copied().filter(|of| takes(*of));
        match (taken.next(), takes(callee)) {
            (None, false) => Taken::Nothing,
            (None, true) => Taken::One(None),
            (Some(one), false) if taken.next().is_none() => Taken::One(Some(one)),
            _ => Taken::Several,
        }
    }
}

/// In so many callers, [`Evidence::on_stack`] looks for the address of a function.
const MOST_CALLERS: usize = 64;

/// What functions say about one call through a pointer. A call has many nodes in the tree, and their stacks have the
/// same functions: each function is asked once.
#[derive(Default)]
struct Evidence(HashMap<FunctionId, Taken>);

impl Evidence {
    /// Chooses among the functions that the call may have called: the choices, and the function of the next frame. The
    /// nearest function on the stack that takes the address of any of these decides, if the function takes the address
    /// of one only. The result is that one of the choices, or `Some(None)` for the function of the next frame; `None`
    /// if nothing is decided. `find` finds what a function says. Where a pointer comes from is evidence, but no proof.
    fn on_stack(
        &mut self,
        contexts: &Contexts,
        caller: Option<u32>,
        find: impl Fn(FunctionId) -> Taken,
    ) -> Option<Option<FunctionId>> {
        let mut next = caller.map(|caller| caller as usize);
        for _ in 0..MOST_CALLERS {
            let context = contexts.all().get(next?)?;
            if let Frame::Function(by) = context.frame {
                match *self.0.entry(by).or_insert_with(|| find(by)) {
                    Taken::Nothing => {}
                    Taken::One(one) => return Some(one),
                    Taken::Several => return None,
                }
            }
            next = context.parent();
        }
        None
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::program::image::Symbol;

    /// Some functions.
    fn functions<const N: usize>() -> [FunctionId; N] {
        let symbol = |at: usize| Symbol {
            address: 16 * at as u64,
            name: &b"abcdefgh"[at..=at],
            is_static: false,
            is_func: true,
        };
        let functions = Functions::new((0..N).map(symbol).collect(), 16 * N as u64);
        std::array::from_fn(|at| functions.find(16 * at as u64).unwrap())
    }

    #[test]
    fn each_function_is_asked_once_about_a_call() {
        let [main, helper, caller, choice] = functions();
        let mut growing = Growing::default();
        let mut stack = |frames: &[FunctionId]| {
            let add = |above, id: &FunctionId| growing.add(above, Frame::Function(*id), Doubt::None);
            frames.iter().fold(None, add)
        };
        let stacks = [vec![main, caller], vec![main, helper, caller], [&[main][..], &[caller; 100]].concat()];
        let stacks: Vec<Option<u32>> = stacks.iter().map(|frames| stack(frames)).collect();
        let contexts = growing.finish();
        let asked = RefCell::new(Vec::new());
        let find = |by| {
            asked.borrow_mut().push(by);
            if by == main { Taken::One(Some(choice)) } else { Taken::Nothing }
        };
        let mut evidence = Evidence::default();
        let mut decided = |stack: usize| evidence.on_stack(&contexts, stacks[stack], find);
        assert_eq!([decided(0), decided(1), decided(0)], [Some(Some(choice)); 3]);
        assert_eq!(decided(2), None, "the function that decides is too far away");
        assert_eq!(*asked.borrow(), [caller, main, helper]);
    }

    #[test]
    fn a_function_decides_if_it_takes_one_address_only() {
        let [one, two, callee, other] = functions();
        let by = |taken: &[FunctionId]| Taken::by(|of| taken.contains(&of), &[one, two], callee);
        assert_eq!([by(&[]), by(&[other])], [Taken::Nothing; 2]);
        assert_eq!([by(&[one]), by(&[two, other])], [one, two].map(|of| Taken::One(Some(of))));
        assert_eq!(by(&[callee]), Taken::One(None));
        assert_eq!([by(&[one, two]), by(&[one, callee]), by(&[one, two, callee])], [Taken::Several; 3]);
    }

    /// A program: `main` calls `b` through a pointer, then `b` by name, and then `c`, which does not return. `main`
    /// takes the address of `b`, and `b` jumps to `d`.
    fn with_program<T>(arcs: &[gmon::Arc], check: impl Fn([FunctionId; 4], &dyn Fn(Stacks) -> Contexts) -> T) -> T {
        let symbol = |at: usize| Symbol {
            address: 0x1000 + 0x20 * at as u64,
            name: [&b"main"[..], b"b", b"c", b"d"][at],
            is_static: false,
            is_func: true,
        };
        let functions = Functions::new((0..4).map(symbol).collect(), 0x1080);
        let mut bytes = vec![0x90; 0x80];
        bytes[..7].copy_from_slice(&[0x48, 0x8d, 0x05, 0x19, 0, 0, 0]);
        bytes[0x0a..0x0c].copy_from_slice(&[0xff, 0xd0]);
        bytes[0x0c..0x11].copy_from_slice(&[0xe8, 0x0f, 0, 0, 0]);
        bytes[0x1b..0x20].copy_from_slice(&[0xe8, 0x20, 0, 0, 0]);
        bytes[0x2b..0x30].copy_from_slice(&[0xe9, 0x30, 0, 0, 0]);
        let code = crate::program::image::Code {
            machine: crate::program::image::Machine::X86_64,
            start: 0x1000,
            bytes: &bytes,
        };
        let sites = CallSites::in_memory(arcs, &functions, code);
        let ids = std::array::from_fn(|at| functions.id(at).unwrap());
        check(ids, &|stacks| contexts(&stacks, &functions, &sites))
    }

    /// The return addresses of the three calls in the program above.
    const SITES: [u64; 3] = [0x100c, 0x1011, 0x1020];

    /// The caller, the frame, and the ticks of each context.
    fn rows(contexts: &Contexts) -> Vec<(Option<usize>, Frame, u64)> {
        contexts.all().iter().map(|context| (context.parent(), context.frame, context.ticks)).collect()
    }

    /// Stacks of one chain of code: each address with its ticks, the outermost first.
    fn chain(nodes: &[(u64, u64)]) -> Stacks {
        let mut stacks = Stacks::new();
        let push = |above, (address, ticks): &(u64, u64)| stacks.push(above, Place::Code(*address), *ticks);
        nodes.iter().fold(None, push);
        stacks
    }

    #[test]
    fn an_address_that_only_callees_return_to_belongs_to_the_call() {
        with_program(&[], |[main, b, c, _], contexts| {
            let [main, b, c] = [main, b, c].map(Frame::Function);
            // The address behind the last instruction of `main` is the beginning of `b`.
            assert_eq!(rows(&contexts(chain(&[(SITES[2], 0), (0x1044, 3)]))), [(None, main, 0), (Some(0), c, 3)]);
            let own_ticks = [(None, b, 2), (None, main, 0), (Some(1), c, 3)];
            assert_eq!(rows(&contexts(chain(&[(SITES[2], 2), (0x1044, 3)]))), own_ticks);
            // The innermost frame is a frame also without ticks.
            assert_eq!(rows(&contexts(chain(&[(0x1044, 0)]))), [(None, c, 0)]);
        });
    }

    #[test]
    fn ticks_of_a_thread_alone_have_no_known_frame() {
        let of_thread = |ticks| {
            let mut stacks = Stacks::new();
            let thread = stacks.push(None, Place::Thread(0), ticks);
            stacks.push(thread, Place::Code(0x1044), 3);
            stacks
        };
        with_program(&[], |[_, _, c, _], contexts| {
            let c = Frame::Function(c);
            assert_eq!(rows(&contexts(of_thread(0))), [(None, c, 3)]);
            assert_eq!(rows(&contexts(of_thread(2))), [(None, Frame::Outside, 2), (None, c, 3)]);
        });
    }

    #[test]
    fn no_call_leads_to_the_frame_of_a_signal() {
        // The signal arrived when `b` had just returned. The next frame returns from the handler, which is the last
        // frame.
        let stacks = chain(&[(SITES[1], 0), (0x1064, 0), (0x1044, 1)]);
        with_program(&[], |[main, _, c, d], contexts| {
            let [main, c, d] = [main, c, d].map(Frame::Function);
            assert_eq!(rows(&contexts(stacks.clone())), [(None, main, 0), (Some(0), d, 0), (Some(1), c, 1)]);
        });
    }

    #[test]
    fn the_function_whose_address_a_caller_takes_is_called_through_the_pointer() {
        // `d` was entered more often than `b`, so without the address `b` would not be on the stack.
        let arcs = [(0x1020, 1), (0x1060, 5)].map(|(called, count)| gmon::Arc::new(SITES[0], called, count));
        with_program(&arcs, |[main, b, _, d], contexts| {
            let [main, b, d] = [main, b, d].map(Frame::Function);
            let found = contexts(chain(&[(SITES[0], 0), (0x1064, 1)]));
            assert_eq!(rows(&found), [(None, main, 0), (Some(0), b, 0), (Some(1), d, 1)]);
        });
    }

    #[test]
    fn inlined_functions_are_frames_between_their_callers_and_their_callees() {
        let [main, callee] = functions();
        let symbol = |address| Symbol { address, name: b"f", is_static: false, is_func: true };
        let functions = Functions::new([0, 16].map(symbol).to_vec(), 32);
        let code = crate::program::image::Code { machine: crate::program::image::Machine::Other, start: 0, bytes: &[] };
        let sites = CallSites::in_memory(&[], &functions, code);
        let inlined_at = |address: u64| -> Vec<&'static [u8]> {
            match address {
                7 => vec![b"outer", b"inner"],
                20 => vec![b"inner"],
                _ => Vec::new(),
            }
        };
        let (contexts, names) = with_inlined(&chain(&[(8, 0), (20, 1)]), &functions, &sites, Some(&inlined_at));
        let expected = [
            (None, Frame::Function(main), 0),
            (Some(0), Frame::Inlined(0), 0),
            (Some(1), Frame::Inlined(1), 0),
            (Some(2), Frame::Function(callee), 0),
            (Some(3), Frame::Inlined(1), 1),
        ];
        assert_eq!((rows(&contexts).as_slice(), names), (&expected[..], vec![&b"outer"[..], b"inner"]));
    }
}
