//! Updates the figures in the documentation: this program writes the section of each scenario, which two comments
//! delimit, and leaves the rest alone.

use anyhow::{Context, Result};

/// Replaces the section of `scenario` in the page with `text`.
///
/// Fails if the page has no such section.
pub(crate) fn refresh(page: &str, scenario: &str, text: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- figures: {scenario} -->"), format!("<!-- end: {scenario} -->"));
    let missing = || format!("the page has no `{begin}` … `{end}`");
    let (before, rest) = page.split_once(&begin).with_context(missing)?;
    let (_, after) = rest.split_once(&end).with_context(missing)?;
    Ok(format!("{before}{begin}\n{}\n{end}{after}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "a\n<!-- figures: feed -->\nold\nolder\n<!-- end: feed -->\nb\n<!-- figures: posts -->\n\
                        <!-- end: posts -->\n";

    #[test]
    fn only_the_scenario_s_own_part_changes() {
        let once = refresh(PAGE, "feed", "new\n").unwrap();
        assert_eq!(once, PAGE.replace("old\nolder", "new"));
        assert_eq!(refresh(&once, "feed", "new").unwrap(), once);
    }

    #[test]
    fn a_page_without_a_place_is_left_alone() {
        for page in ["", "<!-- end: feed --><!-- figures: feed -->", "<!-- figures: feed -->"] {
            assert!(refresh(page, "feed", "new").is_err(), "{page}");
        }
    }
}
