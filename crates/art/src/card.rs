use crate::text::{Line, capitals, lines};
use crate::{CHALK, Colors, GREY, INK, Subject, svg};
use std::fmt::Write;
use terrace_packs::Rarity;

/// What a card shows.
#[derive(Debug, Clone, Copy)]
pub struct Card<'a> {
    /// Its number in the album, from 1.
    pub number: u32,
    /// The name under the drawing.
    pub name: &'a str,
    /// Frame, pattern, bars and the share of colour follow from it.
    pub rarity: Rarity,
    /// The colours of the team, or of the club.
    pub colors: Colors,
    /// The drawing.
    pub subject: Subject,
}

/// Surfaces of a card.
struct Print {
    /// Frame, in a box of 200 by 280.
    frame: String,
    /// A second, thinner line in the frame.
    rule: &'static str,
    paper: String,
    /// A dark area on the paper.
    panel: &'static str,
    /// Lines and letters on the paper.
    ink: String,
    /// What lies behind the drawing.
    ground: String,
}

/// A collectible as a card of 200 by 280.
pub fn card(card: &Card<'_>) -> String {
    let spot = card.colors.spot();
    let print = print(card.rarity, &spot.to_string(), spot.text());
    let Print { frame, rule, paper, panel, ink, ground } = &print;
    let bars = bars(card.rarity, ink);
    let number = Line { x: 23.0, y: 39.0, size: 26.0, fill: ink, anchor: "start" }
        .draw(&format!("{:02}", card.number));
    let subject = card.subject.draw(&spot.to_string(), card.number);
    let content = format!(
        "<clipPath id=\"f\"><path d=\"{frame}\"/></clipPath><clipPath id=\"w\"><path d=\"M16 46H184V216H16Z\"/></clipPath>\
         <g clip-path=\"url(#f)\"><path fill=\"{paper}\" d=\"M0 0h200v280H0z\"/>\
         <path fill=\"{INK}\" d=\"{panel}\"/>\
         <g clip-path=\"url(#w)\">{ground}</g></g>\
         <g transform=\"translate(30 61) scale(1.17)\">{subject}</g>\
         <path d=\"{frame}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"2\"/>\
         <path d=\"{rule}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"1.500\"/>{number}{bars}{}",
        name(card.name, ink)
    );
    svg(200, 280, card.name, &content)
}

fn name(name: &str, ink: &str) -> String {
    let lines = lines(&name.to_uppercase(), 14);
    let (top, most) = if lines.len() > 1 { (236.0, 19.0) } else { (249.0, 27.0) };
    let mut text = String::new();
    for (line, place) in lines.iter().zip(0_u32..) {
        let y = f64::from(place).mul_add(20.0, top);
        text.push_str(&capitals(line, 164.0, most, &Line { x: 100.0, y, fill: ink, ..Line::default() }));
    }
    text
}

/// One bar for common to five for legendary.
fn bars(rarity: Rarity, ink: &str) -> String {
    let mut path = String::new();
    let count = Rarity::ALL.iter().filter(|other| **other <= rarity).count();
    for place in (0..count).filter_map(|place| u32::try_from(place).ok()) {
        let x = f64::from(place).mul_add(-9.0, 171.0);
        let _ = write!(path, "M{x:.1} 21h6v17h-6z");
    }
    format!("<path fill=\"{ink}\" d=\"{path}\"/>")
}

fn print(rarity: Rarity, spot: &str, on_spot: &str) -> Print {
    let (paper, ink) = match rarity {
        Rarity::Common | Rarity::Uncommon => (CHALK, INK),
        Rarity::Rare => ("#d7dbe3", INK),
        Rarity::Epic => (spot, on_spot),
        Rarity::Legendary => (CHALK, if on_spot == INK { spot } else { CHALK }),
    };
    let panel = if rarity == Rarity::Legendary { "M13 13h174v254H13z" } else { "" };
    let (frame, rule): (String, &str) = match rarity {
        Rarity::Common => ("M4 4H196V276H4Z".to_owned(), ""),
        Rarity::Uncommon => (
            "M18 4H182A14 14 0 0 1 196 18V262A14 14 0 0 1 182 276H18A14 14 0 0 1 4 262V18A14 14 0 0 1 18 4Z"
                .to_owned(),
            "",
        ),
        Rarity::Rare => (
            "M18 4H182A14 14 0 0 0 196 18V262A14 14 0 0 0 182 276H18A14 14 0 0 0 4 262V18A14 14 0 0 0 18 4Z"
                .to_owned(),
            "M22 11H178A17 17 0 0 0 189 22V258A17 17 0 0 0 178 269H22A17 17 0 0 0 11 258V22A17 17 0 0 0 22 11Z",
        ),
        Rarity::Epic => (
            "M26 4H174L196 26V254L174 276H26L4 254V26Z".to_owned(),
            "M29 11H171L189 29V251L171 269H29L11 251V29Z",
        ),
        Rarity::Legendary => (perforated(), "M17 17H183V263H17Z"),
    };
    let ground = ground(rarity, spot, on_spot);
    Print { frame, rule, paper: paper.to_owned(), panel, ink: ink.to_owned(), ground }
}

/// The edge of a stamp: half circles cut out of a rectangle.
fn perforated() -> String {
    let mut path = "M4 4".to_owned();
    for (count, cut) in [
        (12, "h4a4 4 0 0 0 8 0h4"),
        (17, "v4a4 4 0 0 0 0 8v4"),
        (12, "h-4a4 4 0 0 0-8 0h-4"),
        (17, "v-4a4 4 0 0 0 0-8v-4"),
    ] {
        path.push_str(&cut.repeat(count));
    }
    path.push('z');
    path
}

fn ground(rarity: Rarity, spot: &str, on_spot: &str) -> String {
    let mut path = String::new();
    match rarity {
        Rarity::Common => {
            for place in 0..10_u32 {
                let _ = write!(path, "M0 {}h200v9H0z", 46 + place * 18);
            }
            format!("<path fill=\"{GREY}\" d=\"{path}\"/>")
        }
        Rarity::Uncommon => {
            for place in 0..11_u32 {
                let _ = write!(path, "M{} 46h8v170h-8z", 16 + place * 16);
            }
            format!("<path fill=\"{spot}\" opacity=\".45\" d=\"{path}\"/>")
        }
        Rarity::Rare => {
            for place in 0..17_i32 {
                let x = place * 26 - 200;
                let _ = write!(path, "M{x} 218 {} 38", x + 180);
            }
            format!("<path fill=\"none\" stroke=\"{spot}\" stroke-width=\"9\" d=\"{path}\"/>")
        }
        Rarity::Epic => {
            for place in 0..13_u32 {
                let y = 30 + place * 22;
                let _ = write!(path, "M0 {}L100 {y} 200 {}", y + 46, y + 46);
            }
            format!(
                "<path fill=\"none\" stroke=\"{on_spot}\" stroke-width=\"7\" d=\"{path}\"/>\
                 <path fill=\"{spot}\" d=\"M100 52 172 92V168L100 208 28 168V92Z\"/>\
                 <path fill=\"none\" stroke=\"{on_spot}\" stroke-width=\"2\" d=\"M100 59 166 96V164L100 201 34 164V96Z\"/>"
            )
        }
        Rarity::Legendary => format!(
            "<path fill=\"{spot}\" d=\"{}\"/><circle cx=\"100\" cy=\"131\" r=\"76\" fill=\"{INK}\"/>\
             <circle cx=\"100\" cy=\"131\" r=\"69\" fill=\"{spot}\"/>\
             <circle cx=\"100\" cy=\"131\" r=\"64\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.500\" stroke-dasharray=\"2 4\"/>",
            rays(100.0, 131.0, 230.0)
        ),
    }
}

/// Twenty-six rays around a point.
pub(crate) fn rays(x: f64, y: f64, length: f64) -> String {
    let mut path = String::new();
    let turn = std::f64::consts::TAU / 52.0;
    for ray in (0..52_u32).step_by(2) {
        let point = |at: u32| {
            let angle = f64::from(at) * turn;
            (length.mul_add(angle.cos(), x), length.mul_add(angle.sin(), y))
        };
        let (one, other) = (point(ray), point(ray.saturating_add(1)));
        let _ = write!(path, "M{x:.0} {y:.0}L{:.1} {:.1} {:.1} {:.1}z", one.0, one.1, other.0, other.1);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the elements in order, an end with `/` in front; panics where they do not nest.
    fn elements(svg: &str) -> usize {
        let (mut open, mut count) = (Vec::new(), 0);
        for part in svg.split('<').skip(1) {
            let (tag, _) = part.split_once('>').unwrap();
            count += 1;
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap());
            }
        }
        assert!(open.is_empty(), "{open:?}");
        count
    }

    #[test]
    fn every_card_is_well_formed_and_differs_by_rarity() {
        let colors = Colors::parse("#fdb913", "#231f20").unwrap();
        for (name, subject) in Subject::ALL {
            let cards = Rarity::ALL.map(|rarity| {
                card(&Card { number: 7, name: "</svg><script>alert(1)</script>", rarity, colors, subject })
            });
            for (place, one) in cards.iter().enumerate() {
                assert!(elements(one) > 10, "{name}");
                assert!(!one.contains("<script") && !one.contains("href"), "{name}");
                assert!(cards.iter().skip(place + 1).all(|other| other != one), "{name}");
            }
        }
    }
}
