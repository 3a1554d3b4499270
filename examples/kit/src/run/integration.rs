//! The trait of an integration method: the functions that the loop of a run calls.

use std::error::Error;
use std::path::Path;

use crate::body::Body;
use crate::bound::{BoundPart, Potentials};
use crate::columns::Column;
use crate::galaxy::{Field, Galaxy, Units};
use crate::snapshot::Snapshot;
use crate::summary::{view, view_panel};
use kirin_report::plot::{Figure, View};

/// What a [`Run`](super::Run) asks of the method that moves its bodies.
pub trait Integration {
    /// What can stop it.
    type Error: Error + 'static;

    /// Time at which the last step ended.
    fn time(&self) -> f64;

    /// Time at which the next step ends; `None` where it would end after `t_end`.
    fn next_time(&self, t_end: f64) -> Option<f64>;

    /// Takes the step to [`next_time`](Self::next_time).
    ///
    /// # Errors
    ///
    /// The step cannot be taken: then everything is as it was before.
    fn step(&mut self, t_end: f64) -> Result<(), Self::Error>;

    /// The time for which the bodies are known if they are wanted at `t`. It is `t` itself if the method knows the
    /// bodies between steps, otherwise the end of the first step that reaches `t`. `None` if another step must be taken
    /// first.
    fn visible(&self, t: f64) -> Option<f64>;

    /// All bodies at `t`, a time that [`visible`](Self::visible) returned. The integration itself is not changed.
    ///
    /// # Errors
    ///
    /// Those of a step.
    fn bodies_at(&mut self, t: f64) -> Result<Vec<Body>, Self::Error>;

    /// The potential that all other bodies have at each of `bodies`, which [`bodies_at`](Self::bodies_at) returned last:
    /// what came with the forces, or sums over all pairs that the ranks have shared. All ranks call it together. `None`
    /// if there are neither: the run then sums over all pairs.
    ///
    /// # Errors
    ///
    /// The others cannot be asked.
    fn potentials(&mut self, _bodies: &[Body]) -> Result<Option<Potentials>, Self::Error> {
        Ok(None)
    }

    /// Kinetic and potential energy of the motion within systems of stars that move as one particle each. The time is
    /// that of the bodies which [`bodies_at`](Self::bodies_at) returned last. The cluster's own energy, to which errors
    /// are relative, does not include these energies.
    fn within_systems(&self) -> [f64; 2] {
        [0.0; 2]
    }

    /// The stars of each system that moves as one particle, as places in the bodies that
    /// [`bodies_at`](Self::bodies_at) returned last. Which stars are bound and the virial ratio follow from the centres
    /// of the systems.
    fn systems(&self) -> Vec<Vec<usize>> {
        Vec::new()
    }

    /// What must be added to the potential energy computed from the positions of these `bodies`, which
    /// [`bodies_at`](Self::bodies_at) returned last. Two stars may be so close that these positions have too few digits
    /// for their distance.
    fn lost_digits(&self, _bodies: &[Body]) -> f64 {
        0.0
    }

    /// What is around the bodies and which units they have, where the program has options for that.
    fn galaxy(&self) -> Option<&Galaxy> {
        None
    }

    /// The field around the bodies, if there is one.
    fn field(&self) -> Option<&dyn Field> {
        self.galaxy()?.field()
    }

    /// The energy that the bodies have got because the field changed with time: it is no error of theirs.
    fn gain(&self) -> f64 {
        0.0
    }

    /// The units of the bodies, where they are known.
    fn units(&self) -> Option<Units> {
        self.galaxy()?.known_units()
    }

    /// A message for the user about something odd in the integration, each at most once. The run asks now and then,
    /// after [`bodies_at`](Self::bodies_at).
    fn remark(&mut self) -> Option<String> {
        None
    }

    /// What makes the energy error smaller, for people.
    fn remedy(&self) -> &'static str {
        "smaller steps or more softening help"
    }

    /// The `value` of rank 0, on all ranks of the integration.
    ///
    /// # Errors
    ///
    /// The others cannot be asked.
    fn share(&mut self, value: f64) -> Result<f64, Self::Error> {
        Ok(value)
    }

    /// The columns of what it records of the bodies besides what all applications do.
    fn own_columns(&self) -> Vec<Column> {
        Vec::new()
    }

    /// Whether an own column has numbers that are not always 0 or missing: a table is written without the others.
    fn has_column(&self, _name: &str) -> bool {
        true
    }

    /// The values of the [`own_columns`](Self::own_columns), for the `bodies` that [`bodies_at`](Self::bodies_at)
    /// returned last and for the bound ones among them.
    fn own_numbers(&self, _bodies: &[Body], _bound: &BoundPart) -> Vec<f64> {
        Vec::new()
    }

    /// Lines (keys with a dot, and values) that a snapshot of bodies alone has besides.
    fn notes(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Half the width of a film of the run, of which the first frame shows `bodies`.
    fn film_half_width(&self, bodies: &[Body]) -> f64 {
        1.5 * View::half_width([&view(self.time(), bodies)])
    }

    /// A frame of the film: by default, everybody in the x-y plane.
    fn frame(&self, t: f64, bodies: &[Body], half_width: f64) -> Figure {
        let units = self.units();
        let panel = view_panel(String::new(), view(t, bodies), half_width, units.as_ref());
        let myr = units.map_or_else(String::new, |units| {
            format!(" ({:.3} Myr)", t * units.time())
        });
        Figure {
            title: format!("t = {t:.3}{myr}"),
            subtitle: format!("{} bodies in the x-y plane", bodies.len()),
            columns: vec![vec![panel]],
        }
    }

    /// Softening length.
    fn eps(&self) -> f64;

    /// Number of bodies.
    fn count(&self) -> usize;

    /// All that is needed to go on with the same bits.
    ///
    /// # Errors
    ///
    /// It is elsewhere, and cannot be had.
    fn state(&self) -> Result<Snapshot, Self::Error>;

    /// Checks that a run can go on from the present [`state`](Self::state). After an error a run asks this before it
    /// replaces the last state that was saved.
    ///
    /// # Errors
    ///
    /// It cannot.
    fn check(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Writes the state to `path` in parts, by more than one rank, and adds `lines` to those of the snapshot. `None`
    /// if this integration has no parts: nothing was written, and rank 0 must save what [`state`](Self::state) returns.
    /// All ranks get the same answer, also where a part cannot be written; why, in words.
    ///
    /// # Errors
    ///
    /// The others cannot be asked.
    fn save_in_parts(
        &self,
        _lines: &[(String, String)],
        _path: &Path,
    ) -> Result<Option<Result<(), String>>, Self::Error> {
        Ok(None)
    }

    /// The rank of this process, and the number of ranks. All ranks make the same run; rank 0 has the bodies and
    /// writes the files.
    fn rank(&self) -> (usize, usize) {
        (0, 1)
    }

    /// Whether all ranks have this error at the same step and can still communicate. If so, the state before this
    /// step is saved.
    fn is_common(_error: &Self::Error) -> bool {
        false
    }

    /// Agrees with all ranks on what to do before the next step. `wanted` is what this rank wants. All ranks get the
    /// same answer. What one rank wants may be done only some steps later.
    ///
    /// # Errors
    ///
    /// The others cannot be asked.
    fn agree(&mut self, wanted: Decision) -> Result<Decision, Self::Error> {
        Ok(wanted)
    }
}

/// What all ranks do between two steps. They must agree on it, because a signal or the clock of one rank is unknown
/// to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// A checkpoint is written.
    pub checkpoint: bool,
    /// The run ends, because a signal says so.
    pub stop: bool,
    /// The run ends, because its time on the wall is over.
    pub time_limit: bool,
}
