//! Which function of the test programs calls which, and whether the chains of samples are right.

/// Each function of the programs, and the functions that call it.
const CALLERS: &[(&str, &[&str])] = &[
    ("leaf", &["compare", "recursion", "jumps", "callback", "Guard::~Guard"]),
    (
        "recursion",
        &[
            "recursion",
            "small_thread",
            "on_usr2",
            "coroutine_body",
            "run_coroutine",
            "generated",
            "other_thread",
            "run_exceptions",
            "run_deep",
        ],
    ),
    ("compare", &["sort"]),
    ("sort", &["run_qsort"]),
    ("jumps", &["jumps", "run_longjmp"]),
    ("on_usr2", &["run_altstack"]),
    ("generated", &["run_jit"]),
    ("callback", &["plugin_middle"]),
    ("plugin_leaf", &["plugin_middle", "plugin_begins"]),
    ("plugin_middle", &["plugin_work"]),
    ("plugin_here", &["plugin_begins", "load_and_close"]),
    // The functions of an object have no names until loaded_at has told where the object is.
    ("loaded_at", &["plugin_here", "load_and_close"]),
    ("plugin_work", &["load_and_close"]),
    ("plugin_begins", &["load_and_close"]),
    ("plugin_ends", &["load_and_close"]),
    ("Guard::~Guard", &["throws"]),
    ("throws", &["throws", "run_exceptions"]),
    ("run_qsort", &["main"]),
    ("run_longjmp", &["main"]),
    ("run_deep", &["main"]),
    ("run_small_thread", &["main"]),
    ("run_altstack", &["main"]),
    ("run_lazy", &["main"]),
    ("run_coroutine", &["main"]),
    ("run_jit", &["main"]),
    ("load_and_close", &["run_plugins", "closing_thread"]),
    ("run_plugins", &["main"]),
    ("run_exceptions", &["main"]),
    ("main", &[]),
    ("small_thread", &[]),
    ("other_thread", &[]),
    ("closing_thread", &[]),
    ("coroutine_body", &[]),
];

/// The functions that no function of the programs calls.
pub(crate) const OUTERMOST: [&str; 5] = ["main", "small_thread", "other_thread", "closing_thread", "coroutine_body"];

/// The known function with a name.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    CALLERS.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// The functions of a chain that are known, the innermost first.
pub(crate) struct Chain {
    pub(crate) names: Vec<&'static str>,
    /// Whether the innermost frame of all is known.
    pub(crate) is_innermost_known: bool,
    pub(crate) is_whole: bool,
}

/// Checks the chains of a program. `may_be_cut` gets the outermost known function of a chain that is cut.
pub(crate) fn check(what: &str, chains: &[Chain], expected: &[&str], may_be_cut: impl Fn(&str) -> bool) {
    let callers = |name: &str| CALLERS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, callers)| callers);
    for Chain { names, is_innermost_known, is_whole } in chains {
        for pair in names.windows(2) {
            assert!(
                callers(pair[0]).contains(&pair[1]),
                "{what}: {} was not called by {}: {names:?}",
                pair[0],
                pair[1]
            );
        }
        let Some(outermost) = names.last() else { continue };
        if *is_whole {
            assert!(OUTERMOST.contains(outermost), "{what}: {names:?}");
        } else {
            assert!(!is_innermost_known || may_be_cut(outermost), "{what}: cut: {names:?}");
        }
    }
    assert!(
        chains.iter().any(|chain| chain.names.windows(expected.len()).any(|part| part == expected)),
        "{what}: no sample in {expected:?}"
    );
}
