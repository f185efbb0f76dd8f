//! Counts the lines of one source file.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, ImplItemFn, ItemEnum, ItemFn, ItemImpl, ItemMod, ItemStruct, ItemTrait, ItemType, ItemUse,
};

/// Lines that hold code, without blank lines and comments; documentation comments are comments.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FileCount {
    /// Lines outside `#[cfg(test)]` items.
    pub(super) code: usize,
    /// Lines inside `#[cfg(test)]` items.
    pub(super) tests: usize,
    /// `struct`, `enum`, `trait` and `type` items outside `#[cfg(test)]` items.
    pub(super) types: usize,
    /// Modules that are declared with `#[cfg(test)] mod name;`.
    pub(super) test_modules: Vec<String>,
}

/// Counts the lines of a file. Fails where the text is not Rust.
pub(super) fn count(text: &str) -> syn::Result<FileCount> {
    let mut items = Items::default();
    items.visit_file(&syn::parse_file(text)?);
    let mut lines = BTreeSet::new();
    add_lines(text.parse::<TokenStream>()?, &mut lines);
    let blank: BTreeSet<usize> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| line.trim().is_empty())
        .map(|(number, _)| number)
        .collect();
    let is_test = |line: &&usize| items.tests.iter().any(|range| range.contains(line));
    let tests = lines.difference(&blank).filter(is_test).count();
    Ok(FileCount {
        code: lines.difference(&blank).count() - tests,
        tests,
        types: items.types,
        test_modules: items.test_modules,
    })
}

fn lines_of(span: Span) -> RangeInclusive<usize> {
    span.start().line..=span.end().line
}

/// Adds the lines of every token, except documentation.
fn add_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (TokenTree::Punct(hash), [TokenTree::Group(group), next @ ..])
                if hash.as_char() == '#' && is_doc(group) =>
            {
                next
            }
            (TokenTree::Punct(hash), [TokenTree::Punct(bang), TokenTree::Group(group), next @ ..])
                if hash.as_char() == '#' && bang.as_char() == '!' && is_doc(group) =>
            {
                next
            }
            (TokenTree::Group(group), next) => {
                lines.extend(lines_of(group.span_open()));
                lines.extend(lines_of(group.span_close()));
                add_lines(group.stream(), lines);
                next
            }
            (token, next) => {
                lines.extend(lines_of(token.span()));
                next
            }
        };
    }
}

/// A documentation comment is the attribute `#[doc = "…"]`.
fn is_doc(group: &proc_macro2::Group) -> bool {
    group.delimiter() == Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

/// The types of a file and the lines of its tests.
#[derive(Default)]
struct Items {
    types: usize,
    tests: Vec<RangeInclusive<usize>>,
    test_modules: Vec<String>,
}

impl Items {
    /// Whether the item is compiled for tests only; records its lines then.
    fn is_test(&mut self, attributes: &[Attribute], item: &impl Spanned) -> bool {
        let is_test = attributes.iter().any(is_cfg_test);
        if is_test {
            self.tests.push(lines_of(item.span()));
        }
        is_test
    }

    fn add_type(&mut self, attributes: &[Attribute], item: &impl Spanned) {
        if !self.is_test(attributes, item) {
            self.types += 1;
        }
    }
}

fn is_cfg_test(attribute: &Attribute) -> bool {
    attribute
        .meta
        .require_list()
        .is_ok_and(|list| list.path.is_ident("cfg") && list.tokens.to_string() == "test")
}

impl Visit<'_> for Items {
    fn visit_item_mod(&mut self, item: &ItemMod) {
        if !self.is_test(&item.attrs, item) {
            visit::visit_item_mod(self, item);
        } else if item.content.is_none() {
            self.test_modules.push(item.ident.to_string());
        }
    }

    fn visit_item_fn(&mut self, item: &ItemFn) {
        if !self.is_test(&item.attrs, item) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &ItemImpl) {
        if !self.is_test(&item.attrs, item) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &ImplItemFn) {
        if !self.is_test(&item.attrs, item) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        self.is_test(&item.attrs, item);
    }

    fn visit_item_struct(&mut self, item: &ItemStruct) {
        self.add_type(&item.attrs, item);
    }

    fn visit_item_enum(&mut self, item: &ItemEnum) {
        self.add_type(&item.attrs, item);
    }

    fn visit_item_trait(&mut self, item: &ItemTrait) {
        self.add_type(&item.attrs, item);
    }

    fn visit_item_type(&mut self, item: &ItemType) {
        self.add_type(&item.attrs, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"//! About the file.
#![allow(dead_code)]

/// A documented type,
/// over two lines.
#[derive(Debug)]
struct Fan {
    name: String, // a comment after code
    /* a comment
       of two lines */
    points: u64,
}

type Points = u64;

impl Iterator for Fan {
    type Item = u64;

    #[cfg(test)]
    fn next(&mut self) -> Option<u64> {
        None
    }
}

const TEXT: &str = "first // no comment

third";

#[cfg(test)]
mod samples;

#[cfg(test)]
mod tests {
    /// A comment.
    struct Sample;

    #[test]
    fn a_test() {}
}
"#;

    #[test]
    fn blank_lines_and_comments_do_not_count_and_tests_count_apart() {
        let expected = FileCount { code: 12, tests: 12, types: 2, test_modules: vec!["samples".to_owned()] };
        assert_eq!(count(SAMPLE).unwrap(), expected);
    }

    #[test]
    fn a_text_that_is_not_rust_is_an_error() {
        assert!(count("fn {").is_err());
    }
}
