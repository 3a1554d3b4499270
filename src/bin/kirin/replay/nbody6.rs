//! Repeats the calls of NBODY6's library, and compares the results with the recorded ones.

use std::path::Path;
use std::time::Instant;

use kirin::client::{IrregularBlock, Nbody6, Orbit, RegularBlock};
use kirin_core::sources::particle::Force;
use kirin_core::trace::nbody6::{Call, IrregularForce, RegularForce, Source};
use kirin_core::trace::{Event, Trace};

use super::summary::Summary;
use super::turn::turn;

/// A replay under way.
pub struct PlayerNbody6 {
    trace: Trace,
    summary: Summary,
}

impl PlayerNbody6 {
    /// At the beginning of the trace in a file.
    ///
    /// # Errors
    ///
    /// It is no trace.
    pub fn new(file: &Path) -> Result<Self, String> {
        let summary = Summary {
            nbody6: Some(Box::default()),
            ..Summary::default()
        };
        Ok(Self {
            trace: Trace::open(file).map_err(|e| e.to_string())?,
            summary,
        })
    }

    /// Goes on for about `seconds`, to the end of what can be read.
    pub fn play(&mut self, library: &Nbody6, seconds: f64) -> Summary {
        let Self { trace, summary } = self;
        if !summary.finished {
            summary.finished = turn(trace, seconds, |event| {
                summary.events += 1;
                if let Event::Nbody6(call) = event {
                    repeat(library, summary, call);
                }
            });
        }
        summary.clone()
    }
}

/// Runs `call` and adds its time.
fn timed(seconds: &mut f64, call: impl FnOnce()) {
    let begin = Instant::now();
    call();
    *seconds += begin.elapsed().as_secs_f64();
}

fn repeat(library: &Nbody6, summary: &mut Summary, call: Call) {
    match call {
        Call::Open { room } => library.open_regular(room),
        Call::Close => library.close_regular(),
        Call::Send { sources, .. } => {
            let (mass, mut x, mut v) = columns(&sources);
            timed(&mut summary.write_seconds, || {
                library.send(&mass, &mut x, &mut v);
            });
        }
        Call::Regular {
            by_mass, forces, ..
        } => regular(library, summary, by_mass, &forces),
        Call::Potentials {
            sources,
            first,
            potentials,
            ..
        } => {
            // A trace that was made by hand may ask for stars that are not there.
            let first = usize::try_from(first).unwrap_or(usize::MAX);
            if first
                .checked_add(potentials.len())
                .is_none_or(|end| end > sources.len())
            {
                return;
            }
            let (mass, mut x, _) = columns(&sources);
            let mut found = vec![0.0; potentials.len()];
            let nbody6 = summary.nbody6.get_or_insert_default();
            timed(&mut nbody6.potential_seconds, || {
                library.potentials(&mass, &mut x, first, &mut found);
            });
            let of = |&pot| Force {
                pot,
                ..Force::default()
            };
            for (found, recorded) in found.iter().zip(&potentials) {
                nbody6.potentials.add(&of(found), &of(recorded));
            }
        }
        Call::IrregularOpen { room, longest } => library.open_irregular(room, longest),
        Call::IrregularClose => library.close_irregular(),
        Call::Star { address, star } => {
            if let Some(address) = from_zero(address) {
                timed(&mut summary.write_seconds, || {
                    library.set_star(address, &Orbit::from(&star));
                });
            }
        }
        Call::List {
            address,
            neighbours,
        } => {
            let list: Option<Vec<usize>> = neighbours.iter().map(|&n| from_zero(n)).collect();
            if let (Some(address), Some(list)) = (from_zero(address), list) {
                timed(&mut summary.write_seconds, || {
                    library.set_list(address, &list);
                });
            }
        }
        Call::Irregular {
            ti,
            with_nearest,
            forces,
            ..
        } => irregular(library, summary, (ti, with_nearest), &forces),
    }
}

fn from_zero(address: i32) -> Option<usize> {
    usize::try_from(address).ok()?.checked_sub(1)
}

type Columns = (Vec<f64>, Vec<[f64; 3]>, Vec<[f64; 3]>);

fn columns(sources: &[Source]) -> Columns {
    (
        sources.iter().map(|s| s.mass).collect(),
        sources.iter().map(|s| s.x).collect(),
        sources.iter().map(|s| s.v).collect(),
    )
}

/// Calls for regular forces, in parts of the size that every library takes.
fn regular(library: &Nbody6, summary: &mut Summary, by_mass: bool, forces: &[RegularForce]) {
    let limit = match library.is_kirin() {
        true => usize::MAX,
        false => Nbody6::LARGEST_BLOCK,
    };
    summary.split += u64::from(forces.len() > limit);
    // With rows of this length the same lists are too long as in the recorded run. Where none was, one entry more shows a
    // list that grew.
    let most = forces.iter().map(|f| f.list.len()).max().unwrap_or(0);
    let is_cut = forces.iter().any(|f| f.list.len() as u64 != f.neighbours);
    let longest = most + usize::from(!is_cut);
    for forces in forces.chunks(limit) {
        let mut block = RegularBlock::new(forces.len(), longest);
        block.by_mass = by_mass;
        for (k, one) in forces.iter().enumerate() {
            let target = &one.target;
            (block.x[k], block.v[k]) = (target.x, target.v);
            (block.h2[k], block.dtr[k]) = (target.h2, target.dtr);
        }
        timed(&mut summary.force_seconds, || {
            library.regular_forces(&mut block);
        });
        for (k, recorded) in forces.iter().enumerate() {
            let found = Force {
                acc: block.acc[k],
                jerk: block.jerk[k],
                pot: block.pot[k],
            };
            summary.all.add(&found, &recorded.force);
            let alike = match block.list(k) {
                Some(list) => list == recorded.list && list.len() as u64 == recorded.neighbours,
                // Of too many neighbours older libraries tell any number.
                None if library.is_kirin() => {
                    i64::from(block.neighbours(k)).unsigned_abs() == recorded.neighbours
                }
                None => recorded.list.len() as u64 != recorded.neighbours,
            };
            summary.lists.add(alike);
        }
    }
}

fn irregular(
    library: &Nbody6,
    summary: &mut Summary,
    (ti, with_nearest): (f64, bool),
    forces: &[IrregularForce],
) {
    let addresses: Option<Vec<usize>> = forces.iter().map(|f| from_zero(f.address)).collect();
    let Some(addresses) = addresses else { return };
    let mut block = IrregularBlock::new(&addresses);
    let nbody6 = summary.nbody6.get_or_insert_default();
    timed(&mut nbody6.irregular_seconds, || {
        library.irregular_forces(ti, &mut block);
    });
    for (k, recorded) in forces.iter().enumerate() {
        let of = |acc, jerk| Force {
            acc,
            jerk,
            pot: 0.0,
        };
        let found = of(block.acc[k], block.jerk[k]);
        nbody6
            .irregular
            .add(&found, &of(recorded.acc, recorded.jerk));
        if with_nearest {
            summary
                .neighbours
                .add(block.nearest(k) == from_zero(recorded.nearest));
        }
    }
}
