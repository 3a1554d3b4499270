//! The precision that a process takes, and the line about noise in the time steps.

use super::NOTHING;
use ffi_tests::compiler::{Link, clean_command, compile, run, succeed, texts};

/// The output of `precision.c`. The first line has the user's or the default precision; the codes of the precisions for
/// 1280, 1281 and -1 j-particles (-1: illegal); and the precisions of blocks with 1280 and 1281 j-particles. Then each
/// choice of the client has a line: the return value and the precision of the next block. The first and the last choice
/// are illegal. On a CPU `double-single` becomes `double`, and for blocks with jerks `reduced` becomes `single`. The
/// last two lines are the precisions after noise in the steps, for `mixed` and for `adaptive`.
const BY_RULE: &str = "auto 2 1 -1 double mixed\n\
    -1 mixed\n0 mixed\n0 mixed\n0 double\n0 single\n0 mixed\n0 double\n0 single\n-1 single\nmixed\ndouble\n";

/// The same where the user wants `mixed`.
const MIXED: &str = "mixed 1 1 -1 mixed mixed\n\
    -1 mixed\n0 mixed\n0 mixed\n0 mixed\n0 mixed\n0 mixed\n0 mixed\n0 mixed\n-1 mixed\nmixed\nmixed\n";

#[test]
fn rule_client_and_user_choose_the_precision() {
    let Some(client) = compile("precision.c", Link::Shared) else {
        return;
    };
    for spelling in ["0", "1"] {
        for (user, expected) in [
            (None, BY_RULE),
            (Some("auto"), BY_RULE),
            (Some("mixed"), MIXED),
        ] {
            let mut command = clean_command(&client, &[("KIRIN_STATS", "1")]);
            command.envs(user.map(|precision| ("KIRIN_PRECISION", precision)));
            let output = run(command.arg(spelling));
            let (out, err) = texts(&output);
            assert_eq!(out, expected, "{err}");
            // The first time noise limits the steps the precision is mixed for good.
            let line = "kirin: time steps are limited by the noise of single precision: KIRIN_PRECISION=double\n";
            assert_eq!(err.matches(line).count(), 1, "{err}");
            assert_eq!(err.matches("limited by").count(), 1, "{err}");
            assert!(err.contains("noise        99."), "{err}");
            let few = "double in 4 of 14 blocks";
            assert_eq!(err.contains(few), user != Some("mixed"), "{err}");
        }
    }
}

#[test]
fn fortran_programs_choose_the_precision() {
    if let Some(client) = compile("precision.f90", Link::Shared) {
        assert_eq!(succeed(&client, &NOTHING, &[]).trim(), "done");
    }
}
