use crate::INK;

/// Fonts with narrow letters, as far as the reader's system has them.
const FONTS: &str = "Avenir Next Condensed,Roboto Condensed,Bahnschrift,Liberation Sans Narrow,DejaVu Sans \
                     Condensed,sans-serif";

/// Text with the characters escaped that have a meaning in XML. Characters that XML forbids are left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if character.is_control() => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Place and looks of a line of text.
pub(crate) struct Line<'a> {
    /// Horizontal position of its anchor.
    pub(crate) x: f64,
    /// Vertical position of its base line.
    pub(crate) y: f64,
    /// Height of the letters.
    pub(crate) size: f64,
    /// Fill colour.
    pub(crate) fill: &'a str,
    /// `start` or `middle`.
    pub(crate) anchor: &'static str,
}

impl Default for Line<'_> {
    fn default() -> Self {
        Self { x: 0.0, y: 0.0, size: 16.0, fill: INK, anchor: "middle" }
    }
}

impl Line<'_> {
    pub(crate) fn draw(&self, text: &str) -> String {
        let Self { x, y, size, fill, anchor } = self;
        let text = escaped(text);
        format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-family=\"{FONTS}\" \
             font-weight=\"800\" font-size=\"{size:.1}\" fill=\"{fill}\">{text}</text>"
        )
    }
}

/// A line of capitals in `width`, at most `most` high, as wide in a system's wide font as in a narrow one.
pub(crate) fn capitals(text: &str, width: f64, most: f64, line: &Line<'_>) -> String {
    let size = fitting(text, width, most);
    let length = letters(text) * size;
    let drawn = Line { size, ..*line }.draw(text);
    drawn.replacen(
        "<text ",
        &format!("<text textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\" "),
        1,
    )
}

/// A text in at most two lines, cut where it is longer than both.
pub(crate) fn lines(text: &str, longest: usize) -> Vec<String> {
    let cut = |text: &str| -> String {
        let is_long = text.chars().count() > longest;
        let kept: String =
            text.chars().take(if is_long { longest.saturating_sub(1) } else { longest }).collect();
        if is_long { format!("{}…", kept.trim_end()) } else { kept }
    };
    if text.chars().count() <= longest {
        return vec![text.to_owned()];
    }
    let half = text.chars().count() / 2;
    // The space nearest to the middle.
    let space = text
        .char_indices()
        .enumerate()
        .filter(|(_, (_, character))| character.is_whitespace())
        .min_by_key(|(place, _)| place.abs_diff(half));
    match space.and_then(|(_, (at, _))| text.split_at_checked(at)) {
        Some((first, second)) => vec![cut(first.trim()), cut(second.trim())],
        None => vec![cut(text)],
    }
}

/// The size at which `text` fits into `width`, at most `most`.
pub(crate) fn fitting(text: &str, width: f64, most: f64) -> f64 {
    (width / letters(text)).min(most)
}

/// The width of the text in a narrow face, as a multiple of its size.
fn letters(text: &str) -> f64 {
    let count = u32::try_from(text.chars().count().max(1)).unwrap_or(u32::MAX);
    // About that of a capital letter.
    f64::from(count) * 0.56
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escaped("<a b='&\"'>\u{0}"), "&lt;a b=&#39;&amp;&quot;&#39;&gt; ");
    }

    #[test]
    fn capitals_are_as_wide_as_their_place_in_every_font() {
        let line = Line { x: 100.0, ..Line::default() };
        assert!(capitals("TROPHY ROOM", 172.0, 33.0, &line).starts_with("<text textLength=\"172.0\""));
        assert!(capitals("CUP", 172.0, 30.0, &line).starts_with("<text textLength=\"50.4\""));
    }

    #[test]
    fn long_names_take_two_lines() {
        assert_eq!(lines("Match day", 14), ["Match day"]);
        assert_eq!(lines("Winner in the last minute", 14), ["Winner in the", "last minute"]);
        assert_eq!(lines("Floodlightfloodlight", 14), ["Floodlightflo…"]);
        assert_eq!(lines("", 14), [""]);
    }
}
