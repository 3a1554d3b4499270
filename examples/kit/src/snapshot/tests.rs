//! Tests of the snapshot format: bits survive, and bad lines are named.

use super::*;

fn awkward() -> Snapshot {
    let numbers = [
        1.0 / 3.0,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        -0.0,
        0.1 + 0.2,
        1.0 - f64::EPSILON / 2.0,
        -6.02e23,
    ];
    let bodies = (0..8)
        .map(|i| Body {
            index: i * 1_000_003 - 7,
            mass: numbers[i as usize].abs(),
            x: [numbers[1], numbers[i as usize], numbers[3]],
            v: [numbers[5], numbers[6], numbers[i as usize]],
        })
        .collect();
    let states = numbers
        .iter()
        .map(|&number| State {
            t: 0.25,
            dt: 2.0_f64.powi(-20),
            acc: [number; 3],
            jerk: [-number; 3],
        })
        .collect();
    Snapshot {
        time: 0.3,
        bodies,
        states: Some(states),
        run: vec![
            ("a.key".into(), "two words".into()),
            ("a.key".into(), "1e-3".into()),
        ],
        remark: None,
    }
}

fn text_of(snapshot: &Snapshot) -> String {
    let mut text = Vec::new();
    snapshot.write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn every_bit_survives() {
    let snapshot = awkward();
    let text = text_of(&snapshot);
    let again = Snapshot::parse(text.as_bytes()).unwrap();
    assert_eq!(again, snapshot);
    // Equality takes -0.0 for 0.0; the text does not.
    assert_eq!(text_of(&again), text);
    assert_eq!(again.value("a.key"), Some("two words"));
    assert_eq!(again.values("a.key").count(), 2);
}

#[test]
fn states_are_optional() {
    let snapshot = Snapshot {
        states: None,
        ..awkward()
    };
    assert_eq!(
        Snapshot::parse(text_of(&snapshot).as_bytes()).unwrap(),
        snapshot
    );
}

#[test]
fn hand_written_files_are_welcome() {
    let text =
        "kirin-snapshot 1 # by hand\r\n\n n 1\ncolumns vx vy vz mass x y z\n4 5 6 1 1 2 3\nend\n";
    let snapshot = Snapshot::parse(text.as_bytes()).unwrap();
    let body = Body {
        index: 0,
        mass: 1.0,
        x: [1.0, 2.0, 3.0],
        v: [4.0, 5.0, 6.0],
    };
    assert_eq!(snapshot.bodies, [body]);
    assert_eq!(snapshot.time, 0.0);
}

#[test]
fn a_bad_line_is_named() {
    let good = "kirin-snapshot 1\nn 2\ntime 0.5\n# comment\ncolumns mass x y z vx vy vz\n\
                1 0 0 0 0 0 0\n1 1 0 0 0 0 0\nend\n";
    assert!(Snapshot::parse(good.as_bytes()).is_ok());
    let cases = [
        ("kirin-snapshot 1", "kirin-snapshot 9", 1, "begins with"),
        ("n 2", "n two", 2, "`two`"),
        ("n 2\n", "n 2\nn 2\n", 3, "twice"),
        ("n 2", "n", 2, "no value"),
        ("n 2", "m.n 2", 5, "must come before"),
        ("time 0.5", "time inf", 3, "not finite"),
        ("time 0.5", "tim 0.5", 3, "`tim`"),
        ("mass x y z vx", "mass x y z wx", 5, "unknown column `wx`"),
        ("mass x y z vx", "mass x y z x", 5, "`x` is given twice"),
        ("mass x y z vx", "mass x y z", 5, "`vx` is missing"),
        ("vy vz\n", "vy vz ax\n", 5, "`t` is missing"),
        ("1 1 0", "1 1 O", 7, "`O`"),
        ("1 1 0", "-1 1 0", 7, "negative"),
        ("1 1 0", "1 NaN 0", 7, "not finite"),
        ("1 1 0", "1 0", 7, "6 numbers"),
        ("1 1 0 0 0 0 0\nend\n", "", 7, "after 1 of 2"),
        ("n 2", "n 3", 8, "after 2 of 3"),
        ("end\n", "", 8, "without `end`"),
        ("end\n", "1 2 0 0 0 0 0\nend\n", 8, "expected `end`"),
        ("end\n", "end\nmore\n", 9, "after `end`"),
    ];
    for (from, to, number, words) in cases {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good);
        match Snapshot::parse(text.as_bytes()) {
            Err(SnapshotError::Line { line, what }) => {
                assert_eq!(line, number, "{to}: {what}");
                assert!(what.contains(words), "{to}: {what}");
            }
            other => panic!("{to}: {other:?}"),
        }
    }
}

/// Wherever it is cut or a bit of it is flipped: a number may have become another number.
#[test]
fn a_damaged_file_is_refused() {
    let text = text_of(&awkward());
    let bytes = text.as_bytes();
    assert!(Snapshot::parse(bytes).is_ok());
    for at in 0..bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 1;
        assert!(Snapshot::parse(&damaged).is_err(), "byte {at}");
    }
    // Cut off after `end` nothing is lost but the checksum.
    for length in 0..bytes.len() {
        if let Ok(cut) = Snapshot::parse(&bytes[..length]) {
            assert_eq!(cut, awkward(), "{length} bytes");
        }
    }
    let other = text.replacen("0.3", "0.4", 1);
    let error = Snapshot::parse(other.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
    assert!(error.to_string().contains("`end` alone"), "{error}");
}

/// Bodies that were written by hand need no checksum, but no program writes a run without one.
#[test]
fn a_run_without_its_checksum_is_refused() {
    let mut run = awkward();
    let settings = ("hermite.settings".to_owned(), "1 2 3".to_owned());
    run.run.push(settings);
    let text = text_of(&run);
    let end = text.rfind("end ").unwrap();
    for cut in ["end", "end\n", "end #", ""] {
        let cut = format!("{}{cut}", &text[..end]);
        let error = Snapshot::parse(cut.as_bytes()).unwrap_err().to_string();
        let missing = ["checksum after `end` is missing", "without `end`"];
        assert!(missing.iter().any(|words| error.contains(words)), "{error}");
    }
    // What was changed is not told to leave its checksum out, which would be refused too.
    let changed = text.replacen("0.3", "0.4", 1);
    let error = Snapshot::parse(changed.as_bytes()).unwrap_err().to_string();
    assert!(
        error.contains("damaged") && !error.contains("alone"),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing() {
    let folder = std::env::temp_dir().join(format!("kirin-kit-partial-{}", std::process::id()));
    // No file can take the place of a folder that holds something.
    let path = folder.join("run.txt");
    fs::create_dir_all(path.join("inner")).unwrap();
    assert!(awkward().save(&path).is_err());
    assert_eq!(
        fs::read_dir(&folder).unwrap().count(),
        1,
        "the folder alone"
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let error = Snapshot::parse(b"kirin-snapshot 1\nn \xff\n").unwrap_err();
    assert!(error.to_string().starts_with("line 2:"), "{error}");
    assert!(Snapshot::parse(b"").is_err());
}

#[test]
fn a_file_is_replaced_whole() {
    let folder = std::env::temp_dir().join(format!("kirin-kit-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("cluster.txt");
    fs::write(&path, "old").unwrap();
    let snapshot = awkward();
    snapshot.save(&path).unwrap();
    assert_eq!(Snapshot::load(&path).unwrap(), snapshot);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    fs::remove_dir_all(&folder).unwrap();
}
