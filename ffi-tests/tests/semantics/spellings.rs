//! The same calls under the names of every library.

use ffi_tests::direct::Probe;
use ffi_tests::script::{Call, Form, Script, Spelling, odd, request};
use ffi_tests::sets::cloud;
use ffi_tests::trial::everywhere;

use super::at;

const ALL: [Spelling; 8] = Spelling::ALL;

fn work(script: &mut Script) {
    let set = cloud(40, 61, 0.01);
    script.call(Call::Open(0)).load(&set.sources).time(set.ti);
    script.call(Call::Mass(0, 40, 7, 0.5, [1.0, 2.0, 3.0]));
    for form in [
        Form::Plain,
        Form::Nearest,
        Form::Distance,
        Form::PlainLists,
        Form::NearestLists,
        Form::DistanceLists,
        Form::Mode,
    ] {
        script.first(41, &set.probes, set.eps2);
        script
            .call(Call::Last(form, request(41, &set.probes, set.eps2), 5))
            .lists(5);
    }
    let mut r = request(41, &set.probes, set.eps2);
    r.odd = odd::MODE;
    script.call(Call::First(r)).last(41, &set.probes, set.eps2);
    each_its_own_softening(script);
    low_level(script, &set.probes[..3]);
    script
        .call(Call::Npipes)
        .call(Call::Sort(0))
        .call(Call::Sort(1));
    script.call(Call::Particle(0, -4, at(1, 1.0), 0));
    script
        .call(Call::Predicted(0, 42))
        .call(Call::Harmless(0))
        .call(Call::Close(0));
}

/// The calls with a mode, which says here that `eps2` is an array.
fn each_its_own_softening(script: &mut Script) {
    let set = cloud(40, 61, 0.01);
    let mut r = request(41, &set.probes, 0.01);
    r.odd = odd::MODE | odd::EACH;
    script.call(Call::First(r.clone()));
    script.call(Call::Last(Form::ModeNearest, r.clone(), -1));
    // Without a firsthalf the softenings are those of the lasthalf.
    script.call(Call::Last(Form::Mode, r.clone(), -1));
    script.call(Call::Last(Form::ModeNearest, r, 5));
}

fn low_level(script: &mut Script, probes: &[Probe]) {
    script.call(Call::Nip(0, 3)).call(Call::Njp(0, 41));
    for (address, probe) in (0..).zip(probes) {
        script.call(Call::Probe(0, address, *probe, 0.25));
    }
    script
        .call(Call::Force(0, 3, false))
        .call(Call::Force(0, 3, true));
    let mut r = request(0, probes, 0.25);
    for (address, odd) in [
        (0, odd::EACH),
        (2, odd::EACH | odd::NO_H2),
        (1, odd::EACH | odd::NO_X),
    ] {
        r.odd = odd;
        script.call(Call::Probes(address, r.clone()));
        script.call(Call::Force(0, 3, true));
    }
}

/// The following clusters get the particle too if they are open; none is opened for it.
#[test]
fn a_particle_for_several_clusters() {
    let set = cloud(8, 63, 0.01);
    for spelling in [
        Spelling::C,
        Spelling::Fortran,
        Spelling::GpuFortran,
        Spelling::Gpu2,
    ] {
        let mut script = Script::new();
        script.call(Call::Spelling(spelling));
        for id in [3, 4, 6] {
            script.call(Call::Open(id));
        }
        let mut address = 0;
        for (id, count) in [
            (3, 1),
            (3, 2),
            (3, 4),
            (4, 0),
            (4, i32::MAX),
            (i32::MAX - 1, 7),
            (3, -1),
        ] {
            for whole in [true, false] {
                script.call(Call::Send(
                    id,
                    count,
                    whole,
                    address,
                    set.sources[address as usize % 8],
                ));
                address += 1;
            }
        }
        for id in [3, 4, 5, 6, 7] {
            script.call(Call::Predicted(id, address));
        }
        everywhere(&script);
    }
}

#[test]
fn every_family_of_names_does_the_same() {
    for spelling in ALL {
        let mut script = Script::new();
        script.call(Call::Spelling(spelling));
        work(&mut script);
        everywhere(&script);
    }
}

#[test]
fn families_can_be_mixed() {
    let set = cloud(40, 62, 0.01);
    let mut script = Script::new();
    for (k, source) in set.sources.iter().enumerate() {
        script.call(Call::Spelling(ALL[k % ALL.len()]));
        script.call(Call::Particle(0, k as i32, *source, 0));
    }
    for (k, spelling) in ALL.into_iter().enumerate() {
        script
            .call(Call::Spelling(spelling))
            .time(set.ti + k as f64);
        script.first(40, &set.probes, set.eps2);
        script.call(Call::Spelling(ALL[(k + 3) % ALL.len()]));
        script.last(40, &set.probes, set.eps2).lists(3);
    }
    everywhere(&script);
}
