//! The program to which the state in a snapshot belongs. No other program can continue from it, except that `hermite`
//! and `parallel` share their states.

use super::Snapshot;

/// End of the key with which each program begins the lines of its state.
pub(crate) const SETTINGS: &str = ".settings";

impl Snapshot {
    /// The program whose state this is; `None` where it holds bodies.
    pub fn owner(&self) -> Option<&str> {
        self.run
            .iter()
            .find_map(|(key, _)| key.strip_suffix(SETTINGS))
    }

    /// Checks that the snapshot holds bodies only, or the state of a run of `program`. Another program's state
    /// cannot be used: its columns may mean something else, and each of its bodies may have a time of its own.
    ///
    /// # Errors
    ///
    /// It is a run of another program; in words.
    pub fn check_owner(&self, program: &str) -> Result<(), String> {
        match self.owner() {
            Some(owner) if owner != program => Err(format!(
                "it is a run of another program, {owner} (`{owner}.settings`): only that goes on from its state; the files of its \
                 --snapshot-every hold bodies for every program"
            )),
            _ => Ok(()),
        }
    }

    /// Checks that all bodies are at the time of the snapshot.
    ///
    /// # Errors
    ///
    /// They are not; in words.
    pub fn check_one_time(&self) -> Result<(), String> {
        let mut states = self.states.iter().flatten();
        match states.any(|state| state.t != self.time) {
            true => Err(
                "the bodies are at times of their own: a leapfrog starts with all at one"
                    .to_owned(),
            ),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::State;

    fn with(key: &str) -> Snapshot {
        Snapshot {
            run: vec![(key.to_owned(), "1".to_owned())],
            ..Snapshot::default()
        }
    }

    #[test]
    fn a_state_belongs_to_its_program() {
        let state = with("hermite.settings");
        assert_eq!(state.check_owner("hermite"), Ok(()));
        let refusal = state.check_owner("symplectic").unwrap_err();
        assert!(refusal.contains("hermite") && refusal.contains("--snapshot-every"));
        assert_eq!(with("run.eps").check_owner("symplectic"), Ok(()));
    }

    #[test]
    fn bodies_have_one_time() {
        let state = |t| Snapshot {
            states: Some(vec![State {
                t,
                ..State::default()
            }]),
            ..Snapshot::default()
        };
        assert_eq!(state(0.0).check_one_time(), Ok(()));
        assert!(
            state(0.5)
                .check_one_time()
                .unwrap_err()
                .contains("times of their own")
        );
    }
}
