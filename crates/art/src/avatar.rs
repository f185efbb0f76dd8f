use crate::text::{Line, fitting};
use crate::{Colors, choose, svg};

const PATTERNS: [&str; 6] = [
    "M0 30 20 14l20 16v10H0z",
    "M0 8h40v6H0zM0 26h40v6H0z",
    "M5 0h5v40H5zM30 0h5v40h-5z",
    "M-4 30 30-4h12L-4 42z",
    "M0 0h20v40H0z",
    "M0 20h40v20H0z",
];

/// A fan's picture: the initials of their name on a pattern in the colours of their team.
pub fn avatar(key: &str, name: &str, colors: Colors) -> String {
    let pattern = choose(&PATTERNS, key, "avatar").copied().unwrap_or_default();
    let (main, second) = (colors.main, colors.pattern());
    let initials = initials(name);
    let line =
        Line { x: 20.0, y: 26.5, size: fitting(&initials, 26.0, 18.0), fill: main.text(), ..Line::default() };
    let content = format!(
        "<path fill=\"{main}\" d=\"M0 0h40v40H0z\"/><path fill=\"{second}\" opacity=\".22\" d=\"{pattern}\"/>{}",
        line.draw(&initials)
    );
    svg(40, 40, "", &content)
}

/// The first letters of the first and the last word that begin with a letter or a digit, in upper case.
fn initials(name: &str) -> String {
    let mut letters =
        name.split(|character: char| !character.is_alphanumeric()).filter_map(|word| word.chars().next());
    let first = letters.next();
    let last = letters.next_back();
    first.into_iter().chain(last).flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::initials;

    #[test]
    fn initials_come_from_the_first_and_the_last_word() {
        for (name, expected) in [
            ("Mia Carter", "MC"),
            ("Jo", "J"),
            ("lucía maría ferrer", "LF"),
            ("sal.on.wear", "SW"),
            ("", ""),
            ("🎉", ""),
            ("東京 太郎", "東太"),
        ] {
            assert_eq!(initials(name), expected);
        }
    }
}
