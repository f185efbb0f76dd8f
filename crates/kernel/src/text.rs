//! What may stand in text that people write for other people to read.

/// Why a text cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Shorter than the rule allows, counted after trimming and without characters that nobody sees.
    #[error("must hold at least {0} visible character(s)")]
    TooShort(usize),
    /// Longer than the rule allows.
    #[error("must hold at most {0} characters")]
    TooLong(usize),
    /// Holds a control character (NUL among them) other than line breaks and tabs where those are allowed.
    #[error("must not hold control characters")]
    Control,
    /// Holds a character that changes the direction of what stands around it, or that nobody sees.
    #[error("must not hold invisible or direction-changing characters")]
    Invisible,
}

/// Characters that change the direction of the text around them (Unicode TR #9, explicit formatting).
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters that show nothing: Unicode's `Default_Ignorable_Code_Point` and the blank Braille pattern.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// A text of one or more paragraphs (a post, a comment, a biography): trimmed, `min..=max` characters (Unicode
/// scalar values), line breaks and tabs allowed, CRLF folded to LF. Joiners and variation selectors stay,
/// because emoji need them; a text of nothing else counts as empty.
pub fn paragraphs(text: &str, min: usize, max: usize) -> Result<String, TextError> {
    let text = text.trim().replace("\r\n", "\n");
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(TextError::Control);
    }
    check_length(&text, min, max)?;
    Ok(text)
}

/// A line (a display name, a device's name): trimmed, `min..=max` characters, neither control characters nor
/// invisible nor direction-changing ones, because it stands beside other people's.
pub fn line(text: &str, min: usize, max: usize) -> Result<String, TextError> {
    let text = text.trim();
    if text.chars().any(char::is_control) || text.contains(['\u{2028}', '\u{2029}']) {
        return Err(TextError::Control);
    }
    // The joiner holds emoji together and letters of several scripts apart; alone it is caught by the length.
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
