//! Graphs as lists of edges.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// An undirected graph: each edge once, from the lower number to the higher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edges {
    pub(super) name: String,
    pub(super) pairs: Vec<(u32, u32)>,
}

impl Edges {
    /// Normalises pairs in any order and direction, with duplicates; loops are dropped.
    pub(super) fn new(name: impl Into<String>, pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let ordered = pairs.into_iter().filter(|(one, other)| one != other);
        let pairs: BTreeSet<_> = ordered.map(|(one, other)| (one.min(other), one.max(other))).collect();
        Self { name: name.into(), pairs: pairs.into_iter().collect() }
    }

    /// Reads a file with a header line and two numbers on each following line.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse(&name, &text).with_context(|| format!("cannot use {shown}"))
    }

    fn parse(name: &str, text: &str) -> Result<Self> {
        let lines = text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty());
        let pairs = lines.map(|(at, line)| pair(line).with_context(|| format!("line {}", at + 1)));
        let edges = Self::new(name, pairs.collect::<Result<Vec<_>>>()?);
        ensure!(edges.pairs.len() >= 10, "too few edges to hide one in ten");
        Ok(edges)
    }

    /// One more than the highest number.
    pub(super) fn people(&self) -> usize {
        let greatest = self.pairs.iter().map(|(_, greater)| *greater).max();
        greatest.and_then(|greatest| usize::try_from(greatest).ok()).map_or(0, |greatest| greatest + 1)
    }
}

fn pair(line: &str) -> Result<(u32, u32)> {
    let (from, to) = line.split_once(',').context("two numbers with a comma between are expected")?;
    Ok((from.trim().parse()?, to.trim().parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_read_once_whichever_way_round() {
        let lines: Vec<String> = (1..12).map(|to| format!("0,{to}\r\n")).collect();
        let edges = Edges::parse("x", &format!("from,to\n{}3,0\n5,5\n\n", lines.concat())).unwrap();
        assert_eq!((edges.pairs.len(), edges.people()), (11, 12));
        assert!(edges.pairs.is_sorted() && edges.pairs.iter().all(|(one, other)| one < other));
    }

    #[test]
    fn errors_name_the_line() {
        for line in ["1", "1,x", "-1,2", "1,99999999999"] {
            let failed = Edges::parse("x", &format!("from,to\n1,2\n{line}\n")).unwrap_err();
            assert_eq!(failed.to_string(), "line 3", "{line}");
        }
        assert!(Edges::parse("x", "from,to\n1,2\n").is_err());
    }
}
