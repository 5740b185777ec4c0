//! Prints the places of a side file with the most time, with the callees.

use gmon::side_file::SideFile;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or("gmon.out.side".into());
    let Ok(bytes) = std::fs::read(&name) else { return Ok(()) };
    let side = SideFile::parse(&bytes)?;
    let tree = side.contexts();
    let inclusive = tree.inclusive();
    let mut hottest: Vec<usize> = (0..inclusive.len()).collect();
    hottest.sort_by_key(|index| std::cmp::Reverse(inclusive[*index]));
    for index in hottest.into_iter().take(10) {
        let chain = tree.callers(index).map(|node| {
            let place = node.place();
            let path = side.object(place.object).map_or(&b""[..], |object| &object.path);
            format!("{}+{:#x}", path.escape_ascii(), place.address)
        });
        println!("{:8} {}", inclusive[index], chain.collect::<Vec<_>>().join(" < "));
    }
    for (reason, ticks) in side.cut_ticks() {
        println!("{ticks:8} without their callers, reason {}", reason.code());
    }
    Ok(())
}
