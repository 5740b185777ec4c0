//! The page in a browser, used as a person uses the page. Without Chromium, the tests say SKIPPED.

use std::path::PathBuf;

use crate::browser::Browser;
use crate::knots::{knots, options, with_analysis};
use crate::pictures::{by_thread, page_of};

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
