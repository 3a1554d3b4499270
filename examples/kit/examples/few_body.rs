//! Long measurements of the few-body integrator; FEW_BODY.md has their results.
//!
//! ```sh
//! cargo run --release -p kirin-kit --example few_body -- orbits 1e6           # a hard binary, and a distant third star
//! cargo run --release -p kirin-kit --example few_body -- exchange 10000 0.5   # encounters with a speed in units of v_c
//! ```

use std::error::Error;
use std::time::Instant;

use kirin_kit::few_body::endurance::{Drift, drift};
use kirin_kit::few_body::scattering::scatter;
use kirin_kit::number::number;

const USAGE: &str = "orbits N | exchange N SPEED";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |k: usize| number(arguments.get(k).ok_or(USAGE)?);
    match arguments.first().map(String::as_str) {
        Some("orbits") => orbits(value(1)?),
        Some("exchange") => exchange(value(1)? as u64, value(2)?),
        _ => Err(USAGE.into()),
    }
}

fn orbits(count: f64) -> Result<(), Box<dyn Error>> {
    for (name, with_third) in [("alone", false), ("with a third star", true)] {
        let began = Instant::now();
        let Drift {
            axis,
            energy,
            steps,
        } = drift(count, with_third)?;
        println!(
            "{name}: {count} orbits in {:.1} s, {:.0} basic steps an orbit; mean axis {axis:e}, energy {energy:e}",
            began.elapsed().as_secs_f64(),
            steps / count,
        );
    }
    Ok(())
}

fn exchange(count: u64, speed: f64) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let ends = scatter(count, speed, 1983, 4e5)?;
    let [exchange, ionization] = [ends.exchanges, ends.ionizations].map(|n| ends.section(n));
    println!(
        "exchange {:.3} +- {:.3}, ionization {:.3} +- {:.3}, {:.1} s; {ends:?}",
        exchange.value,
        exchange.error,
        ionization.value,
        ionization.error,
        began.elapsed().as_secs_f64(),
    );
    Ok(())
}
