//! The library as other programs use it: options without a command line, and a renderer of their own.

use std::fmt::Write as _;
use std::io::sink;
use std::path::Path;

use gprof::{Analysis, Calls, Endpoint, Format, FunctionId, LineKind, Node, Options, Terminal};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/");

/// Analyzes a program and a profile of the test data.
fn with_analysis<T>(program: &str, options: impl Fn(Options) -> Options, check: impl Fn(&Analysis<'_>) -> T) -> T {
    let file = |suffix: &str| Path::new(DATA).join(format!("{program}{suffix}"));
    let options = options(Options::new(file(""), [file(".gmon")]));
    let loaded = gprof::load(&options, &mut sink()).unwrap();
    check(&gprof::analyze(&loaded, &options, &mut sink()).unwrap())
}

/// A renderer: writes the arcs of the call graph in the language of Graphviz.
fn graphviz(analysis: &Analysis<'_>) -> String {
    let name = |id: FunctionId| String::from_utf8_lossy(&analysis.name(id)).into_owned();
    let mut text = "digraph {\n".to_owned();
    for node in analysis.entries() {
        let Node::Function(caller) = node else { continue };
        for line in analysis.entry(node).iter().filter(|line| line.kind == LineKind::Callee) {
            let (Endpoint::Function(callee), Calls::Part { some, .. } | Calls::WithinCycle(some)) =
                (line.endpoint, line.calls)
            else {
                continue;
            };
            writeln!(text, "  {:?} -> {:?} [label={some}];", name(caller), name(callee)).unwrap();
        }
    }
    text + "}\n"
}

#[test]
fn a_renderer_needs_the_methods_of_an_analysis_only() {
    let text = with_analysis("bsd/basic", |options| options, graphviz);
    for arc in
        ["\"parse\" -> \"burn\" [label=1000];", "\"emit\" -> \"burn\" [label=360];", "\"main\" -> \"burn\" [label=40];"]
    {
        assert!(text.contains(arc), "{text}");
    }
}

#[test]
fn any_analysis_has_what_json_shows() {
    let json = |analysis: &Analysis<'_>| {
        let mut text = Vec::new();
        gprof::render(analysis, Format::Json, &Terminal::default(), &mut text, &mut sink()).unwrap();
        String::from_utf8(text).unwrap()
    };
    // The options ask for text. The golden is what `--format=json` prints.
    let text = with_analysis("bsd/basic", |options| options.brief(true), json);
    let golden = std::fs::read_to_string(Path::new(DATA).join("json/basic.json")).unwrap();
    assert_eq!(text.replace(DATA, ""), golden);
    // Source locations are read on demand.
    let text = with_analysis("gnu/inlined", |options| options, json);
    let main = text.lines().find(|line| line.contains("\"symbol\":\"main\"")).unwrap();
    assert!(main.contains(".c\",\"line\":") && !main.contains("null"), "{main}");
}

#[test]
fn functions_are_in_their_images_and_have_source_locations() {
    with_analysis(
        "gnu/inlined",
        |options| options,
        |analysis| {
            let mut end = 0;
            for id in analysis.functions() {
                let function = analysis.function(id);
                let code = &analysis.images()[function.image].code;
                assert!(code.start <= function.address && function.address + function.size <= code.end, "{function:?}");
                assert!(function.address >= end, "{function:?}");
                end = function.address + function.size;
            }
            let main = analysis.functions().find(|id| analysis.function(*id).symbol == b"main").unwrap();
            let location = analysis.source_location(main).unwrap();
            assert!(location.file.ends_with(b".c") && location.line > 0, "{location:?}");
        },
    );
}

#[test]
fn unused_functions_are_not_lost() {
    let count = |options: fn(Options) -> Options| {
        with_analysis("bsd/basic", options, |analysis| {
            (analysis.flat_rows().count(), analysis.unused_functions().count(), analysis.all_entries().count())
        })
    };
    let (rows, unused, entries) = count(|options| options);
    let (all_rows, _, all_entries) = count(|options| options.unused(true));
    assert!(unused > 0);
    assert_eq!((rows + unused, entries), (all_rows, all_entries));
    assert_eq!(count(|options| options.top(1)).0, 1);
}
