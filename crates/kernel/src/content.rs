//! The problems of content that is validated as a whole, before any of it is stored.

use std::fmt;

/// The longest address of a picture, in bytes.
pub const LONGEST_ADDRESS: usize = 500;

/// Whether a picture of the content may have this address: a path of the service or an https address, of at most
/// [`LONGEST_ADDRESS`] visible ASCII characters.
pub fn is_image_address(address: &str) -> bool {
    // Two leading slashes would start the address of another host.
    let is_path = address.starts_with('/') && !address.starts_with("//");
    let is_plain = address.len() <= LONGEST_ADDRESS && address.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain && (is_path || address.starts_with("https://"))
}

/// A problem in the content and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentError<Item, Problem> {
    /// The list that the item is in; its text form names one item of it.
    pub item: Item,
    /// Key of the item as written.
    pub key: String,
    /// Index in the list, from 0; locates the item in the file where the key does not.
    pub place: usize,
    /// What is wrong.
    pub problem: Problem,
}

impl<Item: fmt::Display, Problem: fmt::Display> fmt::Display for ContentError<Item, Problem> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item, key, place, problem } = self;
        write!(f, "{item} {key:?} (no. {}): {problem}", place.saturating_add(1))
    }
}

impl<Item, Problem> std::error::Error for ContentError<Item, Problem>
where
    Item: fmt::Debug + fmt::Display,
    Problem: fmt::Debug + fmt::Display,
{
}

/// The problems found so far, and the item that is being validated.
#[derive(Debug, Clone)]
pub struct ContentProblems<Item, Problem> {
    errors: Vec<ContentError<Item, Problem>>,
    item: Item,
    key: String,
    place: usize,
}

impl<Item: Copy, Problem> ContentProblems<Item, Problem> {
    /// No problems, before the first item of a list.
    pub fn new(item: Item) -> Self {
        Self { errors: Vec::new(), item, key: String::new(), place: 0 }
    }

    /// Begins with an item: problems that are noted from now on are its problems.
    pub fn at(&mut self, item: Item, key: &str, place: usize) {
        (self.item, self.key, self.place) = (item, key.to_owned(), place);
    }

    /// Notes a problem of the item.
    pub fn note(&mut self, problem: Problem) {
        let (item, key, place) = (self.item, self.key.clone(), self.place);
        self.errors.push(ContentError { item, key, place, problem });
    }

    /// Returns the value; on an error, notes the problem and returns `None`.
    pub fn take<T, E>(&mut self, value: Result<T, E>, problem: impl FnOnce(E) -> Problem) -> Option<T> {
        value.map_err(|error| self.note(problem(error))).ok()
    }

    /// A number of `least` to `most`. Notes the problem if it is out of range.
    pub fn within(&mut self, number: i64, least: u32, most: u32, problem: Problem) -> Option<u32> {
        let number = u32::try_from(number).ok().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.note(problem);
        }
        number
    }

    /// Orders the problems by list and place, for those that were noted of earlier items. Those of an item keep their order.
    pub fn sort(&mut self)
    where
        Item: Ord,
    {
        self.errors.sort_by_key(|error| (error.item, error.place));
    }

    /// How many problems were noted.
    pub fn count(&self) -> usize {
        self.errors.len()
    }

    /// The value if no problem was noted, otherwise all problems.
    pub fn unless_any<T>(self, value: T) -> Result<T, Vec<ContentError<Item, Problem>>> {
        if self.errors.is_empty() { Ok(value) } else { Err(self.errors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_at_a_path_of_the_service_or_at_https() {
        for right in ["/media/cup.webp", "https://fans.example/cup.png"] {
            assert!(is_image_address(right), "{right}");
        }
        let long = format!("/{}", "a".repeat(LONGEST_ADDRESS));
        for wrong in ["", "cup.webp", "//evil.example/cup.webp", "http://fans.example/a", "/a b", "/ä", &long]
        {
            assert!(!is_image_address(wrong), "{wrong}");
        }
        assert!(is_image_address(&long[..LONGEST_ADDRESS]));
    }

    #[test]
    fn problems_can_be_ordered_by_list_and_place() {
        let mut problems = ContentProblems::new(0);
        for (item, place, problem) in [(1, 0, "c"), (0, 1, "b"), (0, 0, "a"), (1, 0, "d")] {
            problems.at(item, "key", place);
            problems.note(problem);
        }
        problems.sort();
        let errors = problems.unless_any(()).unwrap_err();
        assert_eq!(errors.iter().map(|error| error.problem).collect::<String>(), "abcd");
    }

    #[test]
    fn problems_are_of_the_item_that_began_last() {
        let mut problems = ContentProblems::new("list");
        problems.at("wheel", "daily", 2);
        assert_eq!(problems.take("4".parse::<u8>(), |error| error.to_string()), Some(4));
        assert_eq!(problems.take("x".parse::<u8>(), |_| "no number".to_owned()), None);
        assert_eq!(problems.within(3, 1, 5, "range".to_owned()), Some(3));
        assert_eq!(problems.within(-3, 1, 5, "range".to_owned()), None);
        assert_eq!(problems.count(), 2);
        let errors = problems.unless_any(()).unwrap_err();
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["wheel \"daily\" (no. 3): no number", "wheel \"daily\" (no. 3): range"]);
        assert_eq!(ContentProblems::<_, String>::new("list").unless_any(7), Ok(7));
    }
}
