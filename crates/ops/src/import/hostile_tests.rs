//! Edge lists and completion lists may contain anything: each line is either read or reported by its number.

use crate::hostile::{file, is_fit, samples};
use crate::import::{Completion, Edge, EdgeListError, FileLine, Lines};
use proptest::prelude::*;
use std::io::{BufRead, BufReader};

const EDGES: [&str; 4] = ["from,to\n", "\u{feff}a,b\r\n", "\"x\",\"y\"\n", "1,2\n"];
const NUMBERS: [&str; 5] = ["1,2\n", "3,4\r\n", "4611686018427387903", "4611686018427387904", "\"5\",6\n"];
const COMPLETIONS: [&str; 2] =
    ["\u{feff}", "{\"user\":\"mia\",\"step\":\"one\",\"completedAt\":\"2024-05-01T00:00:00Z\"}\n"];
const ENTRIES: [&str; 9] = [
    "{\"user\":\"mia\",\"quest\":null,\"step\":\"one\",\"points\":5,\"completedAt\":\"2024-05-01T00:00:00Z\"}\n",
    "\"user\":",
    "\"step\":",
    "\"quest\":",
    "\"points\":",
    "\"completedAt\":",
    "\"mia\"",
    "\"2024-05-01T00:00:00Z\"",
    "\\ud800",
];

fn edges(bytes: &[u8], buffer: usize) {
    let list = match Lines::<_, Edge>::after_header(BufReader::with_capacity(buffer, bytes)) {
        Ok(list) => list,
        Err(EdgeListError::Io(error)) => panic!("{error}"),
        Err(error @ (EdgeListError::Empty | EdgeListError::NoHeader)) => {
            return assert!(is_fit(&error.to_string()));
        }
    };
    let edges = whole(list, bytes, 1);
    assert!(edges.into_iter().all(|(from, to)| from.max(to) < 1 << 62));
}

fn completions(bytes: &[u8], buffer: usize) {
    whole(Lines::<_, Completion>::new(BufReader::with_capacity(buffer, bytes)), bytes, 0);
}

/// Reads the rest of a file, after the line `before`; checks that lines are in order and that errors can be displayed.
fn whole<T: FileLine>(mut list: Lines<impl BufRead, T>, bytes: &[u8], mut before: u64) -> Vec<T> {
    let mut good = Vec::new();
    while let Some(line) = list.next_line().unwrap() {
        assert!(line.number > before, "{} after {before}", line.number);
        before = line.number;
        match line.content {
            Ok(content) => good.push(content),
            Err(words) => assert!(is_fit(&words), "{words:?}"),
        }
    }
    assert_eq!(list.bytes(), u64::try_from(bytes.len()).unwrap());
    good
}

proptest! {
    #[test]
    fn any_file_is_an_edge_list_or_reported_by_line(bytes in file(&EDGES, &NUMBERS), buffer in 1..20_usize) {
        edges(&bytes, buffer);
    }

    #[test]
    fn any_file_is_a_list_of_completions_or_reported_by_line(
        bytes in file(&COMPLETIONS, &ENTRIES),
        buffer in 1..20_usize,
    ) {
        completions(&bytes, buffer);
    }
}

#[test]
fn inputs_that_once_failed_are_read_or_reported() {
    for (name, bytes) in samples() {
        println!("{name}");
        edges(&bytes, 7);
        completions(&bytes, 7);
        edges(&[b"from,to\n", bytes.as_slice()].concat(), 8192);
    }
}
