//! Deterministic particle sets, and the text file in which clients of all languages read them.
//!
//! ```text
//! nj ni ti eps2
//! address index tj dtj mass a2by18[3] a1by6[3] aby2[3] v[3] x[3]     (nj lines)
//! index x[3] v[3] h2                                                (ni lines)
//! ```

use std::fmt::Write;

use kirin_core::random::Random;
use kirin_core::sources::particle::JParticle;

use crate::direct::{Probe, Source};

impl From<&Source> for JParticle {
    fn from(source: &Source) -> Self {
        let &Source {
            index,
            t,
            mass,
            a2by18,
            a1by6,
            aby2,
            v,
            x,
        } = source;
        Self {
            index,
            t,
            mass,
            x,
            v,
            aby2,
            a1by6,
            a2by18,
        }
    }
}

/// One force request.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// Time of the prediction.
    pub ti: f64,
    /// Squared softening length.
    pub eps2: f64,
    /// The attracting particles, by address.
    pub sources: Vec<Source>,
    /// Where the force is wanted.
    pub probes: Vec<Probe>,
}

/// `n` particles with all derivatives, their times spread over a step before `ti`; every one is a probe too.
pub fn cloud(n: usize, seed: u64, eps2: f64) -> Set {
    let mut noise = Random::new(2 * seed + 1);
    let ti = 0.625;
    let sources: Vec<Source> = (0..n)
        .map(|j| Source {
            index: 100 + 3 * i32::try_from(j).expect("sets are small"),
            t: ti - f64::from((j % 5) as u32) / 32.0,
            mass: (1.5 + noise.signed()) / n as f64,
            a2by18: noise.vector(0.5),
            a1by6: noise.vector(0.3),
            aby2: noise.vector(0.5),
            v: noise.vector(0.7),
            x: noise.vector(1.0),
        })
        .collect();
    let probes = sources.iter().map(|s| probe(s, ti, 0.2)).collect();
    Set {
        ti,
        eps2,
        sources,
        probes,
    }
}

/// A source's own position and velocity at `ti`.
pub fn probe(source: &Source, ti: f64, h2: f64) -> Probe {
    let (x, v) = source.predict(ti);
    Probe {
        index: source.index,
        x,
        v,
        h2,
    }
}

impl Set {
    /// The file that the clients read. Every number reads back to the same bits.
    pub fn to_text(&self) -> String {
        let mut out = format!(
            "{} {} {:e} {:e}\n",
            self.sources.len(),
            self.probes.len(),
            self.ti,
            self.eps2
        );
        for (address, s) in self.sources.iter().enumerate() {
            let _ = write!(out, "{address} {} {:e} 0.125 {:e}", s.index, s.t, s.mass);
            for vector in [s.a2by18, s.a1by6, s.aby2, s.v, s.x] {
                push(&mut out, vector);
            }
            out.push('\n');
        }
        for p in &self.probes {
            let _ = write!(out, "{}", p.index);
            push(&mut out, p.x);
            push(&mut out, p.v);
            let _ = writeln!(out, " {:e}", p.h2);
        }
        out
    }

    /// Reads such a file.
    ///
    /// # Errors
    ///
    /// Something in it is not a number, or too few numbers follow each other.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let mut number = || -> Result<f64, String> {
            let word = words.next().ok_or("the file ends early")?;
            word.parse().map_err(|_| format!("{word} is no number"))
        };
        let (nj, ni) = (number()? as usize, number()? as usize);
        let (ti, eps2) = (number()?, number()?);
        let mut sources = vec![Source::default(); nj];
        for _ in 0..nj {
            let address = number()? as usize;
            let mut s = Source {
                index: number()? as i32,
                t: number()?,
                ..Default::default()
            };
            let _step = number()?;
            s.mass = number()?;
            let vectors = [&mut s.a2by18, &mut s.a1by6, &mut s.aby2, &mut s.v, &mut s.x];
            for component in vectors.into_iter().flatten() {
                *component = number()?;
            }
            *sources.get_mut(address).ok_or("an address beyond nj")? = s;
        }
        let mut probes = vec![Probe::default(); ni];
        for p in &mut probes {
            p.index = number()? as i32;
            for component in p.x.iter_mut().chain(&mut p.v) {
                *component = number()?;
            }
            p.h2 = number()?;
        }
        Ok(Self {
            ti,
            eps2,
            sources,
            probes,
        })
    }
}

fn push(out: &mut String, vector: [f64; 3]) {
    for component in vector {
        let _ = write!(out, " {component:e}");
    }
}
