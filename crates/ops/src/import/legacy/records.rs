//! Records of CSV files: read one at a time, bounded in size, with the number of their first line.

use crate::import::bounded::{BoundedLines, Kept};
use crate::import::legacy::table::LegacyTable;
use crate::import::lines::printable;
use csv_core::{ReadRecordResult, Reader};
use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::str;

/// Maximum length of a record in bytes. Otherwise an unclosed quote would consume the rest of the file.
const LONGEST: usize = 65_536;
/// Maximum number of fields of a record.
const FIELDS: usize = 64;

/// Why a record was rejected.
pub(super) type NotRead = &'static str;

/// A reader of records. Memory is bounded by the maximum length, whatever the file contains.
pub(super) struct Records<R> {
    lines: BoundedLines<R>,
    parser: Reader,
    text: Vec<u8>,
    ends: [usize; FIELDS],
    count: usize,
}

/// Result of passing input to the parser.
enum Fed {
    Whole,
    More,
}

impl<R: BufRead> Records<R> {
    /// Starts at the first line.
    pub(super) fn new(input: R) -> Self {
        Self {
            lines: BoundedLines::new(input, LONGEST),
            parser: Reader::new(),
            text: vec![0; LONGEST],
            ends: [0; FIELDS],
            count: 0,
        }
    }

    /// Number of bytes read so far.
    pub(super) const fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// Reads a record, whose fields are then available from [`Self::fields`]; returns the number of its first line
    /// and the error, if any. Blank lines are skipped.
    pub(super) fn next(&mut self) -> io::Result<Option<(u64, Result<(), NotRead>)>> {
        let Some(kept) = self.lines.read_words()? else { return Ok(None) };
        let mut first = self.lines.number();
        let mut kept = Some(kept);
        self.parser.reset();
        self.count = 0;
        let mut used = 0;
        let mut read = 0;
        loop {
            match kept {
                Some(Kept::Whole) => {}
                Some(Kept::TooLong) => return Ok(Some((first, Err("is longer than 65536 bytes")))),
                None => return Ok(Some((first, Err("has a quote that is not closed")))),
            }
            read += self.lines.line().len() + 1;
            if read > LONGEST {
                return Ok(Some((
                    first,
                    Err("is longer than 65536 bytes, or has a quote that is not closed"),
                )));
            }
            match self.feed(&mut used) {
                Ok(Fed::Whole) => return Ok(Some((first, Ok(())))),
                // The line contained only a byte order mark: the record starts after it.
                Ok(Fed::More) if used == 0 && self.count == 0 => {
                    kept = self.lines.read_words()?;
                    if kept.is_none() {
                        return Ok(None);
                    }
                    first = self.lines.number();
                }
                Ok(Fed::More) => kept = self.lines.read()?,
                Err(why) => return Ok(Some((first, Err(why)))),
            }
        }
    }

    /// Passes the line and its line break to the parser.
    fn feed(&mut self, used: &mut usize) -> Result<Fed, NotRead> {
        let Self { lines, parser, text, ends, count } = self;
        for piece in [lines.line(), b"\n"] {
            let (free, free_ends) = (text.get_mut(*used..), ends.get_mut(*count..));
            let (Some(free), Some(free_ends)) = (free, free_ends) else { return Err("has too many fields") };
            let (result, consumed, written, ended) = parser.read_record(piece, free, free_ends);
            *used += written;
            *count += ended;
            match result {
                // The parser also ends records at a bare carriage return; the rest of the line would be lost.
                ReadRecordResult::Record if consumed < piece.len() => {
                    return Err("has a carriage return that ends no line");
                }
                ReadRecordResult::Record => return Ok(Fed::Whole),
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
                ReadRecordResult::OutputFull => return Err("is longer than 65536 bytes"),
                ReadRecordResult::OutputEndsFull => return Err("has too many fields"),
            }
        }
        Ok(Fed::More)
    }

    /// The fields of the last record read.
    pub(super) fn fields(&self) -> Result<Vec<&str>, NotRead> {
        const NOT_TEXT: NotRead = "is not UTF-8";
        let mut from = 0;
        let ends = self.ends.get(..self.count).unwrap_or_default();
        let field = |end: &usize| {
            let bytes = self.text.get(from..*end).unwrap_or_default();
            from = *end;
            str::from_utf8(bytes).map_err(|_| NOT_TEXT)
        };
        ends.iter().map(field).collect()
    }
}

/// Maps the columns of a table to the fields of its records.
#[derive(Debug)]
pub(super) struct Header {
    places: BTreeMap<&'static str, usize>,
    width: usize,
}

impl Header {
    /// Reads the header of a table.
    pub(super) fn read<R: BufRead>(
        table: LegacyTable,
        records: &mut Records<R>,
    ) -> io::Result<Result<Self, String>> {
        let fields = match records.next()? {
            None => return Ok(Err("is empty".to_owned())),
            Some((_, Err(why))) => return Ok(Err(format!("has a header that {why}"))),
            Some((_, Ok(()))) => records.fields(),
        };
        Ok(fields
            .map_err(|why| format!("has a header that {why}"))
            .and_then(|fields| Self::of(table, &fields)))
    }

    fn of(table: LegacyTable, fields: &[&str]) -> Result<Self, String> {
        let mut places = BTreeMap::new();
        for (place, field) in fields.iter().enumerate() {
            // Some programs write a byte order mark before the first line.
            let name = field.trim_start_matches('\u{feff}').trim();
            let Some(column) = table.column(name) else {
                return Err(format!("has a column {:?}; known are {}", printable(name), table.columns()));
            };
            if places.insert(column, place).is_some() {
                return Err(format!("has the column {column} twice"));
            }
        }
        match table.required().find(|column| !places.contains_key(column)) {
            Some(missing) => Err(format!("has no column {missing}; needed are {}", table.needed())),
            None => Ok(Self { places, width: fields.len() }),
        }
    }

    /// Creates a row of the table from a record.
    pub(super) fn row<'r>(&'r self, fields: Vec<&'r str>) -> Result<Row<'r>, Bad> {
        if fields.len() == self.width {
            Ok(Row { header: self, fields })
        } else {
            let about = format!("{} fields, {} columns", fields.len(), self.width);
            Err(Bad { kind: "has another number of fields than the header", about })
        }
    }
}

/// A record with named fields.
pub(super) struct Row<'r> {
    header: &'r Header,
    fields: Vec<&'r str>,
}

impl Row<'_> {
    /// The trimmed value of a column; empty if there is no such column.
    pub(super) fn get(&self, column: &str) -> &str {
        let place = self.header.places.get(column);
        place.and_then(|place| self.fields.get(*place)).map_or("", |field| field.trim())
    }

    /// The value of a column, unless it is empty.
    pub(super) fn filled(&self, column: &str) -> Option<&str> {
        Some(self.get(column)).filter(|text| !text.is_empty())
    }
}

/// Why a record was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bad {
    /// Kind of error.
    pub(super) kind: &'static str,
    /// Place or value that the error refers to.
    pub(super) about: String,
}

impl Bad {
    /// Creates an error with text from the file, made safe for a terminal.
    pub(super) fn new(kind: &'static str, about: &str) -> Self {
        Self { kind, about: printable(about) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<(u64, Result<Vec<String>, NotRead>)> {
        // A small buffer, so that lines span several reads.
        let mut records = Records::new(io::BufReader::with_capacity(5, text));
        let mut all = Vec::new();
        while let Some((line, read)) = records.next().unwrap() {
            let fields = read.and_then(|()| Ok(records.fields()?.into_iter().map(str::to_owned).collect()));
            all.push((line, fields));
        }
        all
    }

    fn good(line: u64, fields: &[&str]) -> (u64, Result<Vec<String>, NotRead>) {
        (line, Ok(fields.iter().map(|&field| field.to_owned()).collect()))
    }

    #[test]
    fn records_are_read_with_the_lines_that_they_begin_on() {
        let text = "a,b\r\n1,\"x\"\"y,\r\nz\"\n\n \n,\n2,\"\"\r\n\u{e9},last";
        let expected = [
            good(1, &["a", "b"]),
            good(2, &["1", "x\"y,\r\nz"]),
            good(6, &["", ""]),
            good(7, &["2", ""]),
            good(8, &["\u{e9}", "last"]),
        ];
        assert_eq!(read(text.as_bytes()), expected);
        assert_eq!(read(b""), []);
        assert_eq!(
            read("\u{feff}\na,b\n\u{feff}\n\n1,2\n\u{feff}".as_bytes()),
            [good(2, &["a", "b"]), good(5, &["1", "2"]),]
        );
    }

    #[test]
    fn bad_records_are_reported_and_skipped() {
        let open = read(b"a\n1\n\"2\n3");
        assert_eq!(open[..2], [good(1, &["a"]), good(2, &["1"])]);
        assert_eq!(open[2], (3, Err("has a quote that is not closed")));
        let long = format!("a\n{}\nb\n", "x".repeat(LONGEST + 1));
        let found = read(long.as_bytes());
        assert!(found[1].1.is_err());
        assert_eq!(found[2], good(3, &["b"]));
        let wide = format!("{}\nb\n", ",".repeat(FIELDS));
        assert_eq!(read(wide.as_bytes()), [(1, Err("has too many fields")), good(2, &["b"])]);
        assert_eq!(read(b"\xff\xfe,1\nb"), [(1, Err("is not UTF-8")), good(2, &["b"])]);
        // Bare carriage returns as line breaks: the second line would be lost silently.
        let bare = Err("has a carriage return that ends no line");
        assert_eq!(read(b"a,b\r1,2\r3,4"), [(1, bare.clone())]);
        assert_eq!(read(b"a\r\r\n\"b\rc\"\nd"), [(1, bare), good(2, &["b\rc"]), good(3, &["d"])]);
        // An unclosed quote costs the maximum length and no more, each time.
        let quotes = "\"x\n".repeat(200_000) + "\"";
        assert!(read(quotes.as_bytes()).len() < 200_001);
    }
}
