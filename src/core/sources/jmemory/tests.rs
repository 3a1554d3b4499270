use super::*;
use crate::sources::strided::Strided;

/// A particle at rest.
#[derive(Clone, Copy)]
pub struct AtRest {
    /// Mass.
    pub mass: f64,
    /// Position.
    pub x: [f64; 3],
    /// Square of its own softening length.
    pub eps2: f64,
}

impl JMemory {
    /// Stores particles at rest from `address` on.
    pub fn fill_with(&mut self, address: usize, stars: &[AtRest]) -> Result<()> {
        // SAFETY: there is a star for each of these addresses.
        unsafe { self.fill(address as i32, stars.len(), &given(address, stars)) }
    }
}

/// All that is known of stars, of which the first has this address.
pub fn given(address: usize, stars: &[AtRest]) -> Given {
    let number = |at: *const f64| {
        let step = size_of::<AtRest>();
        Strided::new(at.wrapping_byte_sub(address * step), step as isize)
    };
    let Some(star) = stars.first() else {
        return Given::default();
    };
    let x = [0, 1, 2].map(|k| number(&raw const star.x[k]));
    let mut given = Given::new(Some(number(&star.mass)), None);
    given = given.with([Some(x), None, None, None, None]);
    given.eps2 = Some(number(&star.eps2));
    given
}

fn particle(index: i32) -> JParticle {
    let f = f64::from(index);
    JParticle {
        index,
        t: f + 0.5,
        mass: f,
        x: [f, 2.0 * f, 3.0 * f],
        v: [4.0 * f, 5.0 * f, 6.0 * f],
        aby2: [7.0 * f, 8.0 * f, 9.0 * f],
        a1by6: [10.0 * f, 11.0 * f, 12.0 * f],
        a2by18: [13.0 * f, 14.0 * f, 15.0 * f],
    }
}

/// As clients with particles at rest do it, by the log or at once.
fn write_at_rest(memory: &mut JMemory, address: i32, particle: &JParticle, at_once: bool) {
    let position = memory.reserve(address).unwrap();
    let numbers = ClientParticle::from(particle);
    if at_once {
        // SAFETY: they are the vectors of the particle.
        let done = unsafe { memory.write_at_once(position, address, &numbers, true) };
        assert!(done, "nothing waits");
        return;
    }
    if memory.is_full() {
        assert!(memory.grow().unwrap());
    }
    // SAFETY: as above.
    unsafe { memory.append(position, address, &numbers) };
    memory.take_in();
}

#[test]
fn any_order_of_addresses_reads_back() {
    let mut memory = JMemory::default();
    let addresses = [70_000, 3, i32::MAX, 511, 512, 0, 1 << 20, 3];
    for (i, &a) in addresses.iter().enumerate() {
        memory.write(a, &particle(i as i32)).unwrap();
    }
    assert_eq!(memory.read(3), Some(particle(7)), "the last write wins");
    assert_eq!(memory.read(i32::MAX), Some(particle(2)));
    assert_eq!(memory.read(1), None);
    assert_eq!(memory.read(-1), None);
    let found: Vec<usize> = memory
        .pages(usize::MAX)
        .flat_map(|p| p.slots(usize::MAX).map(|s| p.first_address() + s))
        .collect();
    assert_eq!(found, [0, 3, 511, 512, 70_000, 1 << 20, i32::MAX as usize]);
    assert_eq!(memory.page_count(), 5);
    assert_eq!((memory.present(), memory.written()), (7, 8));
}

/// The short write must leave what the long one leaves, whatever was there before.
#[test]
fn a_particle_at_rest_forgets_what_moved() {
    let at_rest = JParticle {
        index: 9,
        mass: 2.0,
        x: [1.0, -0.0, 3.0],
        ..JParticle::default()
    };
    let timed = JParticle { t: 0.5, ..at_rest };
    let snap = JParticle {
        a2by18: [0.0, 1.0, 0.0],
        ..at_rest
    };
    let all = [None, Some(particle(1)), Some(timed), Some(snap)];
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    let each = |before| ways.map(|(as_columns, at_once)| (before, as_columns, at_once));
    for (before, as_columns, at_once) in all.into_iter().flat_map(each) {
        let mut memory = JMemory::default();
        if as_columns {
            memory.make_columns().unwrap();
        }
        for address in 0..3 {
            if let Some(p) = before {
                memory.write(address, &p).unwrap();
            }
        }
        write_at_rest(&mut memory, 1, &at_rest, at_once);
        assert_eq!(memory.read(1), Some(at_rest));
        assert_eq!(memory.read(2), before);
        assert_eq!(memory.page(0).is_at_rest(), before.is_none());
        let fast = memory.page(0).particle(1).x[1];
        assert_eq!(fast.to_bits(), (-0.0_f64).to_bits());
    }
}

#[test]
fn versions_tell_what_changed() {
    let mut memory = JMemory::default();
    let mut versions = |index, mass, x| {
        let particle = JParticle {
            index,
            mass,
            x: [x; 3],
            ..JParticle::default()
        };
        write_at_rest(&mut memory, 5, &particle, false);
        let page = memory.page(0);
        (page.version(), page.mass_version(), page.index_version())
    };
    let first = versions(3, 1.0, 0.5);
    assert_eq!(versions(3, 1.0, 0.25), (first.0 + 1, first.1, first.2));
    assert_eq!(versions(3, 2.0, 0.25), (first.0 + 2, first.1 + 1, first.2));
    assert_eq!(
        versions(4, 2.0, 0.25),
        (first.0 + 3, first.1 + 1, first.2 + 1)
    );
}

#[test]
fn slots_and_pages_end_at_nj() {
    let mut memory = JMemory::default();
    for a in 0..1200 {
        memory.write(a, &particle(a)).unwrap();
    }
    for nj in [0, 1, 511, 512, 513, 1199, 1200, 5000] {
        let count: usize = memory.pages(nj).map(|p| p.slots(nj).count()).sum();
        assert_eq!(count, nj.min(1200));
    }
}

#[test]
fn a_negative_address_is_refused() {
    let mut memory = JMemory::default();
    assert!(memory.write(-1, &particle(1)).is_err());
    assert_eq!(memory.page_count(), 0);
}

#[test]
fn a_particle_costs_at_most_256_bytes() {
    let mut memory = JMemory::default();
    memory.write(0, &particle(1)).unwrap();
    for as_columns in [false, true] {
        if as_columns {
            memory.make_columns().unwrap();
        }
        let bytes = size_of::<Page>() + memory.particles(0).bytes();
        assert!(bytes / PAGE <= 160, "{} bytes", bytes / PAGE);
    }
}

/// A write as clients make it.
fn append(memory: &mut JMemory, address: i32, particle: &JParticle) {
    let position = memory.reserve(address).unwrap();
    if memory.is_full() && !memory.grow().unwrap() {
        assert!(memory.empty_log());
    }
    // SAFETY: they are the vectors of the particle.
    unsafe { memory.append(position, address, &ClientParticle::from(particle)) };
}

/// The same where no block needs the memory unchanged.
fn write_freely(memory: &mut JMemory, address: i32, particle: &JParticle) {
    let position = memory.reserve(address).unwrap();
    // SAFETY: they are the vectors of the particle.
    if !unsafe { memory.write_at_once(position, address, &ClientParticle::from(particle), false) } {
        append(memory, address, particle);
    }
}

/// Numbers that follow no order.
fn draw(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// Where all pages are columns, scattered writes are made at once until a block has had many of them. They are then appended to the log,
/// until a block has had few. Writes in the order of the addresses are always made at once.
#[test]
fn many_scattered_writes_are_sorted_by_pages() {
    const PAGES: usize = 3;
    let mut memory = JMemory::default();
    for address in 0..(PAGES * PAGE) as i32 {
        write_freely(&mut memory, address, &particle(1));
    }
    memory.take_in();
    memory.make_columns().unwrap();
    let (mut state, mut label) = (3, 1);
    let mut expected = vec![1; PAGES * PAGE];
    for (count, is_scattered, appended) in [
        (2000, true, 0),
        (2000, true, 1999),
        (1500, false, 0),
        (100, true, 0),
        (2000, true, 0),
        (100, true, 99),
        (100, true, 0),
    ] {
        for k in 0..count {
            label += 1;
            // No page comes twice in turn.
            let page = k % PAGES * PAGE;
            let address = if is_scattered {
                page + draw(&mut state) % PAGE
            } else {
                k
            };
            write_freely(&mut memory, address as i32, &particle(label));
            expected[address] = label;
        }
        assert_eq!(memory.appended().len(), appended);
        memory.take_in();
        for (address, &label) in expected.iter().enumerate() {
            let found = memory.read(address as i32);
            assert_eq!(found, Some(particle(label)), "{address}");
        }
    }
}

/// Where the columns of all pages do not fit the cache, fewer scattered writes are many.
#[test]
fn many_are_fewer_outside_the_cache() {
    for (pages, appended) in [(3, 0), (64, 299)] {
        let mut memory = JMemory::default();
        for page in 0..pages {
            write_freely(&mut memory, (page * PAGE) as i32, &particle(1));
        }
        memory.take_in();
        memory.make_columns().unwrap();
        for expected in [0, appended] {
            for k in 0..300 {
                let address = k % pages * PAGE + k;
                write_freely(&mut memory, address as i32, &particle(2));
            }
            assert_eq!(memory.appended().len(), expected);
            memory.take_in();
        }
    }
}

/// Reads return what was written last: at runs of neighbouring addresses, at single and at repeated addresses, with
/// more writes than a log holds. Pages are rows or columns, writes are made at once or by the log, and reads of all
/// kinds come between.
#[test]
fn writes_are_read_in_their_order() {
    for as_columns in [false, true] {
        let mut memory = JMemory::default();
        let mut expected = std::collections::HashMap::new();
        let (mut state, mut label) = (7, 0);
        for round in 0..200 {
            let (begin, each) = (draw(&mut state) % 3000, draw(&mut state) % 3);
            let write = [append, write_freely][draw(&mut state) % 2];
            for k in 0..draw(&mut state) % 300 {
                label += 1;
                let address = match each {
                    0 => begin + k,
                    1 => begin + draw(&mut state) % 20,
                    _ => draw(&mut state) % 3000,
                } as i32;
                write(&mut memory, address, &particle(label));
                expected.insert(address, particle(label));
            }
            if round == 100 && as_columns {
                memory.take_in();
                memory.make_columns().unwrap();
            }
            match draw(&mut state) % 5 {
                0 => memory.take_in(),
                1 => {
                    memory.take_in();
                    memory.settle();
                }
                2 => {
                    memory.take_in();
                    let position = draw(&mut state) % memory.page_count();
                    assert_eq!(memory.particles(position).masses()[..2].len(), 2);
                }
                3 if as_columns => {
                    memory.take_in();
                    let position = draw(&mut state) % memory.page_count();
                    assert!(memory.page(position).index()[0] >= 0);
                }
                _ => {}
            }
        }
        for _ in 0..LOG + 10 {
            label += 1;
            append(&mut memory, label % 900, &particle(label));
            expected.insert(label % 900, particle(label));
        }
        memory.take_in();
        for (&address, particle) in &expected {
            assert_eq!(memory.read(address), Some(*particle), "{address}");
        }
        assert_eq!(memory.present() as usize, expected.len());
        assert_eq!(memory.written(), label as u64);
        for page in memory.pages(usize::MAX) {
            for slot in page.slots(usize::MAX) {
                let address = (page.first_address() + slot) as i32;
                assert_eq!(page.particle(slot), expected[&address]);
                assert_eq!(page.times()[slot], expected[&address].t);
            }
        }
    }
}

#[test]
fn writes_after_the_state_was_taken_do_not_change_it() {
    let mut memory = JMemory::default();
    append(&mut memory, 3, &particle(1));
    memory.take_in();
    append(&mut memory, 3, &particle(2));
    append(&mut memory, 4, &particle(3));
    assert_eq!(memory.read(3), Some(particle(1)));
    assert_eq!(memory.read(4), None);
    let appended: Vec<_> = memory
        .appended()
        .map(|(a, row)| (a, row.particle()))
        .collect();
    assert_eq!(appended, [(3, particle(2)), (4, particle(3))]);
    memory.take_in();
    assert_eq!(memory.read(3), Some(particle(2)));
    assert_eq!(memory.read(4), Some(particle(3)));
}

/// Threads that read a page at the same time bring its writes in once.
#[test]
fn threads_read_pages_that_wait() {
    let mut memory = JMemory::default();
    for round in 0..100 {
        for k in 0..2000 {
            append(&mut memory, (k * 37) % 2048, &particle(round + k));
        }
        memory.take_in();
        let sums: Vec<f64> = std::thread::scope(|s| {
            let read = || {
                let pages = memory.pages(usize::MAX);
                pages.map(|page| page.mass().iter().sum::<f64>()).sum()
            };
            let threads = [(); 3].map(|()| s.spawn(read));
            threads.map(|thread| thread.join().unwrap()).into()
        });
        let expected: f64 = (0..2000).map(|k| f64::from(round + k)).sum();
        assert_eq!(sums, [expected; 3]);
    }
}

/// In the child of a fork, where a thread of the parent was bringing the writes in.
#[test]
fn a_page_left_by_a_fork_is_brought_up_to_date() {
    for as_columns in [false, true] {
        let mut memory = JMemory::default();
        append(&mut memory, 5, &particle(1));
        memory.take_in();
        if as_columns {
            memory.make_columns().unwrap();
        }
        append(&mut memory, 5, &particle(2));
        append(&mut memory, 6, &particle(3));
        memory.take_in();
        std::mem::forget(memory.pages[0].body.take(|_| ()));
        memory.inherit();
        assert_eq!(memory.read(5), Some(particle(2)));
        assert_eq!(memory.page(0).particle(6), particle(3));
    }
}

/// In the child of a fork, where a thread of the parent had just made columns of a page's rows.
#[test]
fn a_page_left_by_a_fork_has_one_form() {
    let mut memory = JMemory::default();
    write_freely(&mut memory, 5, &particle(1));
    memory.make_columns().unwrap();
    memory.pages[0].body.leave_with_both_forms();
    memory.inherit();
    memory.run.follow(5);
    memory.begin_run(9);
    // SAFETY: they are the vectors of the particle.
    let in_run = unsafe { memory.run.write(6, &ClientParticle::from(&particle(2))) };
    assert!(in_run);
    memory.end_run();
    assert_eq!(memory.read(6), Some(particle(2)));
    assert_eq!(memory.page(0).particle(6), particle(2));
}

#[test]
fn the_pages_that_have_changed_are_known() {
    let mut memory = JMemory::default();
    for address in [5, 700, 6, 3000, 701] {
        append(&mut memory, address, &particle(address));
    }
    assert_eq!(memory.changed(), []);
    memory.take_in();
    assert_eq!(memory.changed(), [0, 1, 2]);
    memory.forget_changes();
    append(&mut memory, 700, &particle(1));
    memory.take_in();
    append(&mut memory, 702, &particle(1));
    memory.take_in();
    assert_eq!(memory.changed(), [1]);
    assert_eq!(memory.header(1).changed().words()[2], 1 << 60 | 1 << 62);
    memory.forget_changes();
    memory.change_everything();
    assert_eq!(
        memory.header(1).changed().words(),
        memory.header(1).present()
    );
    assert_eq!(memory.changed(), [0, 1, 2]);
}

/// Ranges that begin and end within pages, arrays with and without gaps, and a part of the numbers only.
#[test]
fn ranges_of_particles_at_rest_are_filled() {
    let n = 3 * PAGE;
    let star = |k: usize, version: f64| AtRest {
        mass: version + k as f64,
        x: [1.0, 2.0, 3.0].map(|c| c * version + k as f64),
        eps2: version / (1 + k) as f64,
    };
    let columns: [Vec<f64>; 4] = [0, 1, 2, 3].map(|c| (0..n).map(|k| (7 * k + c) as f64).collect());
    let column = |c: usize| Strided::new(columns[c].as_ptr(), 8);
    let apart = [column(1), column(2), column(3)];
    for range in [0..1, 5..70, 63..PAGE + 64, PAGE - 1..3 * PAGE, 700..700] {
        let mut memory = JMemory::of(SourceKind::Softened);
        let all: Vec<AtRest> = (0..n).map(|k| star(k, 1.0)).collect();
        memory.fill_with(0, &all).unwrap();
        let mut expected = all.clone();
        let check = |memory: &JMemory, expected: &[AtRest]| {
            for (address, star) in expected.iter().enumerate() {
                let stored = memory.read(address as i32).unwrap();
                assert_eq!((stored.mass, stored.x), (star.mass, star.x), "{address}");
                assert_eq!(memory.own_eps2(address), star.eps2);
            }
        };
        let versions = |memory: &JMemory| -> Vec<u64> {
            let pages = memory.pages(n);
            pages.map(Page::mass_version).collect()
        };
        let before = versions(&memory);
        // The same once more, then positions alone.
        memory.fill_with(range.start, &all[range.clone()]).unwrap();
        let given = Given::new(None, None).with([Some(apart), None, None, None, None]);
        // SAFETY: the columns have n numbers.
        unsafe { memory.fill(range.start as i32, range.len(), &given) }.unwrap();
        for k in range.clone() {
            expected[k].x = [1, 2, 3].map(|c| columns[c][k]);
        }
        check(&memory, &expected);
        assert_eq!(versions(&memory), before, "no mass has changed");
        // Masses alone, then all.
        // SAFETY: as above.
        unsafe {
            let given = Given::new(Some(column(0)), None);
            memory.fill(range.start as i32, range.len(), &given)
        }
        .unwrap();
        for k in range.clone() {
            expected[k].mass = columns[0][k];
        }
        check(&memory, &expected);
        let changed = (0..n / PAGE).map(|page| {
            let mut slots = page * PAGE..(page + 1) * PAGE;
            slots.any(|k| range.contains(&k))
        });
        let expected_versions = before.iter().zip(changed);
        let expected_versions: Vec<u64> =
            expected_versions.map(|(v, c)| v + u64::from(c)).collect();
        assert_eq!(versions(&memory), expected_versions);
        let some: Vec<AtRest> = range.clone().map(|k| star(k, 2.0)).collect();
        memory.fill_with(range.start, &some).unwrap();
        expected[range].copy_from_slice(&some);
        check(&memory, &expected);
    }
    let mut memory = JMemory::of(SourceKind::AtRest);
    memory.fill_with(PAGE + 70, &[star(0, 1.0)]).unwrap();
    let present: Vec<[u64; PAGE / 64]> = memory.pages(n).map(|page| *page.present()).collect();
    assert_eq!(present, [[0, 1 << 6, 0, 0, 0, 0, 0, 0]]);
}

/// A load with fewer particles leaves none of an earlier load, in its last page or behind it.
#[test]
fn a_load_empties_all_other_addresses() {
    let stars = vec![
        AtRest {
            mass: 1.0,
            x: [1.0, 2.0, 3.0],
            eps2: 0.0,
        };
        1200
    ];
    let mut memory = JMemory::default();
    memory.make_columns().unwrap();
    for (count, pages) in [
        (1200, vec![0, 1, 2]),
        (700, vec![0, 1, 2]),
        (600, vec![0, 1]),
    ] {
        memory.forget_changes();
        let versions = memory
            .positions(usize::MAX)
            .map(|p| memory.header(p).version());
        let before: Vec<u64> = versions.collect();
        // SAFETY: there are as many stars.
        unsafe { memory.load(count, &given(0, &stars)) }.unwrap();
        assert_eq!(memory.present() as usize, count);
        assert_eq!(memory.changed(), pages);
        assert!(memory.read(count as i32).is_none());
        for &page in &pages {
            let version = memory.header(page as usize).version();
            assert!(
                before
                    .get(page as usize)
                    .is_none_or(|&before| before != version)
            );
        }
    }
    assert_eq!(memory.header(2).changed().count(), 0);
    assert_eq!(memory.page(2).mass(), &[0.0; PAGE]);
}

#[test]
fn a_range_is_full_if_each_slot_holds_a_particle() {
    let mut memory = JMemory::default();
    for address in (0..200).filter(|address| ![64, 130, 191].contains(address)) {
        memory.write(address, &JParticle::default()).unwrap();
    }
    let page = memory.pages(200).next().unwrap();
    for start in 0..210 {
        for end in start..210 {
            let each = (start..end).all(|slot| page.holds(slot));
            assert_eq!(page.is_full(start..end), each, "{start}..{end}");
        }
    }
}
