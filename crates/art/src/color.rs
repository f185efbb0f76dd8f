use crate::{CHALK, INK};
use std::fmt;
use std::str::FromStr;

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Color {
    red: u8,
    green: u8,
    blue: u8,
}

/// The text is not `#rrggbb`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no colour of the form #rrggbb")]
pub struct MalformedColor(pub String);

impl FromStr for Color {
    type Err = MalformedColor;

    fn from_str(text: &str) -> Result<Self, MalformedColor> {
        let channel = |from: usize| {
            let digits = text.get(from..from.saturating_add(2))?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_hex { u8::from_str_radix(digits, 16).ok() } else { None }
        };
        let parsed = (text.len() == 7 && text.starts_with('#'))
            .then(|| Some(Self { red: channel(1)?, green: channel(3)?, blue: channel(5)? }));
        parsed.flatten().ok_or_else(|| MalformedColor(text.to_owned()))
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// A colour in OKLCH (CSS Color 4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Oklch {
    /// Lightness from 0 to 1.
    pub lightness: f64,
    /// Chroma; 0 for greys.
    pub chroma: f64,
    /// Hue in degrees from 0 to 360.
    pub hue: f64,
}

/// The linear light of a channel.
fn linear(channel: u8) -> f64 {
    let value = f64::from(channel) / 255.0;
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

impl Color {
    pub(crate) const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// Red, green and blue.
    pub(crate) const fn channels(self) -> [u8; 3] {
        [self.red, self.green, self.blue]
    }

    /// This colour with `percent` of another one.
    pub(crate) fn mixed(self, other: Self, percent: u8) -> Self {
        let mix = |own: u8, other: u8| {
            let percent = u16::from(percent.min(100));
            let sum = u16::from(own) * (100 - percent) + u16::from(other) * percent;
            u8::try_from(sum / 100).unwrap_or(u8::MAX)
        };
        Self {
            red: mix(self.red, other.red),
            green: mix(self.green, other.green),
            blue: mix(self.blue, other.blue),
        }
    }

    /// Relative luminance as WCAG 2 defines it: 0 for black, 1 for white.
    fn luminance(self) -> f64 {
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }

    /// The colour in OKLCH, by the matrices of CSS Color 4.
    fn oklch(self) -> Oklch {
        let [red, green, blue] = [self.red, self.green, self.blue].map(linear);
        let sum = |by: [f64; 3], of: [f64; 3]| by.iter().zip(of).map(|(weight, value)| weight * value).sum();
        let cone = |by: [f64; 3]| f64::cbrt(sum(by, [red, green, blue]));
        let cones = [
            cone([0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9]),
            cone([0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6]),
            cone([0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5]),
        ];
        let a: f64 = sum([1.977_998_495_1, -2.428_592_205, 0.450_593_709_9], cones);
        let b: f64 = sum([0.025_904_037_1, 0.782_771_766_2, -0.808_675_766], cones);
        Oklch {
            lightness: sum([0.210_454_255_3, 0.793_617_785, -0.004_072_046_8], cones),
            chroma: a.hypot(b),
            hue: b.atan2(a).to_degrees().rem_euclid(360.0),
        }
    }

    /// The contrast ratio as WCAG 2 defines it, from 1.
    pub(crate) fn contrast(self, other: Self) -> f64 {
        let (one, other) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if one > other { one / other } else { other / one }
    }

    /// Difference between the strongest and the weakest channel: 0 for greys.
    fn chroma(self) -> u8 {
        let channels = self.channels();
        let most = channels.into_iter().max().unwrap_or_default();
        most.saturating_sub(channels.into_iter().min().unwrap_or_default())
    }

    /// Ink or chalk, whichever has the higher contrast on this colour.
    pub(crate) fn text(self) -> &'static str {
        let ink = INK.parse::<Self>().map(|ink| self.contrast(ink)).unwrap_or_default();
        let chalk = CHALK.parse::<Self>().map(|chalk| self.contrast(chalk)).unwrap_or_default();
        if ink >= chalk { INK } else { CHALK }
    }
}

/// The two colours of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colors {
    /// Main colour.
    pub main: Color,
    /// Second colour.
    pub second: Color,
}

/// Amber and ink.
impl Default for Colors {
    fn default() -> Self {
        let main = Color { red: 0xfb, green: 0xb0, blue: 0x3b };
        Self { main, second: Color { red: 0x11, green: 0x16, blue: 0x1d } }
    }
}

impl Colors {
    /// Parses two colours of the form `#rrggbb`.
    ///
    /// # Errors
    ///
    /// Names the malformed colour.
    pub fn parse(main: &str, second: &str) -> Result<Self, MalformedColor> {
        Ok(Self { main: main.parse()?, second: second.parse()? })
    }

    /// The colour that the web client derives its own from: the first of the two that does not read as black, grey or
    /// white, otherwise the main one.
    pub fn theme(self) -> Oklch {
        let colors = [self.main, self.second].map(Color::oklch);
        colors.into_iter().find(|color| color.chroma >= 0.03).unwrap_or_else(|| self.main.oklch())
    }

    /// The spot colour of printed things: the first of the two that is neither a grey nor as dark as ink, otherwise
    /// a neutral blue.
    pub(crate) fn spot(self) -> Color {
        let is_spot = |color: &Color| color.chroma() > 40 && color.luminance() > 0.015;
        let neutral = Color { red: 0x8f, green: 0xa3, blue: 0xb8 };
        [self.main, self.second].into_iter().find(is_spot).unwrap_or(neutral)
    }

    /// The second colour if it differs visibly from the main one, otherwise ink or chalk.
    pub(crate) fn pattern(self) -> Color {
        if self.main.contrast(self.second) >= 1.35 {
            self.second
        } else {
            self.main.text().parse().unwrap_or(self.second)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_six_hexadecimal_digits() {
        let color: Color = "#Ef0107".parse().unwrap();
        assert_eq!(color.to_string(), "#ef0107");
        for bad in ["", "#", "ef0107", "#ef010", "#ef01077", "#ef01zz", "#+f0107", "#éé07", "red"] {
            assert_eq!(bad.parse::<Color>(), Err(MalformedColor(bad.to_owned())));
        }
    }

    #[test]
    fn large_text_is_readable_on_every_colour() {
        for red in (0..=255_u8).step_by(15) {
            for green in (0..=255_u8).step_by(15) {
                for blue in (0..=255_u8).step_by(15) {
                    let color = Color { red, green, blue };
                    let text: Color = color.text().parse().unwrap();
                    assert!(color.contrast(text) >= 4.0, "{color}: {}", color.contrast(text));
                }
            }
        }
    }

    #[test]
    fn the_theme_is_the_first_colour_in_oklch() {
        for (main, second, expected) in [
            ("#fbb03b", "#11161d", [0.81, 0.1525, 73.74]),
            ("#000000", "#ff0000", [0.628, 0.2577, 29.2]),
            ("#ffffff", "#000000", [1.0, 0.0, -1.0]),
        ] {
            let found = Colors::parse(main, second).unwrap().theme();
            let [lightness, chroma, hue] = expected;
            assert!((found.lightness - lightness).abs() < 0.001, "{found:?}");
            assert!((found.chroma - chroma).abs() < 0.001, "{found:?}");
            assert!(hue < 0.0 || (found.hue - hue).abs() < 0.1, "{found:?}");
        }
    }

    #[test]
    fn the_spot_colour_is_a_colour() {
        let spot = |main, second| Colors::parse(main, second).unwrap().spot().to_string();
        assert_eq!(spot("#ef0107", "#ffffff"), "#ef0107");
        assert_eq!(spot("#ffffff", "#ef0107"), "#ef0107");
        assert_eq!(spot("#000000", "#ffffff"), "#8fa3b8");
    }
}
