//! Sequences of calls, as text for the client `calls.c` and as steps for the [`crate::oracle`].

use std::fmt::Write;

use crate::direct::{Probe, Source};

/// The spelling of the calls in a client. A call that does not exist in this spelling is made under its C name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `g6_open`, scalars by value.
    C,
    /// `g6_open_`, scalars by reference.
    Fortran,
    /// The same with a null pointer for the cluster id.
    NullId,
    /// `g6_open_all`, without a cluster id.
    All,
    /// `GPU_g6_open`
    GpuC,
    /// `GPU_g6_open_`
    GpuFortran,
    /// `GPU2_g6calc_lasthalf2_` and its kin.
    Gpu2,
    /// `g6_open_all_`
    AllFortran,
}

impl Spelling {
    /// All spellings.
    pub const ALL: [Self; 8] = [
        Self::C,
        Self::Fortran,
        Self::NullId,
        Self::All,
        Self::GpuC,
        Self::GpuFortran,
        Self::Gpu2,
        Self::AllFortran,
    ];
}

/// Null pointers and other oddities of an array argument; bits that can be joined.
pub mod odd {
    /// `index` is null.
    pub const NO_INDEX: u32 = 1;
    /// `xi` is null.
    pub const NO_X: u32 = 2;
    /// `vi` is null.
    pub const NO_V: u32 = 4;
    /// `h2` is null.
    pub const NO_H2: u32 = 8;
    /// `aold`, `jold` and `phiold` are null; they are full of NaN otherwise.
    pub const NO_OLD: u32 = 16;
    /// `acc` is null.
    pub const NO_ACC: u32 = 32;
    /// `jerk` is null.
    pub const NO_JERK: u32 = 64;
    /// `pot` is null.
    pub const NO_POT: u32 = 128;
    /// `nnbindex` is null.
    pub const NO_NEAREST: u32 = 256;
    /// `acc` and `jerk` are one array.
    pub const SAME: u32 = 512;
    /// Doubles begin at addresses that are no multiples of eight.
    pub const SHIFTED: u32 = 1024;
    /// `firsthalf` is made as `g6calc_firsthalf0`.
    pub const MODE: u32 = 2048;
    /// Calls with a mode have an array of softenings: `eps2` times 1, 2, 3...
    pub const EACH: u32 = 4096;
}

/// A variant of `lasthalf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `g6calc_lasthalf`
    Plain,
    /// `g6calc_lasthalf2`
    Nearest,
    /// `g6calc_lasthalf2p`
    Distance,
    /// `g6calc_lasthalfn`
    PlainLists,
    /// `g6calc_lasthalf2n`
    NearestLists,
    /// `g6calc_lasthalf2np`
    DistanceLists,
    /// `g6calc_lasthalf0`
    Mode,
    /// `g6calc_lasthalf0a_`
    ModeNearest,
}

impl Form {
    /// Whether it writes `nnbindex`.
    pub fn nearest(self) -> bool {
        matches!(self, Self::Nearest | Self::NearestLists | Self::ModeNearest) || self.distance()
    }

    /// Whether it writes `rnnb`.
    pub fn distance(self) -> bool {
        matches!(self, Self::Distance | Self::DistanceLists)
    }
}

/// The arguments that `firsthalf` and `lasthalf` share.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Cluster id.
    pub id: i32,
    /// Number of leading addresses.
    pub nj: i32,
    /// Number of i-particles; the arrays go on with zeros after `probes`.
    pub ni: i32,
    /// Bits of [`odd`].
    pub odd: u32,
    /// Squared softening length.
    pub eps2: f64,
    /// The i-particles.
    pub probes: Vec<Probe>,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// How the following calls are spelt.
    Spelling(Spelling),
    /// `g6_open`
    Open(i32),
    /// `g6_close`
    Close(i32),
    /// `g6_npipes`
    Npipes,
    /// `g6_set_ti`
    Time(i32, f64),
    /// `g6_set_j_particle`: id, address, particle, which vector is null (from 1; 0 for none)
    Particle(i32, i32, Source, u32),
    /// `g6_set_j_particle_mxonly`: id, address, label, mass, position
    Mass(i32, i32, i32, f64, [f64; 3]),
    /// `g6calc_firsthalf`
    First(Request),
    /// `g6calc_lasthalf` and its variants, and what `nnbindex` holds on entry
    Last(Form, Request, i32),
    /// `g6_read_neighbour_list`
    Read(i32),
    /// `g6_get_neighbour_list`: id, ipipe, maxlength, null pointer (1: list, 2: length)
    Get(i32, i32, i32, u32),
    /// `g6_set_neighbour_list_sort_mode`, then what `get` returns
    Sort(i32),
    /// `g6_set_nip`
    Nip(i32, i32),
    /// `g6_set_njp`
    Njp(i32, i32),
    /// `g6_set_i_particle`: id, address, i-particle, softening
    Probe(i32, i32, Probe, f64),
    /// `g6_set_i_particle_vector_`: first address; the k-th particle has `eps2` times k
    Probes(i32, Request),
    /// `g6_set_j_particle_multisend`, or `_mxfast` if false: id, number of clusters, address, particle
    Send(i32, i32, bool, i32, Source),
    /// `g6_get_force`, or `_etc` if true; the number of entries to print
    Force(i32, i32, bool),
    /// `g6_get_predicted_j_particles`
    Predicted(i32, i32),
    /// Every call that is accepted without effect
    Harmless(i32),
    /// No call: prints the most memory that the process has had, in kilobytes
    Memory,
}

/// A sequence of calls.
#[derive(Clone, Debug, Default)]
pub struct Script(pub Vec<Call>);

impl Script {
    /// An empty sequence.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a call.
    pub fn call(&mut self, call: Call) -> &mut Self {
        self.0.push(call);
        self
    }

    /// Loads `sources` at the addresses from 0 of cluster 0.
    pub fn load(&mut self, sources: &[Source]) -> &mut Self {
        for (address, source) in (0..).zip(sources) {
            self.call(Call::Particle(0, address, *source, 0));
        }
        self
    }

    /// Sets the time of cluster 0.
    pub fn time(&mut self, ti: f64) -> &mut Self {
        self.call(Call::Time(0, ti))
    }

    /// `firsthalf` on cluster 0.
    pub fn first(&mut self, nj: i32, probes: &[Probe], eps2: f64) -> &mut Self {
        self.call(Call::First(request(nj, probes, eps2)))
    }

    /// `lasthalf2` on cluster 0, with `nnbindex` full of -1.
    pub fn last(&mut self, nj: i32, probes: &[Probe], eps2: f64) -> &mut Self {
        self.call(Call::Last(Form::Nearest, request(nj, probes, eps2), -1))
    }

    /// `firsthalf` and `lasthalf2`.
    pub fn block(&mut self, nj: i32, probes: &[Probe], eps2: f64) -> &mut Self {
        self.first(nj, probes, eps2).last(nj, probes, eps2)
    }

    /// The lists of the block's first `n` i-particles of cluster 0.
    pub fn lists(&mut self, n: i32) -> &mut Self {
        self.call(Call::Read(0));
        for i in 0..n {
            self.call(Call::Get(0, i, 1000, 0));
        }
        self
    }

    /// The text that the client reads.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for call in &self.0 {
            write_call(&mut out, call);
            out.push('\n');
        }
        out
    }
}

/// A request to cluster 0 without oddities.
pub fn request(nj: i32, probes: &[Probe], eps2: f64) -> Request {
    Request {
        id: 0,
        nj,
        ni: i32::try_from(probes.len()).expect("scripts are small"),
        odd: 0,
        eps2,
        probes: probes.to_vec(),
    }
}

fn write_call(out: &mut String, call: &Call) {
    // Writing to a string does not fail.
    let _ = match call {
        Call::Spelling(s) => write!(out, "spelling {}", *s as u32),
        Call::Open(id) => write!(out, "open {id}"),
        Call::Close(id) => write!(out, "close {id}"),
        Call::Npipes => write!(out, "npipes"),
        Call::Time(id, t) => write!(out, "time {id} {t:e}"),
        Call::Particle(id, address, s, null) => {
            let _ = write!(out, "particle {id} {null} {address}");
            write_source(out, s);
            Ok(())
        }
        Call::Mass(id, address, index, mass, x) => {
            let _ = write!(out, "mass {id} {address} {index} {mass:e}");
            push(out, x);
            Ok(())
        }
        Call::First(r) => {
            let _ = write!(
                out,
                "firsthalf {} {} {} {} {:e}",
                r.id, r.nj, r.ni, r.odd, r.eps2
            );
            write_probes(out, &r.probes);
            Ok(())
        }
        Call::Last(form, r, fill) => {
            let _ = write!(out, "lasthalf {} {} {} {}", *form as u32, r.id, r.nj, r.ni);
            let _ = write!(out, " {} {:e} {fill}", r.odd, r.eps2);
            write_probes(out, &r.probes);
            Ok(())
        }
        Call::Read(id) => write!(out, "read {id}"),
        Call::Get(id, pipe, most, null) => write!(out, "get {id} {pipe} {most} {null}"),
        Call::Sort(mode) => write!(out, "sort {mode}"),
        Call::Nip(id, n) => write!(out, "nip {id} {n}"),
        Call::Njp(id, n) => write!(out, "njp {id} {n}"),
        Call::Probe(id, address, p, eps2) => {
            let _ = write!(out, "probe {id} {address} {}", p.index);
            push(out, &[p.x, p.v].concat());
            write!(out, " {eps2:e} {:e}", p.h2)
        }
        Call::Probes(address, r) => {
            let _ = write!(out, "probes {} {address} {}", r.id, r.ni);
            let _ = write!(out, " {} {:e}", r.odd, r.eps2);
            write_probes(out, &r.probes);
            Ok(())
        }
        Call::Send(id, count, whole, address, s) => {
            let whole = u32::from(*whole);
            let _ = write!(out, "send {id} {count} {whole} {address}");
            write_source(out, s);
            Ok(())
        }
        Call::Force(id, ni, etc) => write!(out, "force {id} {ni} {}", u32::from(*etc)),
        Call::Predicted(id, nj) => write!(out, "predicted {id} {nj}"),
        Call::Memory => write!(out, "memory"),
        Call::Harmless(id) => write!(out, "harmless {id}"),
    };
}

fn push(out: &mut String, values: &[f64]) {
    for value in values {
        let _ = write!(out, " {value:e}");
    }
}

fn write_source(out: &mut String, s: &Source) {
    let _ = write!(out, " {} {:e} 0.125 {:e}", s.index, s.t, s.mass);
    push(out, &[s.a2by18, s.a1by6, s.aby2, s.v, s.x].concat());
}

fn write_probes(out: &mut String, probes: &[Probe]) {
    let _ = write!(out, " {}", probes.len());
    for p in probes {
        let _ = write!(out, " {}", p.index);
        push(out, &p.x);
        push(out, &p.v);
        push(out, &[p.h2]);
    }
}
