//! Lines of an edge list: `from,to` as numbers, after a header.

use crate::import::lines::{FileLine, Lines};
use std::io::{self, BufRead};

/// Greatest number that fits into an id.
const GREATEST: u64 = (1 << 62) - 1;

/// Two fans who follow each other, by number.
pub type Edge = (u64, u64);

/// Why an edge list was rejected as a whole.
#[derive(Debug, thiserror::Error)]
pub enum EdgeListError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is empty and so lacks a header.
    #[error("the file is empty: it has to begin with a header line such as from,to")]
    Empty,
    /// The first line is not a header.
    #[error("line 1: a header line with two names is expected, such as from,to")]
    NoHeader,
}

impl<R: BufRead> Lines<R, Edge> {
    /// Reads the header of an edge list.
    ///
    /// # Errors
    ///
    /// When there is no header, or the file cannot be read.
    pub fn after_header(input: R) -> Result<Self, EdgeListError> {
        let mut lines = Self::new(input);
        let header = lines.next_text()?.ok_or(EdgeListError::Empty)?;
        let names: Vec<&str> = header.trim_start_matches('\u{feff}').split(',').collect();
        let is_name = |name: &&str| !bare(name).is_empty() && bare(name).parse::<f64>().is_err();
        if names.len() == 2 && names.iter().all(is_name) { Ok(lines) } else { Err(EdgeListError::NoHeader) }
    }
}

impl FileLine for Edge {
    const LONGEST: usize = 256;

    fn parse(line: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(line).map_err(|_| "not UTF-8")?;
        let two = text.split_once(',').filter(|(_, to)| !to.contains(','));
        let (from, to) = two.ok_or("not two fields apart by a comma")?;
        Ok((number(from)?, number(to)?))
    }
}

/// A field without surrounding whitespace and quotes.
fn bare(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(field)
}

fn number(field: &str) -> Result<u64, String> {
    let digits = bare(field);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("not a whole number from 0 on".to_owned());
    }
    let number = digits.parse().ok().filter(|number| *number <= GREATEST);
    number.ok_or_else(|| format!("a number above {GREATEST}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::lines::Line;
    use crate::import::lines::tests::lines;

    fn edges(text: &[u8]) -> Vec<Line<Edge>> {
        lines(Lines::after_header(io::BufReader::with_capacity(7, text)).unwrap())
    }

    #[test]
    fn edges_are_read_however_they_are_written() {
        let text = "\u{feff}from,to\r\n1,2\r\n\n \"3\" , 007 \n4611686018427387903,0";
        assert_eq!(
            edges(text.as_bytes()),
            [(2, (1, 2)), (4, (3, 7)), (5, (4_611_686_018_427_387_903, 0))]
                .map(|(number, edge)| Line { number, content: Ok(edge) })
        );
        assert_eq!(edges(b"a,b\n"), []);
        assert_eq!(edges(b"a,b"), []);
    }

    #[test]
    fn errors_of_a_line_are_reported_with_its_number() {
        let long = format!("1,{}\n", "2".repeat(Edge::LONGEST));
        let text = [
            b"from,to\n1\n1,2,3\n1;2\n-1,2\n1.5,2\nx,y\n1,\n,\n\xff\xfe,1\n1,4611686018427387904\n"
                .as_slice(),
            b"99999999999999999999,1\n1,\x002\n",
            long.as_bytes(),
            b"5,6\n",
        ]
        .concat();
        let found = edges(&text);
        let wrong: Vec<_> =
            found.iter().filter_map(|line| Some((line.number, line.content.clone().err()?))).collect();
        let two = "not two fields apart by a comma";
        let whole = "not a whole number from 0 on";
        let great = "a number above 4611686018427387903";
        let expected = [
            two,
            two,
            two,
            whole,
            whole,
            whole,
            whole,
            whole,
            "not UTF-8",
            great,
            great,
            whole,
            "longer than 256 bytes",
        ];
        assert_eq!(wrong, (2..).zip(expected.map(str::to_owned)).collect::<Vec<_>>());
        assert_eq!(found.last(), Some(&Line { number: 15, content: Ok((5, 6)) }));
    }

    #[test]
    fn a_list_begins_with_a_header() {
        let error = |text: &[u8]| Lines::<_, Edge>::after_header(text).unwrap_err().to_string();
        assert!(error(b"").contains("empty"));
        let long = "f".repeat(10_000);
        for text in ["1,2\n3,4\n", "from\n", "a,b,c\n", ",\n", "\n1,2\n", "1.5,x\n", &long] {
            assert!(error(text.as_bytes()).contains("line 1"), "{text}");
        }
        assert!(error(b"\xff,\xfe\n").contains("line 1"));
    }
}
