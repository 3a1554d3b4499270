//! Reads a particle set, computes the forces through kirin's Rust client, prints them as
//! the clients in the other languages do.

use std::process::ExitCode;

use ffi_tests::report::exponential;
use ffi_tests::sets::Set;
use kirin::client::{Block, Grape};

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_default();
    let read = std::fs::read_to_string(&path).map_err(|e| e.to_string());
    match read.and_then(|text| Set::from_text(&text)) {
        Ok(set) => compute(&set),
        Err(message) => {
            eprintln!("{path}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn compute(set: &Set) -> ExitCode {
    let grape = Grape::linked();
    grape.open(0);
    for (address, source) in (0..).zip(&set.sources) {
        if grape.set_j_particle(0, address, 0.125, &source.into()) != 0 {
            return ExitCode::FAILURE;
        }
    }
    grape.set_ti(0, set.ti);
    let mut block = Block::default();
    let mut list = [0; 1000];
    for probes in set.probes.chunks(grape.npipes()) {
        block.resize(probes.len());
        for (i, p) in probes.iter().enumerate() {
            block.index[i] = p.index;
            block.x[i] = p.x;
            block.v[i] = p.v;
            block.h2[i] = p.h2;
            block.nearest[i] = 0;
        }
        grape.firsthalf(0, set.sources.len(), &mut block, set.eps2);
        if grape.lasthalf2(0, set.sources.len(), &mut block, set.eps2) != Some(0) {
            return ExitCode::FAILURE;
        }
        grape.read_neighbour_list(0);
        for i in 0..probes.len() {
            let mut line = format!("{:12}", block.index[i]);
            for value in block.acc[i].iter().chain(&block.jerk[i]) {
                line += &exponential(*value);
            }
            let (_, length) = grape.get_neighbour_list(0, i, &mut list).unwrap_or((0, 0));
            line += &exponential(block.pot[i]);
            line += &format!("{:12}{length:6}", block.nearest[i]);
            for label in &list[..length] {
                line += &format!("{label:12}");
            }
            println!("{line}");
        }
    }
    grape.close(0);
    ExitCode::SUCCESS
}
