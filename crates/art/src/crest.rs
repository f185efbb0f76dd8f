use crate::{CHALK, Colors, INK, choose, svg};

/// Outlines in a box of 48 by 52.
const SHAPES: [&str; 4] = [
    "M4 4H44V24C44 38 34 45 24 49C14 45 4 38 4 24Z",
    "M24 3C34 3 45 8 45 24C45 40 34 49 24 49C14 49 3 40 3 24C3 8 14 3 24 3Z",
    "M4 8C12 8 18 4 24 3C30 4 36 8 44 8C44 30 40 42 24 49C8 42 4 30 4 8Z",
    "M4 4H44V36L24 49L4 36Z",
];

/// Areas of the second colour.
const PATTERNS: [&str; 10] = [
    "M0 0h48v15H0z",
    "M12 0h6v52h-6zM24 0h6v52h-6zM36 0h6v52h-6zM0 0h6v52H0z",
    "M0 0h48v9H0zM0 17h48v9H0zM0 34h48v9H0z",
    "M24 0h24v52H24z",
    "M24 0h24v25H24zM0 25h24v27H0z",
    "M-4 8 10-4 52 38v16z",
    "M0 36 24 16l24 20v12L24 28 0 48z",
    "M0 52V0h48z",
    "M19 0h10v52H19zM0 18h48v10H0z",
    "M0 0h48L24 44z",
];

/// Emblems around the point 24, 24.
const EMBLEMS: [&str; 7] = [
    // Star, tower, crown, ball, anchor, bird, light.
    "M24 13l3.200 7.200 7.800.8-5.900 5.200 1.800 7.700L24 29.800l-6.900 4.100 1.800-7.700L13 21l7.800-.8z",
    "M16 35V17h4v3h2.500v-3h3v3H28v-3h4v18zM22 35v-6a2 2 0 0 1 4 0v6z",
    "M13 33V18l6 6 5-9 5 9 6-6v15z",
    "M24 13a11 11 0 1 0 .01 0zM24 18l5 3.600-1.900 5.900h-6.200L19 21.600z",
    "M22.500 20.500a3.500 3.500 0 1 1 3 0V31c3-.5 5-2.200 6-5l2 1c-1 5-5 8-9.500 8.500-4.500-.5-8.500-3.500-9.500-8.500l2-1c1 2.800 3 4.500 6 5z",
    "M12 20c5 0 8 1 11 4 2-6 7-9 13-9-2 3-3 5-3 8-1 6-5 10-12 10l-6 2 3-4c-3-2-5-6-6-11z",
    "M24 12l4 5v3h-8v-3zM20.500 21.500h7L30 35H18zM11 21l7-1v3l-7 2zM37 21l-7-1v3l7 2z",
];

/// The crest of a team: a shield in its colours with an emblem. Shape, pattern and emblem follow from `key`.
pub fn crest(key: &str, colors: Colors) -> String {
    let shape = choose(&SHAPES, key, "shape").copied().unwrap_or_default();
    let pattern = choose(&PATTERNS, key, "pattern").copied().unwrap_or_default();
    let emblem = choose(&EMBLEMS, key, "emblem").copied().unwrap_or_default();
    let (main, second) = (colors.main, colors.pattern());
    // The emblem stands on a disc of its own, so that it is seen on every pattern.
    let (disc, figure) = if main.text() == INK { (INK, main.to_string()) } else { (CHALK, main.to_string()) };
    let content = format!(
        "<clipPath id=\"c\"><path d=\"{shape}\"/></clipPath><g clip-path=\"url(#c)\">\
         <path fill=\"{main}\" d=\"M0 0h48v52H0z\"/><path fill=\"{second}\" d=\"{pattern}\"/></g>\
         <circle cx=\"24\" cy=\"24\" r=\"14\" fill=\"{disc}\"/>\
         <path fill=\"{figure}\" fill-rule=\"evenodd\" d=\"{emblem}\"/>\
         <path d=\"{shape}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"2.500\" stroke-linejoin=\"round\"/>"
    );
    svg(48, 52, "", &content)
}
