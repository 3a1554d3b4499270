//! Mistakes that clients make, each of which gives wrong numbers with a good status: one line on stderr tells.

use ffi_tests::compiler::{Link, clean_command, compile, run, texts};

#[test]
fn one_line_tells_of_each_mistake() {
    let Some(client) = compile("edges.c", Link::Shared) else {
        return;
    };
    let tells = |what: &str, check: &str, lines: &[&str]| {
        let settings = [("KIRIN_BACKEND", "cpu"), ("KIRIN_CHECK", check)];
        let output = run(clean_command(&client, &settings).arg(what));
        let (out, err) = texts(&output);
        assert!(
            output.status.success() && out.is_empty(),
            "{what}: {output:?}"
        );
        let lines: String = lines
            .iter()
            .map(|line| format!("kirin: {line}\n"))
            .collect();
        assert_eq!(err, lines, "{what}");
    };
    for check in ["0", "1"] {
        tells("right", check, &[]);
        // A distance whose square is beyond all numbers.
        tells("far", check, &[]);
        let empty = "it has no j-particles";
        let twice = format!("g6calc_firsthalf: cluster 1 was not opened, or was closed: {empty}");
        // Another cluster each time.
        tells("closed", check, &[&twice, &twice]);
        let never = format!("g6calc_firsthalf: cluster 2 was not opened, or was closed: {empty}");
        tells("never-opened", check, &[&never]);
        let nothing = "g6calc_firsthalf: nj = 7, but cluster 1 has no j-particles";
        tells("empty", check, &[nothing]);
        let from_one = "g6calc_firsthalf: nj = 600, but the addresses of cluster 0 begin at 1: the last of its j-particles is not counted; addresses begin at 0";
        tells("from-one", check, &[from_one]);
        let list = "g6_get_neighbour_list: ipipe = 2, but the last block has 2 i-particles, from 0: the list is empty \
                    (further messages are suppressed)";
        tells("list", check, &[list]);
        let nj = "nj = -2, but counts begin at 0";
        let first = format!("g6calc_firsthalf: {nj}");
        let last = format!("g6calc_lasthalf: the last firsthalf was refused: {nj}");
        tells("refused", check, &[&first, &last, &first, &last]);
        let registers = "g6_get_force: g6_set_nip announced 4 i-particles, but 1 were loaded";
        tells("registers", check, &[registers, registers]);
    }
    tells("nan", "0", &[]);
    let not_finite = "KIRIN_CHECK: block 1 (nj = 600, ni = 2, t = 0): the force on i-particle 0 (index 10) is not finite; a \
                      number of it or of a j-particle is not, or is too large; further ones are not told";
    tells("nan", "1", &[not_finite]);
    tells("other-nj", "0", &[]);
    let other = "g6calc_lasthalf: nj = 599, but that of firsthalf was 600; the arguments of firsthalf count";
    tells("other-nj", "1", &[other]);
}
