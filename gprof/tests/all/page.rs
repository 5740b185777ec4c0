//! The page in a browser, used as a person uses the page. Without Chromium, the tests say SKIPPED.

use std::fs;
use std::io::sink;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::prelude::{BASE64_STANDARD, Engine};
use gprof::{Format, Options};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::knots::{knots, options, with_analysis};
use crate::pictures::{by_thread, numbers, page_of, render, with_program};

/// A browser, and the page of `knots` with stacks of two threads.
fn opened(name: &str) -> Option<(Browser, PathBuf)> {
    let path = with_analysis(options(), Some(by_thread()), |analysis| page_of(analysis, name));
    let browser = Browser::start(&path.with_extension("driven"))?;
    Some((browser, path))
}

/// The rows of the flat profile: name, self time, total time.
const ROWS: &str = "Array.from(document.querySelectorAll('#rows .row'), (row) => \
                    [5, 1, 3].map((at) => row.cells[at].firstChild.data).join(' ')).join('\\n')";

/// The view that is shown.
const VIEW: &str = "Array.from(document.querySelectorAll('section'), (part) => part.hidden ? '' : part.id).join('')";

/// The name of the frame in the middle of a row of the flame graph is what the page says of the frame.
fn frame(browser: &mut Browser, row: f64) -> String {
    browser.click("#flame canvas", Some((300.0, 19.0 * row + 9.0)));
    browser.text("document.querySelector('#flame .detail').textContent.split(' · ')[0]")
}

/// Fails if the page keeps a choice only in its scripts, or if "back" leads out of the page.
#[test]
fn the_address_has_what_the_page_shows() {
    let Some((mut browser, path)) = opened("state") else { return };
    browser.open(&path, "");
    assert_eq!(browser.text(VIEW), "flat");
    browser.click("#tabs button:nth-child(2)", None);
    assert_eq!((browser.text(VIEW), browser.fragment()), ("flame".to_owned(), "#flame".to_owned()));
    browser.type_into("#search", "^gre+n$");
    assert_eq!(browser.fragment(), "#flame&search=%5Egre%2Bn%24");
    browser.choose("#thread", "1");
    browser.choose("#colors", "file");
    browser.click("#flame [value=callees]", None);
    browser.click("#filters summary", None);
    browser.type_into("#focus", "blue");
    let all = "#flame&search=%5Egre%2Bn%24&thread=1&root=callees&colors=file&focus=blue";
    assert_eq!(browser.fragment(), all);
    // burn is the only leaf, and has the whole second row.
    assert_eq!(frame(&mut browser, 1.0), "found: 100.00 %");
    let zoomed = browser.fragment();
    assert_eq!(zoomed, all.replace("&focus", "&zoom=1&focus"));
    let controls = "JSON.stringify(['search', 'thread', 'colors', 'focus'].map((id) => document.getElementById(id).value)\
                    .concat(document.querySelector('[name=root]:checked').value))";
    let shown = "[\"^gre+n$\",\"1\",\"file\",\"blue\",\"callees\"]";
    assert_eq!(browser.text(controls), shown);
    let found = browser.text("document.getElementById('found').textContent");
    assert!(found.starts_with("found: 1 function, self 0.000 s (0.00 %), total "), "{found}");
    browser.reload();
    assert_eq!((browser.text(controls), browser.fragment()), (shown.to_owned(), zoomed.clone()));
    assert_eq!(browser.text("document.getElementById('found').textContent"), found);
    // The steps back: the frame, the filter, the root, the colors, the thread, the search, the view.
    let mut steps = Vec::new();
    for _ in 0..7 {
        browser.go(-1);
        steps.push(browser.fragment());
    }
    let search = "#flame&search=%5Egre%2Bn%24";
    let expected = [
        all.to_owned(),
        all.replace("&focus=blue", ""),
        format!("{search}&thread=1&colors=file"),
        format!("{search}&thread=1"),
        search.to_owned(),
        "#flame".to_owned(),
        String::new(),
    ];
    assert_eq!(steps, expected);
    assert_eq!(
        (browser.text(VIEW), browser.text(controls)),
        ("flat".into(), "[\"\",\"-1\",\"kind\",\"\",\"callers\"]".into())
    );
    (0..7).for_each(|_| browser.go(1));
    assert_eq!((browser.text(controls), browser.fragment()), (shown.to_owned(), zoomed));
    // Whatever else an address says is nothing.
    browser.open(&path, "#flame&root=x&thread=99&zoom=12345&image=-7&function=1e9&search=(&unknown=1");
    assert_eq!(browser.text(VIEW), "flame");
    browser.open(&path, "#constructor&root=constructor&thread=length");
    assert_eq!(browser.text(VIEW), "flat");
}

/// Fails if the button copies the address of the file without what the page shows.
#[test]
fn a_button_copies_the_link() {
    let Some((mut browser, path)) = opened("link") else { return };
    browser.open(&path, "#flame&search=burn");
    // The clipboard of a browser without a screen is not that of a person.
    browser.value("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }");
    browser.click("#link", None);
    assert_eq!(browser.text("window.copied"), browser.text("location.href"));
    assert_eq!(browser.text("document.getElementById('link').textContent"), "copied");
}

/// Names, self times and total times of the functions with time, as the rows of the flat profile.
fn rows(browser: &mut Browser) -> Vec<(String, f64, f64)> {
    let text = browser.text(ROWS);
    let row = |line: &str| {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap().to_owned();
        (next(), next().parse::<f64>().unwrap(), next().parse::<f64>().unwrap())
    };
    text.lines().map(row).collect()
}

/// The stacks of [`crate::knots::KNOTS`] with which `keeps` agrees, as times of functions in seconds: self and total.
fn expected(name: &str, keeps: impl Fn(&[&str]) -> bool, frames: impl Fn(&[&str]) -> Vec<String>) -> (f64, f64) {
    let mut times = (0.0, 0.0);
    for (text, ticks) in crate::knots::KNOTS {
        let stack: Vec<&str> = text.split(' ').collect();
        if keeps(&stack) {
            let (frames, time) = (frames(&stack), ticks as f64 / 100.0);
            times.0 += if frames.last().is_some_and(|last| last == name) { time } else { 0.0 };
            times.1 += if frames.iter().any(|frame| frame == name) { time } else { 0.0 };
        }
    }
    times
}

/// A filter of a stack: the field, its pattern, the stacks that stay, and the frames that stay of such a stack.
type Filter = (&'static str, &'static str, fn(&[&str]) -> bool, fn(&[&str]) -> Vec<String>);

fn same(stack: &[&str]) -> Vec<String> {
    stack.iter().map(|name| (*name).to_owned()).collect()
}

/// Fails if a filter tests only the last frame, sums recursion twice, gives hidden time to nobody, or cuts at the
/// innermost frame instead of the outermost.
#[test]
fn filters_keep_what_pprof_keeps() {
    let Some((mut browser, path)) = opened("filters") else { return };
    let filters: [Filter; 5] = [
        ("focus", "^blue$", |stack| stack.contains(&"blue"), same),
        ("ignore", "^(odd|even)$", |stack| !stack.contains(&"odd") && !stack.contains(&"even"), same),
        ("hide", "^burn$", |stack| stack.len() > 1, |stack| same(&stack[..stack.len() - 1])),
        (
            "hide",
            "^(green|depth)$",
            |_| true,
            |stack| same(stack).into_iter().filter(|name| name != "green" && name != "depth").collect(),
        ),
        (
            "from",
            "^(red|blue)$",
            |stack| stack.contains(&"red"),
            |stack| same(&stack[stack.iter().position(|name| *name == "red").unwrap()..]),
        ),
    ];
    for (field, pattern, keeps, frames) in filters {
        browser.open(&path, "#flat");
        browser.click("#filters summary", None);
        browser.type_into(&format!("#{field}"), pattern);
        let found = rows(&mut browser);
        for name in ["main", "red", "green", "blue", "odd", "even", "depth", "burn"] {
            let (own, total) = found.iter().find(|row| row.0 == name).map_or((0.0, 0.0), |row| (row.1, row.2));
            let wanted = expected(name, keeps, frames);
            assert!(
                (own - wanted.0).abs() < 1e-6 && (total - wanted.1).abs() < 1e-6,
                "{field} {pattern} {name}: {own} {total}, not {wanted:?}"
            );
        }
        // The link leads to the same times.
        browser.reload();
        assert_eq!(rows(&mut browser), found);
        browser.type_into(&format!("#{field}"), "");
        assert!(browser.fragment() == "#flat" && rows(&mut browser) != found);
    }
}

/// Fails if a search counts a function within itself again, or counts the functions that the thread does not run.
#[test]
fn a_search_counts_recursion_once() {
    let Some((mut browser, path)) = opened("search") else { return };
    browser.open(&path, "#flat");
    browser.type_into("#search", "depth|burn");
    // Two samples have no stack.
    let own = expected("burn", |_| true, same).0 + 0.02;
    let found = browser.text("document.getElementById('found').textContent");
    let all = format!("found: 2 functions, self {own:.3} s (");
    assert!(found.starts_with(&all) && found.contains(&format!(", total {own:.3} s (")), "{found}, not {all}");
    browser.type_into("#search", "^depth$");
    let (_, total) = expected("depth", |_| true, same);
    let found = browser.text("document.getElementById('found').textContent");
    assert!(found.contains(&format!("self 0.000 s (0.00 %), total {total:.3} s (")), "{found}, not {total}");
}

/// Fails if frames of one object stay apart, or if a thread's time is not that of its stacks.
#[test]
fn frames_are_functions_files_objects_or_threads() {
    let Some((mut browser, path)) = opened("roots") else { return };
    browser.open(&path, "#flame");
    assert_eq!(frame(&mut browser, 1.0), "main");
    browser.key("Escape");
    browser.click("#flame [value=objects]", None);
    assert_eq!(frame(&mut browser, 1.0), "knots");
    browser.click("#flame [value=threads]", None);
    // The second thread has twice the time of the first.
    assert_eq!(frame(&mut browser, 1.0), "thread other");
    assert_eq!(frame(&mut browser, 2.0), "main");
    browser.click("#flame [value=files]", None);
    assert!(browser.fragment().ends_with("root=files"));
    browser.open(&path, "#flame&root=callees");
    assert_eq!(frame(&mut browser, 1.0), "burn");
    // Without threads, there is no such choice.
    let path = with_analysis(options(), Some(knots()), |analysis| page_of(analysis, "roots-alone"));
    browser.open(&path, "#flame&root=threads");
    assert_eq!(browser.text("document.querySelector('#flame [name=root]:checked').value"), "callers");
    assert!(browser.value("document.querySelector('#flame [value=threads]').offsetParent === null").as_bool().unwrap());
}

/// Self and total times of functions, in seconds, as an analysis with these options has them.
fn filtered(options: &Options) -> Vec<(String, f64, f64)> {
    let loaded = gprof::load(&crate::knots::options(), &mut sink()).unwrap().with_stacks(knots());
    let kept = gprof::internals::keep_stacks(loaded, options).unwrap();
    let analysis = gprof::analyze(&kept, options, &mut sink()).unwrap();
    let seconds = |samples: f64| analysis.clock().time(samples);
    let of = |function: gprof::FunctionTimes| {
        let name = String::from_utf8(analysis.name(function.id).into_owned()).unwrap();
        (name, seconds(function.own), seconds(function.inclusive))
    };
    let times = analysis.function_times().map(of).collect();
    // Each output is about the same samples.
    let all: f64 = numbers(&analysis)["own"].as_array().unwrap().iter().map(|own| own.as_f64().unwrap()).sum();
    let folded = render(&analysis, Format::Folded);
    let folded: f64 = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum();
    assert!((all - folded / 100.0).abs() < 1e-9, "{all} {folded}");
    times
}

/// Fails if the filters of the command line tell other times than those of the page, forget the samples of hidden
/// functions, or take a hidden caller for a tail call.
#[test]
fn options_filter_as_the_page_does() {
    type With = fn(Options) -> Result<Options, gprof::Error>;
    type Kept = fn(&[&str]) -> bool;
    type Left = fn(&[&str]) -> Vec<String>;
    let filters: [(With, Kept, Left); 6] = [
        (|options| options.focus("blue"), |stack| stack.contains(&"blue"), same),
        (
            |options| options.ignore("odd")?.ignore("ev*"),
            |stack| !stack.contains(&"odd") && !stack.contains(&"even"),
            same,
        ),
        (|options| options.hide("burn"), |_| true, |stack| same(&stack[..stack.len() - 1])),
        (
            |options| options.hide("green")?.hide("depth"),
            |_| true,
            |stack| same(stack).into_iter().filter(|name| name != "green" && name != "depth").collect(),
        ),
        (
            |options| options.show_from("red")?.show_from("blue"),
            |stack| stack.contains(&"red"),
            |stack| same(&stack[stack.iter().position(|name| *name == "red").unwrap()..]),
        ),
        (
            |options| options.focus("odd")?.ignore("even")?.hide("main"),
            |stack| stack.contains(&"odd") && !stack.contains(&"even"),
            |stack| same(&stack[1..]),
        ),
    ];
    for (at, (with, keeps, frames)) in filters.into_iter().enumerate() {
        let found = filtered(&with(options()).unwrap());
        for name in ["main", "red", "green", "blue", "odd", "even", "depth", "burn"] {
            let (own, total) = found.iter().find(|row| row.0 == name).map_or((0.0, 0.0), |row| (row.1, row.2));
            let wanted = expected(name, keeps, frames);
            let is_same = (own - wanted.0).abs() < 1e-9 && (total - wanted.1).abs() < 1e-9;
            assert!(is_same, "{at} {name}: {own} {total}, not {wanted:?}");
        }
    }
    let keep =
        |options: Options, loaded| gprof::internals::keep_stacks(loaded, &options).map(drop).unwrap_err().to_string();
    let load = || gprof::load(&options(), &mut sink()).unwrap();
    assert!(keep(options().focus("main").unwrap(), load()).contains("stacks"));
    let unknown = keep(options().focus("nobody").unwrap(), load().with_stacks(knots()));
    assert!(unknown.starts_with("'--focus nobody': no function 'nobody'"), "{unknown}");
}

/// Runs gprof without a display. `directory` is the current directory, and has temporary files.
fn gprof(directory: &Path, browser: &str, words: &[&str]) -> Output {
    let file = |suffix: &str| Path::new(crate::knots::DATA).join(format!("bsd/knots{suffix}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_gprof"));
    command.current_dir(directory).env("TMPDIR", directory).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.env("BROWSER", browser).args(words).args([file(""), file(".gmon")]).output().unwrap()
}

/// Fails if others can read the page, a failed browser ends the run silently, or a failed run leaves its directory.
#[test]
fn a_browser_opens_a_private_page() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("open");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let made = || fs::read_dir(&directory).unwrap().filter(|made| made.as_ref().unwrap().path().is_dir()).count();
    for browser in ["", "false", "no-such-browser:false %s"] {
        let output = gprof(&directory, browser, &["--open"]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{browser}: {printed}");
        let page = Path::new(printed.strip_suffix('\n').unwrap());
        assert!(page.starts_with(&directory) && page.ends_with("profile.html"), "{printed}");
        assert_eq!(page.parent().unwrap().metadata().unwrap().permissions().mode() & 0o7777, 0o700);
        assert!(fs::read_to_string(page).unwrap().starts_with("<!DOCTYPE html>"));
    }
    let output = gprof(&directory, "false:cp %s shown", &["--open"]);
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(fs::read_to_string(directory.join("shown")).unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(made(), 4);
    let output = gprof(&directory, "", &["--open", "--thread=nobody"]);
    assert!(!output.status.success() && output.stdout.is_empty() && made() == 4);
    for (words, other) in [
        (["--open", "--format=json"], "--format"),
        (["--open", "-ox.svg"], "--output"),
        (["--open", "--table"], "--table"),
    ] {
        let said = String::from_utf8(gprof(&directory, "", &words).stderr).unwrap();
        assert!(said.contains(&format!("'--open' and '{other}' cannot be used together")), "{said}");
    }
    // GNU's abbreviation of --ignore-non-functions keeps its meaning.
    for words in [["-b", "--ignore"], ["-b", "--ignor"], ["-b", "-D"]] {
        let output = gprof(&directory, "", &words);
        assert!(output.status.success() && output.stdout == gprof(&directory, "", &["-b", "-D"]).stdout, "{words:?}");
    }
    let said = String::from_utf8(gprof(&directory, "", &["--focus=main"]).stderr).unwrap();
    assert!(said.contains("stacks"), "{said}");
}

/// The text of the head, and whether the head is open.
fn head(browser: &mut Browser) -> (String, bool) {
    let text = browser.text("document.getElementById('about').textContent");
    (text, browser.value("document.getElementById('about').open").as_bool().unwrap())
}

/// Fails if the head names functions in another order than that of their times, or warnings are missing or stand twice.
#[test]
fn the_head_tells_what_was_run_and_what_the_numbers_say() {
    let page = with_analysis(options(), Some(knots()), |analysis| render(analysis, Format::Html));
    let sentences: Vec<&str> = page.split("<li>").skip(1).map(|part| part.split("</li>").next().unwrap()).collect();
    assert_eq!(sentences[0], "Most self time: burn 100.0 %.");
    assert_eq!(sentences[1], "Most time with called functions: burn 100.0 %, main 97.0 %, odd 45.8 %.");
    assert!(page.contains("<tr><th scope=\"row\">rate</th><td>100 samples a second</td></tr>"), "{page}");
    for unknown in ["command line", "host", "duration", "build ID"] {
        assert!(!page.contains(&format!("<th scope=\"row\">{unknown}</th>")), "{unknown}");
    }
    for mark in ["±", "(?)", "hatched frame", "–, not counted", "~"] {
        assert!(page.contains(&format!("<dt>{mark}</dt>")), "{mark}");
    }
    // 1000 cheap calls of `leaf` take most of the time of `dear`.
    let page = with_program(
        &["main", "dear", "once", "leaf"],
        &[(0, 1, 1), (0, 2, 1), (1, 3, 9000), (2, 3, 1000)],
        |analysis| render(analysis, Format::Html),
    );
    assert!(page.contains("<li>A call of leaf is cheap, but 9000 calls by dear take 22.5 %.</li>"), "{page}");
    let Some((mut browser, path)) = opened("head") else { return };
    browser.open(&path, "");
    assert!(!head(&mut browser).1);
    browser.click("#about summary", None);
    let (text, is_open) = head(&mut browser);
    assert!(is_open && text.contains("burn 100.0 %") && text.contains("program"), "{text}");
}

/// Warnings that go to the standard error stand in the page too.
#[test]
fn the_page_has_the_warnings_of_the_run() {
    let mut said = Vec::new();
    let wanted = options().inlines(true);
    let loaded = gprof::load(&wanted, &mut said).unwrap();
    let analysis = gprof::analyze(&loaded, &wanted, &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    let page = render(&analysis, Format::Html);
    for line in said.lines() {
        let warning = line.strip_prefix("gprof: ").unwrap();
        assert_eq!(page.matches(&format!("class=\"warning\">{warning}</p>")).count(), 1, "{warning}");
    }
    assert!(said.lines().count() > 0);
}

/// The number of pages of a PDF file.
fn pages(pdf: &[u8]) -> usize {
    let text = String::from_utf8_lossy(pdf);
    text.matches("/Type /Page\n").count() + text.matches("/Type /Page ").count() + text.matches("/Type /Page/").count()
}

/// Fails if a print has the controls, more than a page, or an empty flame graph.
#[test]
fn a_print_has_one_page() {
    let Some((mut browser, path)) = opened("print") else { return };
    for fragment in ["", "#flame&search=blue", "#graph", "#treemap&focus=blue"] {
        browser.open(&path, fragment);
        let printed = browser.ask("Page.printToPDF", json!({"printBackground": true}));
        let pdf = BASE64_STANDARD.decode(printed["data"].as_str().unwrap()).unwrap();
        assert!(pdf.starts_with(b"%PDF-") && pages(&pdf) == 1, "{fragment}: {} pages", pages(&pdf));
        let rows = browser.value("document.querySelectorAll('#print tr').length").as_u64().unwrap();
        assert!((2..=16).contains(&rows), "{fragment}: {rows}");
        // The flame graph has painted points in the row of the outermost function.
        let is_painted = "(() => { const canvas = document.querySelector('#print canvas'); const at = canvas.getContext('2d')\
                          .getImageData(canvas.width / 2, canvas.height * 0.1, 1, 1).data; return at[3] > 0; })()";
        assert_eq!(browser.value(is_painted), Value::Bool(true), "{fragment}");
    }
}

/// Names that try to leave the element, the string, the address, or the line that they are in.
fn hostile() -> Vec<&'static str> {
    let long: &'static str = "x".repeat(10_000).leak();
    vec![
        "main",
        "</script><script>window.hit=1</script>",
        "\"><img src=x onerror=window.hit=1>",
        "'-alert(1)-'&#x27;\\",
        "\u{202e}gnp.\u{200f}exe\u{2066}",
        long,
        "__proto__",
        "&search=<b>#%00%ff?",
        "constructor",
    ]
}

/// Fails if a name is an element, a key of an object, or a part of an address anywhere in the page.
#[test]
fn hostile_names_are_texts_everywhere() {
    let names = hostile();
    let calls: Vec<(usize, usize, u64)> = (1..names.len()).map(|at| (at - 1, at, 10)).collect();
    let path = with_program(&names, &calls, |analysis| page_of(analysis, "hostile-driven"));
    let Some(mut browser) = Browser::start(&path.with_extension("driven")) else { return };
    let views = ["flat", "flame", "sandwich", "treemap", "dominators", "graph", "accounts"];
    for view in views {
        browser.open(&path, &format!("#{view}"));
        browser.value("dispatchEvent(new Event('beforeprint'))");
        for at in 0..names.len() {
            browser.value(&format!("location.hash = '#{view}&function={at}'"));
        }
        for (field, name) in ["search", "focus", "ignore", "hide", "from"]
            .into_iter()
            .flat_map(|field| names.iter().map(move |name| (field, name)))
        {
            let given = format!("location.hash = '#{view}&root=files&{field}=' + encodeURIComponent({})", json!(name));
            browser.value(&given);
            browser.value("new Promise((done) => setTimeout(done))");
        }
        assert_eq!(
            browser.value("window.hit === undefined && document.querySelector('img, b') === null"),
            Value::Bool(true),
            "{view}"
        );
        assert_eq!(browser.value("document.scripts.length"), json!(2), "{view}");
        assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), Value::Bool(true), "{view}");
    }
    // The names are there as they are, with control characters as escapes.
    browser.open(&path, "#flat");
    let shown = browser
        .text("Array.from(document.querySelectorAll('#rows .row'), (row) => row.cells[5].textContent).join('\\n')");
    for name in names.iter().filter(|name| name.is_ascii()) {
        assert!(shown.lines().any(|line| line == *name), "{name:.40}");
    }
    assert!(!shown.contains('\u{202e}') && shown.contains("\\u{202e}gnp.\\u{200f}exe\\u{2066}"));
}
