//! The rule by which two neighbour lists are equal.

/// By which rules a library makes lists, compared with the recorded ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// By the same ones: the labels must stand in the same places.
    Same,
    /// The library may order the labels otherwise, and may add the i-particle's own label or leave it out: both are
    /// ignored.
    Other,
}

/// The number of pipelines of a GRAPE-6. Clients take a library with more pipelines for a GPU library. GPU libraries
/// put the i-particle's own label into its list, so kirin with more pipelines does, too.
const GRAPE6: usize = 48;

impl Rules {
    /// Those of a library.
    pub fn of(is_kirin: bool, npipes: usize, recorded: Option<usize>) -> Self {
        let same = recorded.is_some_and(|r| (r > GRAPE6) == (npipes > GRAPE6));
        match is_kirin && same {
            true => Self::Same,
            false => Self::Other,
        }
    }

    /// Whether the list `found` equals the `recorded` list of the i-particle with the label `own`. Each list comes with
    /// the status of its call. The client had `room` for so many labels.
    pub fn alike(
        self,
        own: Option<i32>,
        room: usize,
        (status, found): (i32, &[i32]),
        (recorded_status, recorded): (i32, &[i32]),
    ) -> bool {
        if self == Self::Same {
            return status == recorded_status && found == recorded;
        }
        let (found, recorded) = (others(own, found), others(own, recorded));
        match (status == 0, recorded_status == 0) {
            (true, true) => found == recorded,
            // Of a list that is too long, each library hands out what it likes.
            (false, false) => true,
            // The own label may be the one too many.
            (true, false) => found.len() == room && is_subset(&recorded, &found),
            (false, true) => recorded.len() == room && is_subset(&found, &recorded),
        }
    }
}

/// Whether all of `some` are among `all`; both ascend.
fn is_subset(some: &[i32], all: &[i32]) -> bool {
    some.iter().all(|l| all.binary_search(l).is_ok())
}

/// The labels of others, ascending.
fn others(own: Option<i32>, list: &[i32]) -> Vec<i32> {
    let mut labels: Vec<i32> = list.iter().copied().filter(|&l| Some(l) != own).collect();
    labels.sort_unstable();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kirin_with_as_many_pipelines_makes_the_same_lists() {
        for (is_kirin, npipes, recorded, rules) in [
            (true, 256, Some(256), Rules::Same),
            (true, 64, Some(256), Rules::Same),
            (true, 48, Some(256), Rules::Other),
            (true, 256, Some(48), Rules::Other),
            (true, 48, Some(16), Rules::Same),
            (true, 48, None, Rules::Other),
            (false, 256, Some(256), Rules::Other),
        ] {
            assert_eq!(Rules::of(is_kirin, npipes, recorded), rules);
        }
    }

    #[test]
    fn lists_of_other_libraries_are_sets_without_the_own_label() {
        let recorded = (0, &[1, 5, 7][..]);
        assert!(Rules::Same.alike(Some(5), 3, (0, &[1, 5, 7]), recorded));
        assert!(!Rules::Same.alike(Some(5), 3, (0, &[7, 5, 1]), recorded));
        assert!(!Rules::Same.alike(Some(5), 3, (1, &[1, 5, 7]), recorded));
        assert!(Rules::Other.alike(Some(5), 3, (0, &[7, 1]), recorded));
        assert!(!Rules::Other.alike(Some(5), 3, (0, &[7]), recorded));
        assert!(!Rules::Other.alike(Some(5), 3, (0, &[7, 7, 1]), recorded));
        assert!(!Rules::Other.alike(Some(5), 3, (1, &[7, 1]), recorded));
        assert!(Rules::Other.alike(Some(5), 3, (2, &[8, 9, 10]), (1, &[1, 5, 6])));
        assert!(Rules::Other.alike(Some(5), 3, (0, &[7, 8, 1]), (1, &[1, 5, 7])));
        assert!(!Rules::Other.alike(Some(5), 3, (0, &[7, 1]), (1, &[1, 5, 7])));
        assert!(!Rules::Other.alike(Some(5), 3, (0, &[7, 8, 1]), (1, &[1, 5, 9])));
    }
}
