//! HDF5 files and tables. Files that other programs have written can be read, and other programs read those written
//! here. A file that is damaged or incomplete is refused in words.
//!
//! `formats/make.py` has written the files in `formats` with h5py 3.16 and AMUSE 2024.6.

use std::path::Path;
use std::process::Command;

use hdf5_pure::{AttrValue, FileBuilder};
use kirin_kit::galaxy::{Galaxy, Units};
use kirin_kit::snapshot::State;
use kirin_kit::{Body, Snapshot, models};
use kirin_testing::{Folder, skipped};

/// The five bodies of `make.py`.
fn bodies() -> Vec<Body> {
    let body = |k: i32| {
        let i = f64::from(k);
        Body {
            index: 7 * k + 3,
            mass: (i + 1.0) / 8.0,
            x: [i * 0.5 - 1.0, i * -0.25, i * 0.125 + 2.0],
            v: [i * 0.0625, 1.0 - i * 0.5, i * 0.75],
        }
    };
    (0..5).map(body).collect()
}

fn file(name: &str) -> Snapshot {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    Snapshot::load(&folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A snapshot with states, units and awkward numbers.
fn awkward() -> Snapshot {
    let mut bodies = models::plummer(40, 3);
    bodies[0].x = [-0.0, 5e-324, f64::MAX];
    bodies[1].index = -7;
    bodies[2].mass = 0.0;
    let state = |b: &Body| State {
        t: 0.1 + 0.2,
        dt: b.mass,
        acc: b.x,
        jerk: b.v,
    };
    let galaxy = Galaxy {
        units: Units {
            mass: 1e4,
            length: 3.0,
        },
        told_units: true,
        ..Galaxy::default()
    };
    let mut run = galaxy.lines();
    run.push(("a.key".to_owned(), "two words of täl".to_owned()));
    run.push(("a.key".to_owned(), "2".to_owned()));
    Snapshot {
        time: 1.0 / 3.0,
        states: Some(bodies.iter().map(state).collect()),
        bodies,
        run,
        ..Snapshot::default()
    }
}

#[test]
fn every_bit_survives_in_each_format() {
    let folder = Folder::new("formats");
    for name in ["run.hdf5", "run.h5", "run.amuse", "run.txt"] {
        let path = folder.file(name);
        for states in [true, false] {
            let mut snapshot = awkward();
            snapshot.states = snapshot.states.filter(|_| states);
            snapshot.save_as(path.as_ref()).unwrap();
            let again = Snapshot::load(path.as_ref()).unwrap();
            assert_eq!(again, snapshot, "{name}");
            assert_eq!(
                again.bodies[0].x[0].to_bits(),
                (-0.0_f64).to_bits(),
                "{name}"
            );
        }
        let hdf5 = std::fs::read(&path)
            .unwrap()
            .starts_with(b"\x89HDF\r\n\x1a\n");
        assert_eq!(hdf5, name != "run.txt", "{name}");
    }
}

#[test]
fn nobody_is_a_snapshot_too() {
    let folder = Folder::new("formats-empty");
    for name in ["run.hdf5", "run.amuse"] {
        let nobody = Snapshot {
            time: 2.0,
            ..Snapshot::default()
        };
        nobody.save_as(folder.file(name).as_ref()).unwrap();
        assert_eq!(Snapshot::load(folder.file(name).as_ref()).unwrap(), nobody);
    }
}

/// Compressed chunks in the other byte order and two versions of the format, and AMUSE's N-body units: the numbers are as they were written.
#[test]
fn numbers_without_units_are_taken_as_they_are() {
    for name in ["chunked.hdf5", "newest.hdf5", "nbody.amuse"] {
        let snapshot = file(name);
        assert_eq!(snapshot.bodies, bodies(), "{name}");
        assert_eq!((snapshot.time, snapshot.run.len()), (0.5, 0), "{name}");
    }
}

/// Files in whose units G is not 1 are converted: the mass of all bodies and their half-mass radius become 1. The new
/// numbers times the new units are the quantities in the file.
#[test]
fn physical_numbers_become_those_of_units_with_g_1() {
    // Solar masses, parsecs, km/s and Myr of the units of each file.
    for (name, mass, length, time) in [
        ("gadget.hdf5", 1e10, 1000.0, 977.792_221_68),
        ("si.amuse", 1.0, 1.0, 1.0),
    ] {
        let snapshot = file(name);
        let galaxy = Galaxy::of(&snapshot).unwrap();
        let units = galaxy.known_units().expect("the file tells them");
        let near = |found: f64, expected: f64, what: &str| {
            // GADGET's constants have four digits.
            let error = (found - expected).abs();
            assert!(
                error <= 3e-4 * expected.abs(),
                "{name}: {what} {found} {expected}"
            );
        };
        let whole: f64 = snapshot.bodies.iter().map(|b| b.mass).sum();
        assert!((whole - 1.0).abs() < 1e-12, "{name}: {whole}");
        for (found, expected) in snapshot.bodies.iter().zip(bodies()) {
            assert_eq!(found.index, expected.index, "{name}");
            near(found.mass * units.mass, expected.mass * mass, "mass");
            for k in 0..3 {
                near(found.x[k] * units.length, expected.x[k] * length, "x");
                near(found.v[k] * units.velocity(), expected.v[k], "v");
            }
        }
        near(snapshot.time * units.time(), 0.5 * time, "time");
        // The units are written with the bodies, and read again without a change.
        let folder = Folder::new(&format!("formats-{}", &name[..2]));
        for again in ["run.hdf5", "run.amuse", "run.txt"] {
            let path = folder.file(again);
            snapshot.save_as(path.as_ref()).unwrap();
            assert_eq!(Snapshot::load(path.as_ref()).unwrap(), snapshot, "{again}");
        }
    }
}

/// Bodies in solar masses, parsecs and km/s whose file tells no units.
#[test]
fn bodies_without_units_are_brought_to_some() {
    let with = |run: &[(&str, &str)]| Snapshot {
        bodies: bodies(),
        run: run
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect(),
        ..Snapshot::default()
    };
    let mut snapshot = with(&[("run.eps", "0.25")]);
    let units = Units {
        mass: 8.0,
        length: 0.5,
    };
    snapshot.bring_to_units(|_| units).unwrap();
    assert_eq!(Units::of(&snapshot), Ok(Some(units)));
    assert_eq!(snapshot.softening(), Ok(Some(0.5)));
    for (found, expected) in snapshot.bodies.iter().zip(bodies()) {
        assert_eq!(found.mass * 8.0, expected.mass);
        assert_eq!(found.x.map(|c| 0.5 * c), expected.x);
        for k in 0..3 {
            assert!((found.v[k] * units.velocity() - expected.v[k]).abs() < 1e-14);
        }
    }
    let again = snapshot.bring_to_units(|own| own);
    assert!(again.unwrap_err().contains("tells no units"));
    let of_run = with(&[("hermite.settings", "1")]).bring_to_units(|own| own);
    assert!(of_run.unwrap_err().contains("the input is a run"));
    let mut own = with(&[]);
    own.bring_to_units(|own| own).unwrap();
    assert!((own.bodies.iter().map(|b| b.mass).sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn a_table_names_its_columns() {
    let rows = [
        ("id m x y z vx vy vz", "3 0.125 -1 0 2 0 1 0"),
        ("# ID,Mass,X,Y,Z,VX,VY,VZ", "3,0.125,-1,-0.0,2,0,1,0"),
        (
            "vz vy vx z y x type index mass",
            "0 1 0 2 0 -1 star 3 1.25e-1",
        ),
        // As pandas writes it: the index has no name. The other column is empty here.
        (
            ",id,mass,x,y,z,type,vx,vy,vz",
            "0,3,0.125,-1.0,0.0,2.0,,0.0,1.0,0.0",
        ),
        ("id,m,x,y,z,vx,vy,vz,type", "3,0.125,-1,0,2,0,1,0,"),
        ("index,m,x,y,z,vx,vy,vz,id", "0,0.125,-1,0,2,0,1,0,3"),
    ];
    for (names, numbers) in rows {
        let text = format!("\n{names}\r\n# a comment\n{numbers}\n\n");
        let snapshot = Snapshot::parse(text.as_bytes()).unwrap();
        assert!(snapshot.remark.unwrap().contains("G = 1 is assumed"));
        assert_eq!(snapshot.bodies, bodies()[..1], "{names}");
        assert_eq!(snapshot.time, 0.0);
    }
    let without = Snapshot::parse(b"m x y z vx vy vz\n1 1 0 0 0 1 0\n2 2 0 0 0 1 0\n").unwrap();
    assert_eq!(
        without.bodies.iter().map(|b| b.index).collect::<Vec<_>>(),
        [0, 1]
    );
    for (text, line, words) in [
        ("m x y z vx vy\n", 1, "`vz` is missing"),
        ("x y z vx vy vz\n", 1, "`mass` or `m` is missing"),
        ("m mass x y z vx vy vz\n", 1, "`mass` is given twice"),
        (
            "m x y z vx vy vz\n1 2 3\n",
            2,
            "3 numbers where the first line names 7",
        ),
        ("m x y z vx vy vz\n1 2 3 4 5 6 7 8\n", 2, "8 numbers"),
        (
            "m x y z vx vy vz\n\n1 2 3 4 5 NaN 7\n",
            3,
            "vy: `NaN` is not finite",
        ),
        (
            "m x y z vx vy vz\n1 2 3 4 5 six 7\n",
            2,
            "`six` is not a number",
        ),
        (
            "m,x,y,z,vx,vy,vz\n1,2,,4,5,6,7\n",
            2,
            "y: `` is not a number",
        ),
        ("m x y z vx vy vz\n-1 2 3 4 5 6 7\n", 2, "negative"),
        (
            "m x y z vx vy vz id\n1 2 3 4 5 6 7 3000000000\n",
            2,
            "`3000000000`",
        ),
        (
            "m x y z vx vy vz\n1 2 3 4 5 6 \u{fffd}\n",
            2,
            "not a number",
        ),
    ] {
        let error = Snapshot::parse(text.as_bytes()).unwrap_err().to_string();
        let begins = format!("line {line}: ");
        assert!(
            error.starts_with(&begins) && error.contains(words),
            "{text}: {error}"
        );
    }
    for text in ["", "1 2 3 4 5 6 7 8\n", "a letter\n"] {
        let error = Snapshot::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("names of its columns"), "{text}: {error}");
    }
}

/// A file of GADGET's layout, as a table of what it has.
struct Parts {
    counts: Vec<u32>,
    header: Vec<(&'static str, AttrValue)>,
    parameters: Vec<(&'static str, f64)>,
    datasets: Vec<(&'static str, Vec<f64>, Vec<u64>)>,
    labels: Vec<i64>,
}

impl Default for Parts {
    fn default() -> Self {
        let numbers = |n: u32| (0..n).map(f64::from).collect::<Vec<f64>>();
        Self {
            counts: vec![0, 2, 0, 0, 0, 0],
            header: vec![("Time", AttrValue::F64(0.5))],
            parameters: Vec::new(),
            datasets: vec![
                ("Coordinates", numbers(6), vec![2, 3]),
                ("Velocities", numbers(6), vec![2, 3]),
                ("Masses", numbers(2), vec![2]),
            ],
            labels: vec![1, 2],
        }
    }
}

impl Parts {
    fn bytes(&self) -> Vec<u8> {
        let mut file = FileBuilder::new();
        let mut header = file.create_group("Header");
        header.set_attr("NumPart_ThisFile", AttrValue::U32Array(self.counts.clone()));
        for (name, value) in &self.header {
            header.set_attr(name, value.clone());
        }
        file.add_group(header.finish());
        if !self.parameters.is_empty() {
            let mut group = file.create_group("Parameters");
            for (name, value) in &self.parameters {
                group.set_attr(name, AttrValue::F64(*value));
            }
            file.add_group(group.finish());
        }
        let mut group = file.create_group("PartType1");
        for (name, numbers, shape) in &self.datasets {
            group
                .create_dataset(name)
                .with_f64_data(numbers)
                .with_shape(shape);
        }
        if !self.labels.is_empty() {
            group
                .create_dataset("ParticleIDs")
                .with_i64_data(&self.labels);
        }
        file.add_group(group.finish());
        file.finish().unwrap()
    }
}

/// With a constant of gravity of its own a file keeps masses and lengths, and the motion is that of the run that has
/// written it. GADGET-4 has it, Omega0 and Hubble's constant among its parameters.
#[test]
fn a_file_with_its_own_gravity_is_read_with_it() {
    const GIZMO: [&str; 3] = [
        "UnitLength_In_CGS",
        "UnitMass_In_CGS",
        "UnitVelocity_In_CGS",
    ];
    const GADGET: [&str; 3] = [
        "UnitLength_in_cm",
        "UnitMass_in_g",
        "UnitVelocity_in_cm_per_s",
    ];
    let plain = Snapshot::parse(&Parts::default().bytes()).unwrap();
    assert!(
        plain
            .remark
            .is_some_and(|remark| remark.contains("no units"))
    );
    let units = |names: [&'static str; 3]| names.into_iter().zip([3.085_678e21, 1.989e43, 1e5]);
    let parameters = |more: &[(&'static str, f64)]| Parts {
        parameters: units(GADGET).chain(more.iter().copied()).collect(),
        ..Parts::default()
    };
    let mut gizmo = Parts::default();
    let own = [("Gravitational_Constant_In_Code_Inits", 1.0)];
    let attributes = units(GIZMO).chain(own);
    gizmo
        .header
        .extend(attributes.map(|(name, x)| (name, AttrValue::F64(x))));
    for parts in [gizmo, parameters(&[("GravityConstantInternal", 1.0)])] {
        let read = Snapshot::parse(&parts.bytes()).unwrap();
        assert_eq!((&read.bodies, read.time), (&plain.bodies, plain.time));
        let units = Units::of(&read).unwrap().unwrap();
        assert!((units.mass / 1e10 - 1.0).abs() < 1e-3 && (units.length - 1000.0).abs() < 1e-3);
    }
    let whole = |more: &[(&'static str, f64)]| {
        let read = Snapshot::parse(&parameters(more).bytes()).unwrap();
        let units = Units::of(&read).unwrap().unwrap();
        let mass: f64 = read.bodies.iter().map(|b| b.mass).sum();
        mass * units.mass
    };
    // 0 means nature's constant.
    let nature = whole(&[("GravityConstantInternal", 0.0)]);
    assert_eq!(nature, whole(&[]));
    let ratio = whole(&[("Omega0", 0.3), ("HubbleParam", 0.5)]) / nature;
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    let bad = parameters(&[("GravityConstantInternal", -1.0)]);
    let why = Snapshot::parse(&bad.bytes()).unwrap_err().to_string();
    assert!(why.contains("constant of gravity is -1"), "{why}");
}

#[test]
fn an_incomplete_file_is_refused_in_words() {
    assert_eq!(
        Snapshot::parse(&Parts::default().bytes())
            .unwrap()
            .bodies
            .len(),
        2
    );
    type Change = fn(&mut Parts);
    let cases: [(Change, &str); 17] = [
        (
            |p| p.counts[1] = 3,
            "Coordinates has 2 rows, and the header counts 3",
        ),
        (
            |p| p.counts[4] = 1,
            "PartType4 is missing, of which the header counts 1",
        ),
        (|p| p.counts.clear(), "NumPart_ThisFile"),
        (|p| p.datasets[0].2 = vec![3, 2], "shape [3, 2]"),
        (|p| p.datasets[0].2 = vec![6], "shape [6]"),
        (
            |p| p.datasets[2] = ("Masses", vec![1.0], vec![1]),
            "Masses has 1 rows",
        ),
        (|p| drop(p.datasets.remove(0)), "Coordinates is missing"),
        (|p| drop(p.datasets.remove(1)), "Velocities is missing"),
        (|p| drop(p.datasets.pop()), "Masses is missing"),
        (
            |p| p.datasets[0].1[4] = f64::NAN,
            "body 2: NaN is not finite",
        ),
        (
            |p| p.datasets[1].1[0] = f64::INFINITY,
            "body 1: inf is not finite",
        ),
        (|p| p.datasets[2].1[1] = -1.0, "the mass -1 is negative"),
        (
            |p| p.labels[1] = 3_000_000_000,
            "the label 3000000000 is not between",
        ),
        (|p| p.labels.truncate(1), "ParticleIDs has 1 rows"),
        (
            |p| p.header.push(("NumFilesPerSnapshot", AttrValue::I32(8))),
            "one of 8 files",
        ),
        (
            |p| p.header.push(("Redshift", AttrValue::F64(2.0))),
            "comoving",
        ),
        (|p| p.header[0].1 = AttrValue::F64(f64::NAN), "the time NaN"),
    ];
    for (change, words) in cases {
        let mut parts = Parts::default();
        change(&mut parts);
        let error = Snapshot::parse(&parts.bytes()).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let mut parts = Parts::default();
    parts.labels.clear();
    let labels = Snapshot::parse(&parts.bytes()).unwrap().bodies;
    assert_eq!(labels.iter().map(|b| b.index).collect::<Vec<_>>(), [0, 1]);
    let mut units = FileBuilder::new();
    units.create_dataset("x").with_f64_data(&[1.0]);
    let error = Snapshot::parse(&units.finish().unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("neither GADGET's group `Header` nor AMUSE's"),
        "{error}"
    );
}

/// A file of AMUSE's layout with one particle. The units are of mass, of lengths, and of the velocity in z.
fn amuse(units: [&str; 3], without: &str, count: i64) -> Vec<u8> {
    let mut file = FileBuilder::new();
    let info = file.create_group("AMUSE_INF").finish();
    file.add_group(info);
    let mut data = file.create_group("data");
    let mut set = data.create_group("0000000001");
    set.set_attr("number_of_particles", AttrValue::I64(count));
    set.create_dataset("keys").with_u64_data(&[u64::MAX]);
    let mut attributes = set.create_group("attributes");
    let [mass, length, velocity] = units;
    let velocity_si = "(system.get('S.I.').base('length') * (system.get('S.I.').base('time')**-1))";
    for (name, unit) in [
        ("mass", mass),
        ("x", length),
        ("y", length),
        ("z", length),
        ("vx", velocity_si),
        ("vy", velocity_si),
        (
            "vz",
            if velocity.is_empty() {
                velocity_si
            } else {
                velocity
            },
        ),
    ] {
        if name != without {
            let dataset = attributes.create_dataset(name).with_f64_data(&[1.0]);
            dataset.set_attr("units", AttrValue::AsciiString(unit.to_owned()));
        }
    }
    set.add_group(attributes.finish());
    data.add_group(set.finish());
    file.add_group(data.finish());
    file.finish().unwrap()
}

#[test]
fn units_that_amuse_may_write_are_read_or_refused() {
    let (mass, length) = (
        "system.get('S.I.').base('mass')",
        "system.get('S.I.').base('length')",
    );
    let scaled = "(1000.0 * system.get('S.I.').base('length'))";
    let generic =
        "(system.get('generic').base('length') * (system.get('generic').base('time')**-1))";
    let read = Snapshot::parse(&amuse([mass, scaled, ""], "", 1)).unwrap();
    let units = Galaxy::of(&read).unwrap().units;
    // Keys of AMUSE are too long for a label.
    assert_eq!(read.bodies[0].index, 0);
    let metres = read.bodies[0].x[0] * units.length * 3.085_677_581_491_367e16;
    assert!((metres / 1000.0 - 1.0).abs() < 1e-12, "{metres}");
    for (units, without, count, words) in [
        (
            [mass, mass, ""],
            "",
            1,
            "attributes/x: the unit `system.get('S.I.').base('mass')` has another dimension",
        ),
        (
            [mass, "parsec", ""],
            "",
            1,
            "the unit `parsec` is not one that can be read",
        ),
        (
            [mass, "(system.get('S.I.').base('length') + 1)", ""],
            "",
            1,
            "is not one that can be read",
        ),
        (
            [mass, length, generic],
            "",
            1,
            "is neither in SI nor in N-body units, as all must be",
        ),
        ([mass, length, ""], "vy", 1, "attributes/vy is missing"),
        (
            [mass, length, ""],
            "",
            2,
            "attributes/mass has 1 rows for 2 particles",
        ),
    ] {
        let error = Snapshot::parse(&amuse(units, without, count))
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// A file that is cut short, or of which one byte is changed, is refused or gives the same snapshot as the intact file.
#[test]
fn a_damaged_file_is_refused() {
    let folder = Folder::new("formats-damaged");
    for name in ["run.hdf5", "run.amuse"] {
        let mut snapshot = awkward();
        snapshot.bodies.truncate(3);
        snapshot.states.as_mut().unwrap().truncate(3);
        snapshot
            .run
            .push(("hermite.settings".to_owned(), "1".to_owned()));
        snapshot.save_as(folder.file(name).as_ref()).unwrap();
        let bytes = std::fs::read(folder.file(name)).unwrap();
        for length in (0..bytes.len()).step_by(11) {
            if let Ok(read) = Snapshot::parse(&bytes[..length]) {
                assert_eq!(read, snapshot, "{name}: {length} bytes");
            }
        }
        let mut refused = 0;
        for at in (0..bytes.len()).step_by(5) {
            let mut damaged = bytes.clone();
            damaged[at] ^= [1, 0x80, 0xff][at % 3];
            match Snapshot::parse(&damaged) {
                Err(_) => refused += 1,
                Ok(read) => assert_eq!(read, snapshot, "{name}: byte {at}"),
            }
        }
        let all = bytes.len() / 5;
        assert!(refused > all / 3, "{name}: {refused} of {all}");
    }
}

#[test]
fn a_run_without_its_checksum_is_refused() {
    let folder = Folder::new("formats-checksum");
    let path = folder.file("run.hdf5");
    let mut snapshot = awkward();
    snapshot
        .run
        .push(("hermite.settings".to_owned(), "1".to_owned()));
    snapshot.save_as(path.as_ref()).unwrap();
    let file = hdf5_pure::File::open_rw(&path).unwrap();
    file.group("kirin")
        .unwrap()
        .remove_attr("checksum")
        .unwrap();
    file.commit().unwrap();
    drop(file);
    let error = Snapshot::load(path.as_ref()).unwrap_err().to_string();
    assert!(
        error.contains("`checksum` of the group `kirin` is missing"),
        "{error}"
    );
}

/// h5py, and pynbody, yt and AMUSE if they are there, read the same numbers, times, labels and masses.
#[test]
fn python_reads_them() {
    let python = std::env::var("KIRIN_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    match Command::new(&python).args(["-c", "import h5py"]).output() {
        Ok(output) if output.status.success() => {}
        _ => {
            skipped(format!(
                "{python} has no h5py (KIRIN_TEST_PYTHON names another Python)"
            ));
            return;
        }
    }
    let folder = Folder::new("formats-python");
    let mut snapshot = awkward();
    snapshot.bodies = models::plummer(256, 1);
    snapshot.states = None;
    for name in ["run.txt", "run.hdf5", "run.amuse"] {
        snapshot.save_as(folder.file(name).as_ref()).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/check.py");
    let output = Command::new(python)
        .arg(script)
        .arg(folder.file(""))
        .output()
        .unwrap();
    let (said, errors) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(said);
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("h5py: 256 bodies"), "{said}");
    print!("{said}");
}
