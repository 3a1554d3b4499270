//! Forces without an integration: a cluster at rest is stored in the library, and blocks have any size.

use std::time::Instant;

use kirin::client::{Block, Grape, JParticle};
use kirin_kit::Body;
use serde_json::{Value, json};

use crate::error::Error;

/// The cluster of the library that is used.
const ID: i32 = 0;

/// One sample takes as many calls as fill this many seconds.
const SAMPLE: f64 = 0.01;

/// A cluster in the library's memory, predicted to its own time.
pub struct LoadedCluster<'g> {
    grape: &'g Grape,
    bodies: Vec<Body>,
    eps2: f64,
    /// The first bodies, in parts that the library takes in one call.
    blocks: Vec<Block>,
    ni: usize,
}

impl<'g> LoadedCluster<'g> {
    /// What the library says of itself.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub fn describe(grape: &'g Grape) -> Result<Value, Error> {
        let field = Self::load(grape, Vec::new(), 0.0)?;
        Ok(json!({
            "backend": field.grape.backend(ID),
            "precision": field.grape.precision(ID),
            "library": field.grape.name(),
            "npipes": field.grape.npipes(),
            "is_kirin": field.grape.is_kirin(),
        }))
    }

    /// Loads a cluster with the softening `eps`.
    ///
    /// # Errors
    ///
    /// The library cannot be opened.
    pub fn load(grape: &'g Grape, bodies: Vec<Body>, eps: f64) -> Result<Self, Error> {
        let status = grape.open(ID);
        if status != 0 {
            return Err(Error::Library(status));
        }
        for (address, body) in (0..).zip(&bodies) {
            let j = JParticle {
                index: body.index,
                mass: body.mass,
                x: body.x,
                v: body.v,
                ..Default::default()
            };
            grape.set_j_particle(ID, address, 1.0, &j);
        }
        grape.set_ti(ID, 0.0);
        Ok(Self {
            grape,
            bodies,
            eps2: eps * eps,
            blocks: Vec::new(),
            ni: 0,
        })
    }

    /// Number of bodies.
    pub fn n(&self) -> usize {
        self.bodies.len()
    }

    /// The seconds of one request for the forces on the first `ni` bodies.
    ///
    /// # Errors
    ///
    /// The library fails.
    pub fn seconds(&mut self, ni: usize) -> Result<f64, Error> {
        if self.ni != ni {
            self.choose(ni);
            // Memory is warm from here on, and on a device.
            self.request()?;
        }
        let began = Instant::now();
        let mut requests = 0;
        loop {
            self.request()?;
            requests += 1;
            let seconds = began.elapsed().as_secs_f64();
            if seconds >= SAMPLE {
                return Ok(seconds / f64::from(requests));
            }
        }
    }

    fn choose(&mut self, ni: usize) {
        self.ni = ni;
        let parts = self.bodies[..ni].chunks(self.grape.npipes());
        self.blocks = parts
            .map(|part| {
                let mut block = Block::default();
                block.resize(part.len());
                for (k, body) in part.iter().enumerate() {
                    (block.index[k], block.x[k], block.v[k]) = (body.index, body.x, body.v);
                }
                block
            })
            .collect();
    }

    fn request(&mut self) -> Result<(), Error> {
        let nj = self.bodies.len();
        for block in &mut self.blocks {
            self.grape.firsthalf(ID, nj, block, self.eps2);
            match self.grape.lasthalf(ID, nj, block, self.eps2) {
                0 => {}
                status => return Err(Error::Library(status)),
            }
        }
        Ok(())
    }
}

impl Drop for LoadedCluster<'_> {
    fn drop(&mut self) {
        self.grape.close(ID);
    }
}
