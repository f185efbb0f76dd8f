//! Pictures of pixels, for places that hold no SVG: pictures of posts and of profiles.

use crate::{Color, Colors, choose, hash};
use std::str::FromStr;

/// Width of the pictures of motifs, in pixels.
const WIDTH: u32 = 960;
/// Height of the pictures of motifs, in pixels.
const HEIGHT: u32 = 640;
/// Width and height of portraits, in pixels.
const SIDE: u32 = 160;
/// Light surfaces and lines.
const CHALK: Color = Color::new(0xf8, 0xf9, 0xfb);
/// Dark surfaces and shadows.
const INK: Color = Color::new(0x11, 0x16, 0x1d);
/// Width and height of a card of a choreography with the gap after it, in pixels.
const CARD: (i64, i64) = (12, 14);
/// The number of cards in a row.
const CARDS: i64 = 80;

/// An opaque picture in sRGB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Painting {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green and blue of every pixel, in rows from the top.
    pub rgb: Vec<u8>,
}

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motif {
    /// A scarf in the colours of a team, on the seats of a stand.
    Scarf,
    /// A stand whose fans hold up cards that form a heart.
    Choreography,
    /// The pitch from above.
    Pitch,
}

/// The text names no motif.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is none of scarf, choreography and pitch")]
pub struct UnknownMotif(pub String);

impl FromStr for Motif {
    type Err = UnknownMotif;

    fn from_str(text: &str) -> Result<Self, UnknownMotif> {
        match text {
            "scarf" => Ok(Self::Scarf),
            "choreography" => Ok(Self::Choreography),
            "pitch" => Ok(Self::Pitch),
            other => Err(UnknownMotif(other.to_owned())),
        }
    }
}

/// Paints a motif in the colours of a team; `key` varies the details.
pub fn painting(motif: Motif, key: &str, colors: Colors) -> Painting {
    let second = colors.pattern();
    match motif {
        Motif::Scarf => paint(WIDTH, HEIGHT, |x, y| scarf(x, y, colors.main, second)),
        Motif::Choreography => choreography(key, colors.main, second),
        Motif::Pitch => paint(WIDTH, HEIGHT, pitch),
    }
}

/// Paints a fan without a face, in front of a pattern in the colours of a team. `key` chooses the pattern.
pub fn portrait(key: &str, colors: Colors) -> Painting {
    let (main, second) = (colors.main, colors.pattern());
    let pattern = choose(&PATTERNS, key, "portrait").copied().unwrap_or(PATTERNS[0]);
    // Whichever is seen better on both colours.
    let seen = |figure: Color| figure.contrast(main).min(figure.contrast(second));
    let figure = if seen(CHALK) > seen(INK) { CHALK } else { INK };
    paint(SIDE, SIDE, |x, y| {
        let is_head = is_within(x, y, (80, 62), (27, 30));
        let is_body = is_within(x, y, (80, 158), (58, 56));
        let is_collar = is_body && is_within(x, y, (80, 102), (22, 14));
        if is_collar {
            main
        } else if is_head || is_body {
            figure
        } else if pattern(x, y) {
            second
        } else {
            main
        }
    })
}

/// Whether a point of a portrait has the second colour.
type Pattern = fn(i64, i64) -> bool;

const PATTERNS: [Pattern; 6] = [
    |x, _| x / 32 % 2 == 1,
    |_, y| y / 32 % 2 == 1,
    |x, _| x >= 80,
    |x, y| (x >= 80) != (y >= 80),
    |x, y| (x - y).abs() <= 28,
    |x, y| (y + (x - 80).abs()) / 40 % 2 == 1,
];

fn paint(width: u32, height: u32, color: impl Fn(i64, i64) -> Color) -> Painting {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (i64::from(x), i64::from(y))));
    let rgb = pixels.flat_map(|(x, y)| color(x, y).channels()).collect();
    Painting { width, height, rgb }
}

/// Whether a point lies in an ellipse with this centre and these radii.
fn is_within(x: i64, y: i64, (left, top): (i64, i64), (wide, high): (i64, i64)) -> bool {
    let (x, y) = ((x - left) * high, (y - top) * wide);
    x * x + y * y <= (wide * high) * (wide * high)
}

/// Rows of folded seats.
fn seats(x: i64, y: i64) -> Color {
    let is_gap = x.rem_euclid(64) < 8 || y.rem_euclid(80) < 22;
    let is_edge = y.rem_euclid(80) < 28;
    INK.mixed(
        CHALK,
        if is_gap {
            4
        } else if is_edge {
            22
        } else {
            14
        },
    )
}

fn scarf(x: i64, y: i64, main: Color, second: Color) -> Color {
    // The scarf hangs through in the middle.
    let y_on = y - 200 - (x - 480).pow(2) / -2_600 - 60;
    let is_high = (0..190).contains(&y_on);
    let is_cloth = (70..890).contains(&x) && is_high;
    let is_fringe = (25..935).contains(&x) && is_high && y_on % 16 < 9;
    if !is_cloth && !is_fringe {
        let is_shadow = (25..935).contains(&x) && (190..214).contains(&y_on);
        return seats(x, y).mixed(INK, if is_shadow { 70 } else { 0 });
    }
    let is_second = (x - 70).div_euclid(82) % 2 != 0;
    let color = if is_second { second } else { main };
    // Stitches.
    color.mixed(INK, if (x / 5 + y_on / 5) % 2 == 0 { 12 } else { 0 })
}

fn choreography(key: &str, main: Color, second: Color) -> Painting {
    let rows = i64::from(HEIGHT).div_euclid(CARD.1) + 1;
    let cards: Vec<Color> = (0..rows)
        .flat_map(|row| (0..CARDS).map(move |column| (column, row)))
        .map(|(column, row)| {
            let chance = hash(&format!("{key}/{column}/{row}")) % 100;
            if chance < 3 {
                // A seat without a card.
                return INK.mixed(CHALK, 10);
            }
            let color = if is_heart(column - CARDS / 2, 21 - row) { main } else { second };
            color.mixed(INK, u8::try_from(chance % 14).unwrap_or_default())
        })
        .collect();
    paint(WIDTH, HEIGHT, |x, y| {
        let is_gap = x % CARD.0 >= 10 || y % CARD.1 >= 12;
        let card = usize::try_from(y / CARD.1 * CARDS + x / CARD.0).ok().and_then(|place| cards.get(place));
        card.copied().filter(|_| !is_gap).unwrap_or(INK)
    })
}

/// Whether a card belongs to the heart around the middle of the stand.
fn is_heart(x: i64, y: i64) -> bool {
    // The curve (x² + y² - 1)³ = x² y³, scaled by 16.
    let (x, y) = (x, y + 2);
    let circle = x * x + y * y - 256;
    circle.pow(3) <= x * x * y.pow(3) * 16
}

fn pitch(x: i64, y: i64) -> Color {
    let grass = Color::new(0x3f, 0x8f, 0x45);
    let mown = grass.mixed(INK, if (x / 80) % 2 == 0 { 0 } else { 14 });
    let (from_middle, from_center) = ((x - 480).abs(), (y - 320).abs());
    let is_in = from_middle <= 420 && from_center <= 270;
    let on = |distance: i64| (-2..=2).contains(&distance);
    let is_outline = is_in && (on(from_middle - 418) || on(from_center - 268));
    let is_halfway = is_in && on(from_middle);
    let squared = from_middle.pow(2) + from_center.pow(2);
    let is_circle = (72_i64.pow(2)..=77_i64.pow(2)).contains(&squared) || squared <= 25;
    let is_box = |depth: i64, half: i64| {
        let edge = 420 - depth;
        (is_in && on(from_middle - edge) && from_center <= half)
            || (is_in && from_middle >= edge && on(from_center - half))
    };
    let is_spot = (from_middle - 330).pow(2) + from_center.pow(2) <= 16;
    let is_line = is_outline || is_halfway || is_circle || is_box(130, 160) || is_box(48, 74) || is_spot;
    if is_line { CHALK } else { mown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn colors() -> Colors {
        Colors::parse("#ef0107", "#ffffff").unwrap()
    }

    fn at(painting: &Painting, x: u32, y: u32) -> [u8; 3] {
        let start = usize::try_from((y * painting.width + x) * 3).unwrap();
        painting.rgb[start..start + 3].try_into().unwrap()
    }

    #[test]
    fn the_same_input_gives_the_same_pixels() {
        for motif in ["scarf", "choreography", "pitch"] {
            let motif: Motif = motif.parse().unwrap();
            let painted = painting(motif, "a", colors());
            assert_eq!(painted, painting(motif, "a", colors()));
            assert_eq!(painted.rgb.len(), 960 * 640 * 3);
            let used: HashSet<&[u8]> = painted.rgb.chunks(3).collect();
            assert!(used.len() >= 3, "{motif:?}");
        }
        assert_eq!("flag".parse::<Motif>(), Err(UnknownMotif("flag".to_owned())));
        assert_ne!(
            painting(Motif::Choreography, "a", colors()),
            painting(Motif::Choreography, "b", colors())
        );
    }

    #[test]
    fn motifs_show_the_colours() {
        let scarf = painting(Motif::Scarf, "a", colors());
        let red = |[red, green, blue]: [u8; 3]| red > 180 && green < 40 && blue < 40;
        assert!((0..960).any(|x| red(at(&scarf, x, 330))));
        let cards = painting(Motif::Choreography, "a", colors());
        let hearts = (0..640).filter(|y| red(at(&cards, 482, *y))).count();
        assert!((200..500).contains(&hearts), "{hearts}");
    }

    #[test]
    fn portraits_differ_by_key_and_colours() {
        let portraits: HashSet<Vec<u8>> =
            (0..40).map(|n| portrait(&format!("fan{n}"), colors()).rgb).collect();
        assert_eq!(portraits.len(), PATTERNS.len());
        for (second, figure) in [("#ffffff", [0x11, 0x16, 0x1d]), ("#1b1b4b", [0xf8, 0xf9, 0xfb])] {
            let colors = Colors::parse("#ef0107", second).unwrap();
            assert_eq!(at(&portrait("mia", colors), 80, 62), figure);
        }
    }
}
