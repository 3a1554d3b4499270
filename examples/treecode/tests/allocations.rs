//! Steps allocate no memory after the first ones, since each buffer is kept.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use kirin::client::Grape;
use kirin_kit::models;
use treecode::forces::Engine;
use treecode::integrator::Integrator;
use treecode::settings::Settings;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_step_allocates_nothing() {
    let grape = Grape::linked();
    let bodies = models::plummer(6000, 1);
    let settings = Settings {
        n_crit: 200,
        dt: 1.0 / 4096.0,
        quadrupoles: true,
        ..Settings::default()
    };
    // Inside: handing a task to the threads from outside allocates now and then.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    for engine in [Engine::Library(&grape), Engine::Host] {
        let allocated = pool.install(|| {
            let mut run = Integrator::start(engine, settings, 0.0, &bodies).unwrap();
            (0..8).for_each(|_| assert!(run.step(1.0).unwrap()));
            let steps = |_| {
                let before = ALLOCATIONS.load(Relaxed);
                (0..4).for_each(|_| assert!(run.step(1.0).unwrap()));
                ALLOCATIONS.load(Relaxed) - before
            };
            (0..5).map(steps).min()
        });
        // On a busy machine a thread may meet its longest list late.
        assert_eq!(allocated, Some(0));
    }
}
