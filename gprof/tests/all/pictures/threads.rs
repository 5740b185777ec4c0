//! The page of a run that counted by thread.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use gprof::{Format, Place, Stacks, Thread};
use serde_json::Value;

use super::{numbers, render, run, write};
use crate::knots::{knots, options, with_analysis};

/// The stacks of `knots` in two threads, of which the second has twice the time of the first.
pub(crate) fn by_thread() -> Stacks {
    let (whole, mut stacks) = (knots(), Stacks::new());
    for name in [b"first", b"other"] {
        let thread = Thread { name: name.to_vec(), ..Thread::default() };
        let thread = stacks.add_thread(thread).and_then(|thread| stacks.push(None, Place::Thread(thread), 0));
        let mut indexes: Vec<Option<u32>> = Vec::new();
        for node in whole.nodes() {
            let parent = node.parent().map_or(thread, |parent| indexes[parent as usize]);
            let third = node.ticks() / 3;
            let ticks = if name == b"first" { third } else { node.ticks() - third };
            indexes.push(stacks.push(parent, node.place(), ticks));
        }
    }
    whole.cuts().iter().for_each(|(reason, ticks)| stacks.add_cut(*reason, *ticks));
    stacks.add_profile(whole.covered().ticks, true);
    stacks
}

/// The sum of a column of all threads, null as 0, by the place in the list of all functions or calls.
fn sums(page: &Value, places: &str, column: &str) -> BTreeMap<u64, f64> {
    let mut sums = BTreeMap::new();
    for part in page["parts"].as_array().unwrap() {
        for (place, value) in part[places].as_array().unwrap().iter().zip(part[column].as_array().unwrap()) {
            *sums.entry(place.as_f64().unwrap() as u64).or_insert(0.0) += value.as_f64().unwrap_or(0.0);
        }
    }
    sums
}

#[test]
fn the_threads_of_the_page_are_the_whole() {
    assert_eq!(with_analysis(options(), Some(knots()), numbers)["parts"], Value::Array(Vec::new()));
    let page = with_analysis(options().errors(true), Some(by_thread()), numbers);
    let names: Vec<&Value> = page["parts"].as_array().unwrap().iter().map(|part| &part["name"]).collect();
    assert_eq!(names, ["other", "first", "<no thread>"]);
    for (places, columns) in
        [("functions", ["own", "inclusive", "calls"]), ("arcs", ["callTime", "callCount", "callTime"])]
    {
        for column in columns {
            let sums = sums(&page, places, column);
            for (place, whole) in page[column].as_array().unwrap().iter().enumerate() {
                let (sum, whole) = (sums.get(&(place as u64)).copied().unwrap_or(0.0), whole.as_f64().unwrap_or(0.0));
                assert!((sum - whole).abs() < 1e-4, "{column} {place}: {sum}, not {whole}");
            }
        }
    }
    let all = |flame: &Value| flame["time"][0].as_f64().unwrap();
    let flames: f64 = page["parts"].as_array().unwrap().iter().map(|part| all(&part["flame"])).sum();
    assert!((flames - all(&page["flame"])).abs() < 1e-9);
}

#[test]
fn a_browser_shows_a_thread() {
    let (paths, page, data) = with_analysis(options(), Some(by_thread()), |analysis| {
        (write(analysis, "threads"), render(analysis, Format::Html), numbers(analysis))
    });
    // A script of the test chooses the second thread. The policy of the page permits no such script.
    let (before, policy) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let choice = "<script>const choice = document.getElementById('thread');\
                  choice.value = '1'; choice.dispatchEvent(new Event('change'));</script>";
    let path = paths[0].with_extension("chosen.html");
    fs::write(&path, format!("{before}<meta name=\"test\"{}", policy.replace("</body>", &format!("{choice}</body>"))))
        .unwrap();
    for view in ["flat", "flame", "sandwich", "treemap", "dominators"] {
        let mut command = Command::new("chromium");
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
        command.arg(format!("--user-data-dir={}", path.with_extension("chromium").display()));
        let Some(output) = run(command.arg(format!("file://{}#{view}", path.display()))) else { return };
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("CONSOLE"), "{view}: {said}");
        let (_, select) = shown.split_once("<select id=\"thread\"").unwrap();
        assert!(!select.split_once('>').unwrap().0.contains("hidden"), "{select}");
        assert_eq!(select.split_once('>').unwrap().0.contains("disabled"), view == "dominators", "{select}");
        let row = shown.split("<tr ").find(|row| row.contains("<td class=\"text\">burn</td>")).unwrap_or_default();
        let of =
            |part: &Value| part["own"].as_array().unwrap().iter().map(|own| own.as_f64().unwrap()).fold(0.0, f64::max);
        let [own, all] = [of(&data["parts"][1]), of(&data)].map(|time| format!(">{time:.3}<"));
        assert!(view != "flat" || (row.contains(&own) && !row.contains(&all)), "{own}: {row}");
    }
}
