//! Lines of an edge list: `from,to` as numbers, after a header.

use crate::import::bounded::{BoundedLines, Kept};
use std::fmt;
use std::io::{self, BufRead};

/// Maximum length of a line in bytes.
const LONGEST: usize = 256;
/// Greatest number that fits into an id.
const GREATEST: u64 = (1 << 62) - 1;

/// One line of an edge list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Line number, from 1; the header is line 1.
    pub number: u64,
    /// The two numbers, or the error.
    pub edge: Result<(u64, u64), BadLine>,
}

/// Why a line was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadLine {
    /// The line exceeds the maximum length.
    TooLong,
    /// The line is not UTF-8.
    NotText,
    /// The line does not have two fields.
    NotTwo,
    /// A field is not a number.
    NotNumber,
    /// A number is too great.
    TooGreat,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "longer than {LONGEST} bytes"),
            Self::NotText => f.write_str("not UTF-8"),
            Self::NotTwo => f.write_str("not two fields apart by a comma"),
            Self::NotNumber => f.write_str("not a whole number from 0 on"),
            Self::TooGreat => write!(f, "a number above {GREATEST}"),
        }
    }
}

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

/// A reader of an edge list.
#[derive(Debug)]
pub struct EdgeList<R> {
    lines: BoundedLines<R>,
}

impl<R: BufRead> EdgeList<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// When there is no header, or the file cannot be read.
    pub fn new(input: R) -> Result<Self, EdgeListError> {
        let mut lines = BoundedLines::new(input, LONGEST);
        let kept = lines.read()?.ok_or(EdgeListError::Empty)?;
        let header = std::str::from_utf8(lines.line()).ok().filter(|_| kept == Kept::Whole);
        let names: Vec<&str> = header.unwrap_or_default().trim_start_matches('\u{feff}').split(',').collect();
        let is_name = |name: &&str| !bare(name).is_empty() && bare(name).parse::<f64>().is_err();
        if names.len() == 2 && names.iter().all(is_name) {
            Ok(Self { lines })
        } else {
            Err(EdgeListError::NoHeader)
        }
    }

    /// Number of bytes read so far.
    pub const fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// Returns the next line that is not blank; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        let Some(kept) = self.lines.read_words()? else { return Ok(None) };
        let edge = match kept {
            Kept::Whole => edge(self.lines.line()),
            Kept::TooLong => Err(BadLine::TooLong),
        };
        Ok(Some(Line { number: self.lines.number(), edge }))
    }
}

/// A field without surrounding whitespace and quotes.
fn bare(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(field)
}

fn edge(line: &[u8]) -> Result<(u64, u64), BadLine> {
    let text = std::str::from_utf8(line).map_err(|_| BadLine::NotText)?;
    let (from, to) = text.split_once(',').filter(|(_, to)| !to.contains(',')).ok_or(BadLine::NotTwo)?;
    Ok((number(from)?, number(to)?))
}

fn number(field: &str) -> Result<u64, BadLine> {
    let digits = bare(field);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadLine::NotNumber);
    }
    digits.parse().ok().filter(|number| *number <= GREATEST).ok_or(BadLine::TooGreat)
}

#[cfg(test)]
mod tests {
    use super::BadLine::{NotNumber, NotText, NotTwo, TooGreat, TooLong};
    use super::*;

    fn lines(text: &[u8]) -> Vec<Line> {
        // A small buffer, so that lines span several reads.
        let mut list = EdgeList::new(io::BufReader::with_capacity(7, text)).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = list.next_line().unwrap() {
            lines.push(line);
        }
        assert_eq!(list.bytes(), u64::try_from(text.len()).unwrap());
        lines
    }

    #[test]
    fn edges_are_read_however_they_are_written() {
        let text = "\u{feff}from,to\r\n1,2\r\n\n \"3\" , 007 \n4611686018427387903,0";
        assert_eq!(
            lines(text.as_bytes()),
            [(2, (1, 2)), (4, (3, 7)), (5, (4_611_686_018_427_387_903, 0))]
                .map(|(number, edge)| Line { number, edge: Ok(edge) })
        );
        assert_eq!(lines(b"a,b\n"), []);
        assert_eq!(lines(b"a,b"), []);
    }

    #[test]
    fn errors_of_a_line_are_reported_with_its_number() {
        let long = format!("1,{}\n", "2".repeat(LONGEST));
        let text = [
            b"from,to\n1\n1,2,3\n1;2\n-1,2\n1.5,2\nx,y\n1,\n,\n\xff\xfe,1\n1,4611686018427387904\n"
                .as_slice(),
            b"99999999999999999999,1\n1,\x002\n",
            long.as_bytes(),
            b"5,6\n",
        ]
        .concat();
        let found = lines(&text);
        let wrong: Vec<_> = found.iter().filter_map(|line| Some((line.number, line.edge.err()?))).collect();
        let expected = [
            NotTwo, NotTwo, NotTwo, NotNumber, NotNumber, NotNumber, NotNumber, NotNumber, NotText, TooGreat,
            TooGreat, NotNumber, TooLong,
        ];
        assert_eq!(wrong, (2..).zip(expected).collect::<Vec<_>>());
        assert_eq!(found.last(), Some(&Line { number: 15, edge: Ok((5, 6)) }));
    }

    #[test]
    fn a_list_begins_with_a_header() {
        let error = |text: &[u8]| EdgeList::new(text).unwrap_err().to_string();
        assert!(error(b"").contains("empty"));
        let long = "f".repeat(10_000);
        for text in ["1,2\n3,4\n", "from\n", "a,b,c\n", ",\n", "\n1,2\n", "1.5,x\n", &long] {
            assert!(error(text.as_bytes()).contains("line 1"), "{text}");
        }
        assert!(error(b"\xff,\xfe\n").contains("line 1"));
    }
}
