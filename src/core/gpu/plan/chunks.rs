//! The division of a large batch of i-particles into chunks, so that the host gathers and hands out one chunk while the
//! device computes another.

/// Seconds that the host needs for one i-particle: `GATHER` to copy it from the client's arrays to the memory that is
/// sent, `DELIVER` to copy its results to the client's arrays. Each is half of the time of a step of 16384 i-particles
/// in `benches/results/host-epyc-avx2-2vcpu.txt`, divided by 16384.
const GATHER: f64 = 6e-9;
const DELIVER: f64 = 6e-9;

/// Seconds that a chunk costs besides its pairs, for two copies and two or three launches. Each takes about 2
/// microseconds on an H100 (`benches/results/gpu-h100`).
const CHUNK: f64 = 10e-6;

/// Fewest i-particles of a chunk, except the last.
const LEAST: usize = 2048;

/// A batch with fewer i-particles is one chunk.
pub const DIVIDED: usize = 2 * LEAST;

/// The number of i-particles of a chunk is a multiple of this number. The largest thread block of the force kernels has
/// as many i-particles, so all thread blocks are full.
const MULTIPLE: usize = 512;

/// The number of i-particles in a chunk. `seconds` is the time of the device for this many of them.
pub fn size(ni: usize, mut seconds: impl FnMut(usize) -> f64) -> usize {
    if ni < DIVIDED {
        return ni;
    }
    let mut best = (f64::INFINITY, ni);
    for count in [1, 2, 4, 8, 16] {
        let each = match count {
            1 => ni,
            _ => ni.div_ceil(count).next_multiple_of(MULTIPLE),
        };
        if count > 1 && each < LEAST {
            break;
        }
        let time = time(ni, each, seconds(each) + CHUNK);
        if time < best.0 {
            best = (time, each);
        }
    }
    best.1
}

/// The time until the client has all results, if the device takes so many seconds for a chunk.
fn time(ni: usize, each: usize, seconds: f64) -> f64 {
    let chunks = ni.div_ceil(each);
    // When the device is done with the chunk, and when its results are with the client.
    let (mut computed, mut delivered) = (0.0_f64, ni as f64 * GATHER);
    for chunk in 1..=chunks {
        let so_far = (chunk * each).min(ni);
        let share = (so_far - (chunk - 1) * each) as f64;
        computed = computed.max(so_far as f64 * GATHER) + seconds * share / each as f64;
        delivered = delivered.max(computed) + share * DELIVER;
    }
    delivered
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that takes so many nanoseconds for an i-particle, at least those of 2048 of them.
    fn device(nanoseconds: f64) -> impl Fn(usize) -> f64 {
        move |ni| ni.max(2048) as f64 * nanoseconds * 1e-9
    }

    #[test]
    fn small_blocks_are_one_chunk_and_large_ones_several() {
        for ni in [1, 100, 2047, 2048, 4000] {
            assert_eq!(size(ni, device(20.0)), ni);
        }
        let large = size(16384, device(20.0));
        assert!((2048..=4096).contains(&large), "{large}");
        assert_eq!(large % MULTIPLE, 0);
        // Where the device takes milliseconds, few chunks are enough, and more would cost their launches.
        assert_eq!(size(16384, device(1000.0)), 4096);
    }

    #[test]
    fn no_division_is_chosen_that_would_take_longer() {
        for ni in [1, 3000, 5000, 16384, 65536] {
            for nanoseconds in [0.1, 3.0, 20.0, 400.0] {
                let device = device(nanoseconds);
                let each = size(ni, &device);
                assert!((1..=ni).contains(&each));
                let of = |each| time(ni, each, device(each) + CHUNK);
                assert!(of(each) <= of(ni));
                assert!(
                    each == ni || each >= LEAST && each % MULTIPLE == 0,
                    "{each}"
                );
            }
        }
        // One chunk: gather, compute, deliver.
        let plain = time(1000, 1000, 5e-6);
        assert!((plain - (1000.0 * (GATHER + DELIVER) + 5e-6)).abs() < 1e-12);
    }
}
