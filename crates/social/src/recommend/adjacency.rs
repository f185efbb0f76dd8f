//! Sorted lists of nodes. Inserting moves the entries behind the new one: a few microseconds in a list of a hundred
//! thousand, with the least possible memory.

use std::cmp::Ordering;

/// Inserts `node`; `false` if the list contains it already.
pub(super) fn insert(list: &mut Vec<u32>, node: u32) -> bool {
    match list.binary_search(&node) {
        Ok(_) => false,
        Err(place) => {
            // Most people follow few others: lists grow in small steps, those of hubs by an eighth.
            if list.len() == list.capacity() {
                list.reserve_exact((list.len() / 8).max(4));
            }
            list.insert(place, node);
            true
        }
    }
}

/// Removes `node`; `false` if the list does not contain it.
pub(super) fn remove(list: &mut Vec<u32>, node: u32) -> bool {
    let place = list.binary_search(&node);
    if let Ok(place) = place {
        list.remove(place);
    }
    place.is_ok()
}

/// The number of nodes that two lists have in common. Takes time proportional to the length of the shorter list times
/// the logarithm of the gaps in the longer one.
pub(super) fn common(one: &[u32], other: &[u32]) -> u32 {
    let (short, mut long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let mut count = 0;
    for node in short {
        long = behind(long, *node);
        match long.first().map(|found| found.cmp(node)) {
            None => break,
            Some(Ordering::Equal) => count += 1,
            Some(Ordering::Less | Ordering::Greater) => {}
        }
    }
    count
}

/// The rest of a list from the first entry that is not less than `node`, found by exponential search.
fn behind(list: &[u32], node: u32) -> &[u32] {
    let mut step = 1;
    while list.get(step).is_some_and(|found| *found < node) {
        step *= 2;
    }
    let reach = list.get(..=step).unwrap_or(list);
    list.get(reach.partition_point(|found| *found < node)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_there_once_and_in_order() {
        let mut list = Vec::new();
        for (node, is_new) in [(5, true), (1, true), (5, false), (9, true), (3, true), (1, false)] {
            assert_eq!(insert(&mut list, node), is_new, "{node}");
        }
        assert_eq!(list, [1, 3, 5, 9]);
        assert!(remove(&mut list, 3) && !remove(&mut list, 3) && !remove(&mut list, 4));
        assert_eq!(list, [1, 5, 9]);
    }

    #[test]
    fn a_list_holds_little_more_than_its_entries() {
        let mut list = Vec::new();
        for node in 0..100_000 {
            insert(&mut list, node);
            assert!(list.capacity() <= list.len() + (list.len() / 8).max(4), "{node}");
        }
    }

    #[test]
    fn what_two_lists_have_in_common() {
        let odd: Vec<u32> = (0..1000).map(|number| number * 2 + 1).collect();
        for (one, count) in [
            (vec![], 0),
            (vec![0, 2, 4], 0),
            (vec![1], 1),
            (vec![1999], 1),
            (vec![0, 1, 2, 3, 500, 501, 1999, 5000], 4),
            (odd.clone(), 1000),
        ] {
            assert_eq!(common(&one, &odd), count, "{one:?}");
            assert_eq!(common(&odd, &one), count, "{one:?}");
        }
        assert_eq!(common(&[], &[]), 0);
    }
}
