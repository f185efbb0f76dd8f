//! Edge lists and completion lists may contain anything: each line is either read or reported by its number.

use crate::hostile::{file, is_fit, samples};
use crate::import::{CompletionList, EdgeList, EdgeListError};
use proptest::prelude::*;
use std::io::BufReader;

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

/// Reads the whole file; checks that lines are in order and that errors can be displayed.
fn edges(bytes: &[u8], buffer: usize) {
    let mut list = match EdgeList::new(BufReader::with_capacity(buffer, bytes)) {
        Ok(list) => list,
        Err(EdgeListError::Io(error)) => panic!("{error}"),
        Err(error @ (EdgeListError::Empty | EdgeListError::NoHeader)) => {
            return assert!(is_fit(&error.to_string()));
        }
    };
    let mut before = 1;
    while let Some(line) = list.next_line().unwrap() {
        assert!(line.number > before, "{} after {before}", line.number);
        before = line.number;
        match line.edge {
            Ok((from, to)) => assert!(from.max(to) < 1 << 62),
            Err(bad) => assert!(is_fit(&bad.to_string()), "{bad}"),
        }
    }
    assert_eq!(list.bytes(), u64::try_from(bytes.len()).unwrap());
}

fn completions(bytes: &[u8], buffer: usize) {
    let mut list = CompletionList::new(BufReader::with_capacity(buffer, bytes));
    let mut before = 0;
    while let Some(line) = list.next_line().unwrap() {
        assert!(line.number > before, "{} after {before}", line.number);
        before = line.number;
        if let Err(words) = line.completion {
            assert!(is_fit(&words), "{words:?}");
        }
    }
    assert_eq!(list.bytes(), u64::try_from(bytes.len()).unwrap());
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
