//! What tests throw at everything that reads files: bytes of all kinds, put together of what the reader knows and what it
//! does not, and the inputs that once went wrong, which are kept in the folder `samples`.

use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Pieces that mean something to one reader or another, and that none of them should fall over.
const PIECES: [&[u8]; 46] = [
    b",",
    b",,",
    b"\"",
    b"\"\"",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\0",
    b"\t",
    b" ",
    b";",
    b"#",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf0\x9f\xa7\xa4",
    b"\xe2\x80\xae",
    b"\x1b[31m",
    b"\xc2\x9b31m",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[[quest]]",
    b"[[pack]]",
    b"{}",
    b"null",
    b"true",
    b"0",
    b"-0",
    b"-1",
    b"007",
    b"1.5",
    b"1e400",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551616",
    b"0000-01-01T00:00:00-23:59",
    b"9999-12-31T23:59:60Z",
    b"2024-02-30T00:00:00Z",
    b"2016-12-31T23:59:60Z",
    b"2024-05-01T00:00:00.123456789Z",
    b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    b"\\u0000",
    b"\\ud800",
];

/// One of the pieces, one of `known`, or bytes that nobody chose.
fn piece(known: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::sample::select(PIECES.as_slice()).prop_map(<[u8]>::to_vec),
        4 => prop::sample::select(known).prop_map(|known| known.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

/// A file that begins with one of `heads` or with nothing, and goes on with whatever.
pub(crate) fn file(
    heads: &'static [&'static str],
    known: &'static [&'static str],
) -> impl Strategy<Value = Vec<u8>> {
    let head = prop::option::weighted(0.8, prop::sample::select(heads));
    (head, prop::collection::vec(piece(known), 0..60))
        .prop_map(|(head, pieces)| [head.unwrap_or_default().as_bytes(), &pieces.concat()].concat())
}

/// A text that was good, with pieces in the place of some of it, and some of its lines gone or doubled.
pub(crate) fn damaged(good: &'static str) -> impl Strategy<Value = String> {
    let line = any::<prop::sample::Index>();
    let cut = (line.clone(), any::<prop::sample::Index>(), 0..30_usize, piece(&[""]));
    let lines = prop::collection::vec((line, any::<bool>()), 0..4);
    (prop::collection::vec(cut, 0..4), lines).prop_map(|(cuts, lines)| {
        let mut text: Vec<Vec<u8>> =
            good.split_inclusive('\n').map(|line| line.as_bytes().to_vec()).collect();
        for (line, at, length, piece) in cuts {
            let line = line.index(text.len());
            // Its end included, which is all there is of a line that is gone already.
            let from = at.index(text[line].len() + 1);
            let to = (from + length).min(text[line].len());
            text[line].splice(from..to, piece);
        }
        for (line, is_doubled) in lines {
            let line = line.index(text.len());
            text[line] = if is_doubled { text[line].repeat(2) } else { Vec::new() };
        }
        String::from_utf8_lossy(&text.concat()).into_owned()
    })
}

/// What once went wrong, or nearly: the name of each file and what it holds.
pub(crate) fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let samples: Vec<_> = files.map(|file| (file.display().to_string(), fs::read(&file).unwrap())).collect();
    assert!(samples.len() >= 10, "the samples are elsewhere");
    samples
}

/// Whether the words can be shown in a terminal as they are, and do not repeat a file.
pub(crate) fn is_fit(words: &str) -> bool {
    !words.is_empty() && words.chars().count() < 400 && !words.chars().any(char::is_control)
}
