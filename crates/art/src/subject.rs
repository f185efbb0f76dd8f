use crate::text::Line;
use crate::{CHALK, INK, choose};

/// What a card or a pack shows, drawn in a box of 120 by 120.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A shirt with a number.
    Shirt,
    Boot,
    /// A goalkeeper's glove.
    Glove,
    Cup,
    Lighthouse,
    Floodlights,
    Scarf,
    /// A wooden rattle.
    Rattle,
    /// A match programme.
    Programme,
    Pie,
    Pennant,
    CornerFlag,
    Ball,
    Whistle,
    /// A clock at the last minute.
    Clock,
    /// A banner over a stand.
    Banner,
    Drum,
    Ticket,
}

impl Subject {
    /// Every subject with its name in content.
    pub const ALL: [(&'static str, Self); 18] = [
        ("shirt", Self::Shirt),
        ("boot", Self::Boot),
        ("glove", Self::Glove),
        ("cup", Self::Cup),
        ("lighthouse", Self::Lighthouse),
        ("floodlights", Self::Floodlights),
        ("scarf", Self::Scarf),
        ("rattle", Self::Rattle),
        ("programme", Self::Programme),
        ("pie", Self::Pie),
        ("pennant", Self::Pennant),
        ("corner-flag", Self::CornerFlag),
        ("ball", Self::Ball),
        ("whistle", Self::Whistle),
        ("clock", Self::Clock),
        ("banner", Self::Banner),
        ("drum", Self::Drum),
        ("ticket", Self::Ticket),
    ];

    /// The subject of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, subject)| subject)
    }

    /// The subject for a key: the one whose name is in the key, otherwise one that follows from the key.
    pub fn of_key(key: &str) -> Self {
        let named = Self::ALL.into_iter().find(|(name, _)| key.contains(name)).map(|(_, subject)| subject);
        named
            .or_else(|| choose(&Self::ALL, key, "subject").map(|(_, subject)| *subject))
            .unwrap_or(Self::Shirt)
    }

    pub(crate) fn draw(self, spot: &str, number: u32) -> String {
        if self == Self::Shirt {
            return shirt(spot, number);
        }
        self.shapes().iter().map(|shape| shape.draw(spot)).collect()
    }

    #[expect(clippy::too_many_lines, reason = "a table of drawings")]
    const fn shapes(self) -> &'static [Shape] {
        use Shape::{Chalk, Ink, Line, Spot};
        match self {
            Self::Shirt => &[],
            Self::Boot => &[
                Spot("M24 26h30l4 26c10 14 30 14 46 20 8 4 8 16 2 20H24z"),
                Ink("M22 88h88v8H22zM28 96h10v10H28zM50 96h10v10H50zM76 96h10v10H76zM96 96h8v10h-8z"),
                Line("m58 50 14-8M64 58l14-8M72 64l12-9"),
            ],
            Self::Glove => &[
                Chalk("M34 112V70L16 54l8-9 12 9V22h11v26h3V14h11v34h3V18h11v32h3V28h11v48L78 112z"),
                Ink("M34 92h47v10H34z"),
            ],
            Self::Cup => &[
                Line("M36 28H16c0 22 8 34 24 36M84 28h20c0 22-8 34-24 36"),
                Chalk("M32 16h56c0 34-6 52-22 58v16h14v18H40V90h14V74C38 68 32 50 32 16z"),
                Ink("M33 28h54v9H34zM44 98h32v4H44z"),
            ],
            Self::Lighthouse => &[
                Chalk("M44 52h32l10 64H34z"),
                Ink("M42 66h36l2.500 14h-41zM38 94h44l2 13H36z"),
                Spot("M48 30h24v22H48z"),
                Ink("M42 30 60 12l18 18zM40 50h40v6H40zM57 4h6v10h-6zM58.500 30h3v20h-3z"),
            ],
            Self::Floodlights => &[
                Line("M60 50v68M46 118 60 56l14 62M52 98h16M55 80h10"),
                Ink("M18 4h84v48H18z"),
                Chalk(
                    "M29 11a6 6 0 1 0 .01 0zM44.500 11a6 6 0 1 0 .01 0zM60 11a6 6 0 1 0 .01 0zM75.500 11a6 6 0 1 0 .01 0zM91 11a6 6 0 1 0 .01 0zM29 33a6 6 0 1 0 .01 0zM44.500 33a6 6 0 1 0 .01 0zM60 33a6 6 0 1 0 .01 0zM75.500 33a6 6 0 1 0 .01 0zM91 33a6 6 0 1 0 .01 0z",
                ),
            ],
            Self::Scarf => &[
                Spot("M20 20h24v78H20zM76 20h24v78H76z"),
                Chalk("M20 34h24v12H20zM20 60h24v12H20zM76 34h24v12H76zM76 60h24v12H76z"),
                Spot("M20 20C30 4 90 4 100 20L84 34C76 26 44 26 36 34z"),
                Line("M24 98v10M32 98v10M40 98v10M80 98v10M88 98v10M96 98v10"),
            ],
            Self::Rattle => &[
                Spot("M34 18h66v40H34z"),
                Ink("M34 30h66v5H34zM34 42h66v5H34z"),
                Chalk("M24 12h14v52H24z"),
                Ink("M27 64h8v46h-8z"),
                Line("M100 26h10M100 38h14M100 50h10"),
            ],
            Self::Programme => &[
                Chalk("M28 10h64v100H28z"),
                Spot("M28 10h64v30H28z"),
                Ink("M38 52h44v5H38zM38 64h44v5H38zM38 76h28v5H38zM38 22h44v7H38z"),
                Line("M28 10v100"),
            ],
            Self::Pie => &[
                Spot("M12 62h96l-12 40H24z"),
                Chalk("M8 60c0-22 22-36 52-36s52 14 52 36z"),
                Line(
                    "M40 40l8 12M60 34v14M80 40l-8 12M44 14c-4-6 4-8 0-14M60 14c-4-6 4-8 0-14M76 14c-4-6 4-8 0-14",
                ),
            ],
            Self::Pennant => &[
                Ink("M22 12h76v6H22z"),
                Spot("M28 18h64L60 108z"),
                Chalk("M44 30h32L60 76z"),
                Line("M60 2v10M34 18l-4 16M86 18l4 16"),
            ],
            Self::CornerFlag => &[
                Ink("M40 8h7v104h-7z"),
                Spot("M47 12l50 18-50 20z"),
                Line("M16 112h88M28 112a16 16 0 0 1 31 0"),
            ],
            Self::Ball => &[
                Chalk("M60 14a46 46 0 1 0 .01 0z"),
                Ink("M60 40l19 14-7 22H48l-7-22z"),
                Spot(
                    "M60 15l10 8-10 10-10-10zM104 50l-2 14-13-5 3-14zM16 50l2 14 13-5-3-14zM88 96l-12 7-3-13 11-7zM32 96l12 7 3-13-11-7z",
                ),
                Line("M60 40V32M79 54l10-6M72 76l6 10M48 76l-6 10M41 54l-10-6"),
            ],
            Self::Whistle => &[
                Spot("M44 40h64v22l-26 4a28 28 0 1 1-38-26z"),
                Ink("M84 40h12v12H84z"),
                Chalk("M54 58a12 12 0 1 0 .01 0z"),
                Line("M40 30 30 14M56 28V10M72 30l10-14"),
            ],
            Self::Clock => &[
                Chalk("M60 16a46 46 0 1 0 .01 0z"),
                Spot("M60 62V24a38 38 0 0 0-26 10z"),
                Line("M60 62V30M60 62 38 40M60 22v5M60 97v5M20 62h5M95 62h5"),
                Ink("M60 56a6 6 0 1 0 .01 0zM52 2h16v10H52z"),
            ],
            Self::Banner => &[
                Chalk("M10 28h100v44H10z"),
                Spot("M10 40h100v20H10z"),
                Line("M10 14v100M110 14v100M18 100h84M26 86h68"),
                Ink("M60 42l3 6 7 .7-5 4.600 1.500 6.700-6.500-3.500-6.500 3.500 1.500-6.700-5-4.600 7-.7z"),
            ],
            Self::Drum => &[
                Spot("M20 42h80v46c0 10-80 10-80 0z"),
                Chalk("M20 42c0-12 80-12 80 0s-80 12-80 0z"),
                Line("M24 52l16 40 16-38 16 38 16-38 10 34M34 8l24 30M86 8 62 38"),
            ],
            Self::Ticket => &[
                Spot("M12 34h96v18a8 8 0 0 0 0 16v18H12V68a8 8 0 0 0 0-16z"),
                Chalk("M44 44h52v32H44z"),
                Ink("M52 52h36v5H52zM52 63h24v5H52z"),
                Line("M34 38v6M34 50v6M34 62v6M34 74v6"),
            ],
        }
    }
}

/// An area or a line of a drawing; areas have an outline.
enum Shape {
    Spot(&'static str),
    Chalk(&'static str),
    Ink(&'static str),
    Line(&'static str),
}

impl Shape {
    fn draw(&self, spot: &str) -> String {
        let outlined = |fill: &str, path: &str| {
            format!(
                "<path fill=\"{fill}\" stroke=\"{INK}\" stroke-width=\"3\" stroke-linejoin=\"round\" d=\"{path}\"/>"
            )
        };
        match self {
            Self::Spot(path) => outlined(spot, path),
            Self::Chalk(path) => outlined(CHALK, path),
            Self::Ink(path) => format!("<path fill=\"{INK}\" d=\"{path}\"/>"),
            Self::Line(path) => {
                format!("<path fill=\"none\" stroke=\"{INK}\" stroke-width=\"4\" d=\"{path}\"/>")
            }
        }
    }
}

fn shirt(spot: &str, number: u32) -> String {
    const OUTLINE: &str =
        "M42 12 25 18 3 45 19 62 30 52 30 116 90 116 90 52 101 62 117 45 95 18 78 12C73 23 47 23 42 12Z";
    // Plain, hoops, halves, sash.
    const PATTERNS: [&str; 4] = [
        "",
        "M0 34h120v11H0zM0 57h120v11H0zM0 80h120v11H0zM0 103h120v11H0z",
        "M60 0h60v120H60z",
        "M24 18 44 8l56 92-10 22H78z",
    ];
    let body = if number.is_multiple_of(4) { spot } else { CHALK };
    let pattern = PATTERNS.iter().cycle().nth(usize::try_from(number % 4).unwrap_or_default());
    let digits = Line { x: 60.0, y: 88.0, size: 42.0, ..Line::default() };
    let digits = digits.draw(&(number % 100).to_string()).replace(
        "<text ",
        &format!(
            "<text stroke=\"{CHALK}\" stroke-width=\"7\" paint-order=\"stroke\" stroke-linejoin=\"round\" "
        ),
    );
    format!(
        "<clipPath id=\"s\"><path d=\"{OUTLINE}\"/></clipPath><path fill=\"{body}\" d=\"{OUTLINE}\"/>\
         <g clip-path=\"url(#s)\"><path fill=\"{spot}\" d=\"{}\"/>\
         <path fill=\"{INK}\" d=\"M38 6 42 12C47 23 73 23 78 12L82 6 86 10 79 18C70 31 50 31 41 18L34 10z\"/></g>\
         <path fill=\"none\" stroke=\"{INK}\" stroke-width=\"3\" stroke-linejoin=\"round\" d=\"{OUTLINE}\"/>{digits}",
        pattern.copied().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_name_a_subject_show_it() {
        assert_eq!(Subject::of_key("corner-flag"), Subject::CornerFlag);
        assert_eq!(Subject::of_key("golden-cup"), Subject::Cup);
        assert_eq!(Subject::named("golden-cup"), None);
        // Another key shows one of them, always the same.
        assert_eq!(Subject::of_key("night"), Subject::of_key("night"));
        let kinds: std::collections::HashSet<_> =
            (0..300).map(|n| Subject::of_key(&format!("k{n}"))).collect();
        assert!(kinds.len() > 15, "{}", kinds.len());
    }
}
