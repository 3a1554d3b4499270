//! Benchmarks of the CPU backend and of the interface on top of it.
//!
//! ```text
//! KIRIN_THREADS=1 cargo bench --bench cpu             # all of it
//! KIRIN_THREADS=1 cargo bench --bench cpu -- kernel   # one group
//! ```
//!
//! How results are recorded: `benches/results/README.md`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kirin::client::{self, Grape};
use kirin_core::cpu;
use kirin_core::force::{Backend, ForceRequest, Results};
use kirin_core::process::settings::Precision;
use kirin_core::random::Random;
use kirin_core::sources::jmemory::JMemory;
use kirin_core::sources::neighbours::{LABELS_AT_MOST, ListRules};
use kirin_core::sources::particle::{IParticle, JParticle};

/// Softening of every force.
const EPS2: f64 = 1.0 / 65536.0;
/// Stars of the small-block path, prediction and writes.
const N: usize = 16384;
/// Cluster of the interface.
const ID: i32 = 0;
/// What time advances by between two blocks.
const TICK: f64 = 1.0 / (1_u64 << 36) as f64;

/// A uniform cube with block times: distances and times without a pattern are all that matters here.
fn cube(n: usize) -> Vec<JParticle> {
    let mut random = Random::default();
    (0..)
        .take(n)
        .map(|index| {
            let mut vector = || random.vector(1.0);
            let (x, v, aby2, a1by6) = (vector(), vector(), vector(), vector());
            JParticle {
                index,
                t: -0.5_f64.powi(5 + index % 8),
                mass: 1.0 / n as f64,
                x,
                v,
                aby2,
                a1by6,
                ..JParticle::default()
            }
        })
        .collect()
}

fn memory_of(stars: &[JParticle]) -> JMemory {
    let mut memory = JMemory::default();
    for (address, star) in (0..).zip(stars) {
        memory.write(address, star).expect("there is memory");
    }
    memory
}

fn block_of(stars: &[JParticle], ni: usize) -> ForceRequest {
    let particle = |p: &JParticle| IParticle {
        index: p.index,
        x: p.x,
        v: p.v,
        eps2: EPS2,
        h2: 0.0,
    };
    ForceRequest {
        nj: stars.len(),
        ti: 0.0,
        particles: stars[..ni].iter().map(particle).collect(),
    }
}

/// Each instruction set and precision, one thread, everything predicted already.
fn kernels(c: &mut Criterion) {
    const NJ: usize = 4096;
    const NI: usize = 64;
    let stars = cube(NJ);
    let mut memory = memory_of(&stars);
    let block = block_of(&stars, NI);
    let mut group = c.benchmark_group("kernel");
    group.throughput(Throughput::Elements((NI * NJ) as u64));
    for set in cpu::available() {
        for precision in [Precision::Mixed, Precision::Double, Precision::Single] {
            for (nearest, name) in [(false, "force"), (true, "nearest")] {
                let mut backend = cpu::build(set, precision, 1, true).expect("it is available");
                let mut results = Results::default();
                group.bench_function(format!("{set}/{precision}/{name}"), |b| {
                    b.iter(|| finish(&mut *backend, &mut memory, &block, nearest, &mut results));
                });
            }
        }
    }
    group.finish();
}

/// The cost of leaves that are summed again in double precision. One run has binaries whose stars single precision
/// cannot tell apart; half of all stars are in one. The other run has none. For each star of a binary one leaf is
/// summed again, so the share of such leaves is smallest where there are many leaves. The run with binaries is to take
/// at most three times as long.
fn binaries(c: &mut Criterion) {
    const SEPARATION: f64 = 1e-9;
    let mut group = c.benchmark_group("binaries");
    for n in [512, 4096, 16384] {
        for (name, paired) in [("none", false), ("every second star", true)] {
            let mut stars = cube(n);
            for at in (1..n).step_by(4).filter(|_| paired) {
                stars[at] = stars[at - 1];
                stars[at].index += 1;
                stars[at].x[0] += SEPARATION;
            }
            let mut memory = memory_of(&stars);
            let mut block = block_of(&stars, 512);
            block.particles.iter_mut().for_each(|p| p.eps2 = 0.0);
            let set = cpu::available()[0];
            let mut backend = cpu::build(set, Precision::Mixed, 1, true).expect("it is available");
            let mut results = Results::default();
            group.throughput(Throughput::Elements((512 * n) as u64));
            group.bench_function(format!("{n}/{name}"), |b| {
                b.iter(|| finish(&mut *backend, &mut memory, &block, false, &mut results));
            });
        }
    }
    group.finish();
}

/// One i-particle at a new time each: nearly all of it is prediction.
fn prediction(c: &mut Criterion) {
    let stars = cube(N);
    let mut memory = memory_of(&stars);
    let mut group = c.benchmark_group("prediction");
    group.throughput(Throughput::Elements(N as u64));
    for set in cpu::available() {
        for precision in [Precision::Mixed, Precision::Double] {
            let mut backend = cpu::build(set, precision, 1, true).expect("it is available");
            let (mut block, mut results) = (block_of(&stars, 1), Results::default());
            group.bench_function(format!("{set}/{precision}"), |b| {
                b.iter(|| {
                    block.ti += TICK;
                    finish(&mut *backend, &mut memory, &block, false, &mut results);
                });
            });
        }
    }
    group.finish();
}

fn finish(
    backend: &mut dyn Backend,
    memory: &mut JMemory,
    block: &ForceRequest,
    nearest: bool,
    results: &mut Results,
) {
    backend
        .start(memory, block)
        .and_then(|()| backend.finish(memory, block, nearest, results))
        .expect("the CPU computes every block");
    black_box(&results);
}

/// Loads a cluster through the interface.
fn load(grape: &Grape, stars: &[JParticle]) {
    grape.open(ID);
    for (address, star) in (0..).zip(stars) {
        grape.set_j_particle(ID, address, TICK, star);
    }
}

/// Writes alone: into the memory, and through the interface when nothing waits for them.
fn set_j_particle(c: &mut Criterion) {
    const WRITES: usize = 1024;
    let stars = cube(N);
    let mut group = c.benchmark_group("set_j_particle");
    group.throughput(Throughput::Elements(WRITES as u64));
    let mut memory = memory_of(&stars);
    group.bench_function("memory", |b| {
        b.iter(|| {
            for (address, star) in (0..).zip(&stars[..WRITES]) {
                memory.write(address, black_box(star)).expect("a page");
            }
        });
    });
    let grape = Grape::linked();
    load(&grape, &stars);
    group.bench_function("in order", |b| {
        b.iter(|| {
            for (address, star) in (0..).zip(&stars[..WRITES]) {
                grape.set_j_particle(ID, address, TICK, black_box(star));
            }
        });
    });
    group.bench_function("mass and position", |b| {
        // A cluster of its own: where something moves the call has more to write.
        const TREE: i32 = ID + 1;
        grape.open(TREE);
        b.iter(|| {
            for (address, star) in (0..).zip(&stars[..WRITES]) {
                let JParticle { index, mass, x, .. } = black_box(star);
                grape.set_mass_position(TREE, address, *index, *mass, x);
            }
        });
        grape.close(TREE);
    });
    group.bench_function("scattered", |b| {
        b.iter_batched(
            || scattered(WRITES),
            |addresses| {
                for address in addresses {
                    let star = &stars[address as usize];
                    grape.set_j_particle(ID, address, TICK, black_box(star));
                }
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
    grape.close(ID);
}

/// Some addresses all over the memory.
fn scattered(count: usize) -> Vec<i32> {
    let n = i32::try_from(N).expect("a small number");
    (0..).take(count).map(|k: i32| k * 5003 % n).collect()
}

/// What a block step of a Hermite code asks of the library.
fn block_step(c: &mut Criterion) {
    let mut stars = cube(N);
    let grape = Grape::linked();
    load(&grape, &stars);
    let mut ti = 0.0;
    let mut group = c.benchmark_group("block step");
    for ni in [1, 8, 32] {
        let addresses = scattered(ni);
        let mut block = client::Block::default();
        block.resize(ni);
        for (k, &address) in addresses.iter().enumerate() {
            let star = &stars[address as usize];
            (block.index[k], block.x[k], block.v[k]) = (star.index, star.x, star.v);
        }
        group.throughput(Throughput::Elements((ni * N) as u64));
        group.bench_function(BenchmarkId::from_parameter(format!("ni {ni}")), |b| {
            b.iter(|| {
                ti += TICK;
                grape.set_ti(ID, ti);
                grape.firsthalf(ID, N, &mut block, EPS2);
                grape.lasthalf(ID, N, &mut block, EPS2);
                for &address in &addresses {
                    let star = &mut stars[address as usize];
                    star.t = ti;
                    grape.set_j_particle(ID, address, TICK, star);
                }
            });
        });
    }
    group.finish();
    grape.close(ID);
}

/// Neighbour lists that have all particles or a hundredth of them, with labels that ascend with the addresses or do
/// not. Every instruction set runs on one thread, the best one also on all threads.
fn lists(c: &mut Criterion) {
    const NJ: usize = 8192;
    const NI: usize = 256;
    let rules = ListRules {
        include_self: true,
        sorted: true,
        at_most: LABELS_AT_MOST,
    };
    let mut group = c.benchmark_group("lists");
    for (labels, factor) in [("ascending", 1), ("mixed", 3571)] {
        let mut stars = cube(NJ);
        for star in &mut stars {
            star.index = star.index * factor % NJ as i32;
        }
        let memory = memory_of(&stars);
        // A sphere of radius 0.27 has a hundredth of the volume of the cube.
        for (length, h2) in [("full", 100.0), ("short", 0.27 * 0.27)] {
            let mut block = block_of(&stars, NI);
            block.particles.iter_mut().for_each(|p| p.h2 = h2);
            let threads = cpu::threads(0);
            let ways = cpu::available().into_iter().map(|set| (set, 1));
            for (set, threads) in ways.chain([(cpu::available()[0], threads)]) {
                let mut backend =
                    cpu::build(set, Precision::Mixed, threads, true).expect("it is available");
                let lists = backend.neighbour_lists(&memory, &block, rules);
                let lists = lists.expect("there is memory");
                let entries: usize = (0..NI).map(|i| lists.list(i).len()).sum();
                group.throughput(Throughput::Elements(entries as u64));
                group.bench_function(format!("{labels}/{length}/{set}/{threads}"), |b| {
                    b.iter(|| black_box(backend.neighbour_lists(&memory, &block, rules)));
                });
            }
        }
    }
    group.finish();
}

/// Short: there are many functions, and their speed hardly varies on a quiet machine.
fn settings() -> Criterion {
    Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(50)
}

criterion_group! {
    name = cpu_backend;
    config = settings();
    targets = kernels, binaries, prediction, set_j_particle, block_step, lists
}
criterion_main!(cpu_backend);
