//! Long measurements of the few-body integrator; FEW_BODY.md has their results.
//!
//! ```sh
//! cargo run --release -p kirin-kit --example few_body -- orbits 1e6       # a hard binary and a distant third star
//! cargo run --release -p kirin-kit --example few_body -- exchange 10000 0.5   # scatterings of a speed in units of v_c
//! ```

use std::error::Error;
use std::f64::consts::TAU;
use std::time::Instant;

use kirin_kit::Body;
use kirin_kit::few_body::hierarchy::{Kind, is_dissolved, nodes};
use kirin_kit::few_body::{Alone, System};
use kirin_kit::models::Random;
use kirin_kit::number::number;
use kirin_kit::vector::Vec3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |k: usize| -> Result<f64, String> {
        let text = arguments.get(k).ok_or("orbits N | exchange N SPEED")?;
        number(text)
    };
    match arguments.first().map(String::as_str) {
        Some("orbits") => orbits(value(1)?),
        Some("exchange") => exchange(value(1)? as u64, value(2)?),
        _ => Err("orbits N | exchange N SPEED".into()),
    }
}

fn body(mass: f64, x: Vec3, v: Vec3) -> Body {
    Body {
        mass,
        x,
        v,
        ..Body::default()
    }
}

/// A binary with a = 1 and e = 0.5 integrated over `count` orbits, alone and with a third star on a circle of 100 a.
fn orbits(count: f64) -> Result<(), Box<dyn Error>> {
    let e: f64 = 0.5;
    let speed = ((1.0 - e) / (1.0 + e)).sqrt();
    let pair = [
        body(0.6, [1.0 + e, 0.0, 0.0], [0.0, speed, 0.0]),
        body(0.4, [0.0; 3], [0.0; 3]),
    ];
    let third = body(0.5, [0.0, 80.0, 60.0], [(1.5_f64 / 100.0).sqrt(), 0.0, 0.0]);
    let triple = [pair[0], pair[1], third];
    for (name, bodies) in [("alone", &pair[..]), ("with a third star", &triple)] {
        let mut system = System::new(bodies)
            .with_tolerance(1e-13)
            .without_analytic_steps();
        let (axis, energy) = (system.orbit(0, 1).axis, system.energy());
        let began = Instant::now();
        // The third star moves the osculating axis to and fro: the mean over many orbits is compared.
        let mean = |system: &mut System| -> Result<f64, Box<dyn Error>> {
            let mut sum = 0.0;
            for _ in 0..1000 {
                system.advance(TAU * 1.618_033_988_749, &mut Alone)?;
                sum += system.orbit(0, 1).axis;
            }
            Ok(sum / 1000.0)
        };
        let before = mean(&mut system)?;
        system.advance(TAU * (count - 3236.0).max(0.0), &mut Alone)?;
        let after = mean(&mut system)?;
        println!(
            "{name}: {count} orbits in {:.1} s, {:.0} basic steps an orbit; mean axis {:e}, energy {:e}, axis now {:e}",
            began.elapsed().as_secs_f64(),
            system.steps() as f64 / count,
            after / before - 1.0,
            system.energy() / energy - 1.0,
            system.orbit(0, 1).axis / axis - 1.0,
        );
    }
    Ok(())
}

/// How scatterings end.
#[derive(Default)]
struct Ends {
    flyby: u64,
    exchange: u64,
    ionization: u64,
    open: u64,
}

/// The cross section of exchange of three equal masses, in units of pi a^2 (v_c / v)^2: binaries on circles, a star from
/// infinity with `speed` in units of v_c, impact parameters uniform in area up to (4/v + 0.6) a (Hut and Bahcall 1983).
fn exchange(count: u64, speed: f64) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let (largest, mut ends) = (4.0 / speed + 0.6, Ends::default());
    let mut worst: f64 = 0.0;
    for number in 0..count {
        let mut random = Random::of_part(1983, number);
        let impact = largest * random.uniform().sqrt();
        let mut system = System::new(&encounter(&mut random, impact, speed * 1.5_f64.sqrt()))
            .with_tolerance(1e-10);
        let energy = system.energy();
        match end(&mut system)? {
            None => ends.open += 1,
            Some(Kind::Single(_)) => ends.ionization += 1,
            Some(Kind::Binary(parts, _)) => {
                let members = [parts[0].members(), parts[1].members()].concat();
                if members.contains(&2) {
                    ends.exchange += 1;
                } else {
                    ends.flyby += 1;
                }
            }
        }
        worst = worst.max((system.energy() - energy).abs());
    }
    let area = (largest * speed).powi(2);
    let section = |n: u64| {
        let part = n as f64 / count as f64;
        let error = (part * (1.0 - part) / count as f64).sqrt();
        format!("{:.3} +- {:.3}", area * part, area * error)
    };
    let Ends {
        flyby,
        exchange,
        ionization,
        open,
    } = ends;
    println!(
        "v = {speed} v_c, {count} scatterings in {:.1} s: {flyby} fly-bys, {exchange} exchanges, {ionization} ionizations, \
         {open} without end; exchange {}, ionization {}; greatest error of the energy {worst:e}",
        began.elapsed().as_secs_f64(),
        section(exchange),
        section(ionization)
    );
    Ok(())
}

/// A binary of random phase and orientation, and a star on its way from infinity at a distance of 50 a.
fn encounter(random: &mut Random, impact: f64, speed: f64) -> [Body; 3] {
    let (mass, far) = (3.0, 50.0_f64);
    let around = impact * speed / far;
    let inward = -(speed * speed + 2.0 * mass / far - around * around)
        .max(0.0)
        .sqrt();
    let (x, pole) = (random.direction(1.0), random.direction(1.0));
    let across = kirin_kit::vector::cross(&pole, &x);
    let scale = 1.0 / kirin_kit::vector::norm(&across);
    let v = across.map(|c| c * scale * 2.0_f64.sqrt());
    let half = |side: f64| body(1.0, x.map(|c| c * side), v.map(|c| c * side));
    [
        half(0.5),
        half(-0.5),
        body(1.0, [far, 0.0, 0.0], [inward, around, 0.0]),
    ]
}

/// The most bound node at the end; `None` where the three stay together for long.
fn end(system: &mut System) -> Result<Option<Kind>, Box<dyn Error>> {
    for _ in 0..20_000 {
        system.advance(20.0, &mut Alone)?;
        let bodies: Vec<Body> = system
            .bodies()
            .iter()
            .map(|(x, v)| body(1.0, *x, *v))
            .collect();
        let nodes = nodes(&bodies);
        if nodes.len() > 1 && is_dissolved(&nodes, 20.0) {
            let bound = nodes.iter().find(|node| node.orbit().is_some());
            return Ok(Some(bound.unwrap_or(&nodes[0]).kind.clone()));
        }
    }
    Ok(None)
}
