//! Rules for text that users write and other users read.

/// Why a text is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Shorter than the minimum, counted after trimming and without invisible characters.
    #[error("must hold at least {0} visible character(s)")]
    TooShort(usize),
    /// Longer than the maximum.
    #[error("must hold at most {0} characters")]
    TooLong(usize),
    /// Contains a control character (including NUL) other than line breaks and tabs where those are allowed.
    #[error("must not hold control characters")]
    Control,
    /// Contains a character that is invisible or changes the direction of the surrounding text.
    #[error("must not hold invisible or direction-changing characters")]
    Invisible,
}

/// Reports whether `c` changes the direction of the surrounding text (Unicode TR #9, explicit formatting).
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Reports whether `c` is invisible: Unicode's `Default_Ignorable_Code_Point` or the blank Braille pattern.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Validates a text of one or more paragraphs (a post, a comment, a biography). The result is trimmed and has
/// `min..=max` characters (Unicode scalar values); line breaks and tabs are allowed, and CRLF is folded to LF. Joiners
/// and variation selectors are kept, because emoji need them; a text that holds nothing else counts as empty.
pub fn paragraphs(text: &str, min: usize, max: usize) -> Result<String, TextError> {
    let text = text.trim().replace("\r\n", "\n");
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(TextError::Control);
    }
    check_length(&text, min, max)?;
    Ok(text)
}

/// Validates a single line (a display name, a device's name). The result is trimmed and has `min..=max` characters.
/// Control characters, invisible characters and direction-changing characters are rejected, because the line is shown
/// next to other users' text.
pub fn line(text: &str, min: usize, max: usize) -> Result<String, TextError> {
    let text = text.trim();
    if text.chars().any(char::is_control) || text.contains(['\u{2028}', '\u{2029}']) {
        return Err(TextError::Control);
    }
    // Joiners form emoji and separate letters in several scripts; the minimum length rejects a text of joiners alone.
    if text
        .chars()
        .any(|c| is_invisible(c) && !matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}'))
    {
        return Err(TextError::Invisible);
    }
    check_length(text, min, max)?;
    Ok(text.to_owned())
}

fn check_length(text: &str, min: usize, max: usize) -> Result<(), TextError> {
    if text.chars().count() > max {
        return Err(TextError::TooLong(max));
    }
    if text.chars().filter(|c| !c.is_whitespace() && !is_invisible(*c)).count() < min {
        return Err(TextError::TooShort(min));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_trimmed_and_counted_in_characters() {
        assert_eq!(paragraphs("  Goal!\r\nGoal! \n", 1, 2000), Ok("Goal!\nGoal!".to_owned()));
        assert_eq!(paragraphs(&"é".repeat(2000), 1, 2000).map(|text| text.len()), Ok(4000));
        assert_eq!(paragraphs(&"é".repeat(2001), 1, 2000), Err(TextError::TooLong(2000)));
        assert_eq!(paragraphs(" \n\t ", 1, 2000), Err(TextError::TooShort(1)));
        assert_eq!(paragraphs("\u{200b}\u{2060}\u{feff}", 1, 2000), Err(TextError::TooShort(1)));
        assert_eq!(paragraphs("a\0b", 1, 2000), Err(TextError::Control));
        assert_eq!(paragraphs("👩‍👧 ❤️", 1, 10), Ok("👩‍👧 ❤️".to_owned()));
        assert_eq!(paragraphs("", 0, 10), Ok(String::new()));
    }

    #[test]
    fn lines_hold_nothing_that_plays_tricks() {
        assert_eq!(line(" Ana María ", 1, 50), Ok("Ana María".to_owned()));
        assert_eq!(line("two\nlines", 1, 50), Err(TextError::Control));
        assert_eq!(line("evil\u{202e}txt", 1, 50), Err(TextError::Invisible));
        assert_eq!(line("zero\u{200b}width", 1, 50), Err(TextError::Invisible));
        assert_eq!(line("\u{200d}", 1, 50), Err(TextError::TooShort(1)));
    }
}
