use crate::card::rays;
use crate::text::{Line, capitals, fitting, lines};
use crate::{CHALK, Colors, INK, Subject, svg};
use std::fmt::Write;

/// What the wrapper of a pack shows.
#[derive(Debug, Clone, Copy)]
pub struct Wrapper<'a> {
    /// Name of the pack.
    pub name: &'a str,
    /// A line under the name, such as the number of cards.
    pub note: &'a str,
    /// The colours of the club.
    pub colors: Colors,
    /// The drawing.
    pub subject: Subject,
}

/// The wrapper of a pack, of 200 by 280.
pub fn wrapper(wrapper: &Wrapper<'_>) -> String {
    let spot = wrapper.colors.spot();
    let bright = if spot.text() == INK { spot.to_string() } else { CHALK.to_owned() };
    let outline = outline();
    let crimp = crimp();
    let subject = wrapper.subject.draw(&spot.to_string(), 7);
    let lines = lines(&wrapper.name.to_uppercase(), 13);
    let mut name = String::new();
    let (top, most) = if lines.len() > 1 { (198.0, 21.0) } else { (210.0, 33.0) };
    for (line, place) in lines.iter().zip(0_u32..) {
        let y = f64::from(place).mul_add(20.0, top);
        let place = Line { x: 100.0, y, fill: CHALK, ..Line::default() };
        name.push_str(&capitals(line, 172.0, most, &place));
    }
    let note = Line {
        x: 100.0,
        y: 231.0,
        size: fitting(wrapper.note, 172.0, 12.0),
        fill: &bright,
        anchor: "middle",
    };
    let content = format!(
        "<clipPath id=\"p\"><path d=\"{outline}\"/></clipPath><g clip-path=\"url(#p)\">\
         <path fill=\"{spot}\" d=\"M0 0h200v280H0z\"/><path fill=\"{CHALK}\" d=\"{}\"/>\
         <path fill=\"{spot}\" d=\"M0 0h200v26H0zM0 254h200v26H0z\"/><path fill=\"{INK}\" d=\"{crimp}\"/>\
         <path fill=\"{INK}\" d=\"M0 25h200v3H0zM0 252h200v3H0zM0 178h200v60H0zM0 170h200v4H0zM0 242h200v4H0z\"/>\
         <circle cx=\"100\" cy=\"100\" r=\"58\" fill=\"{spot}\"/></g>\
         <g transform=\"translate(49 48) scale(.85)\">{subject}</g>{name}{}\
         <path d=\"{outline}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"2\"/>",
        rays(100.0, 100.0, 230.0),
        note.draw(wrapper.note)
    );
    svg(200, 280, wrapper.name, &content)
}

/// A rectangle whose upper and lower edges are cut in teeth.
fn outline() -> String {
    format!("M10 5{}V275{}z", "l3-4 3 4".repeat(30), "l-3 4-3-4".repeat(30))
}

/// The pressed ends of the wrapper.
fn crimp() -> String {
    let mut path = String::new();
    for place in 0..33_u32 {
        let x = f64::from(place).mul_add(5.5, 12.0);
        let _ = write!(path, "M{x:.1} 7h1.600v15h-1.600zM{x:.1} 258h1.600v15h-1.600z");
    }
    path
}
