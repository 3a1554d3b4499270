//! Libraries that give wrong numbers, or crash.

use super::*;

#[test]
fn wrong_and_crashing_libraries_are_shown_as_such() {
    let folder = folder("wrong");
    let Some(zeros) = stand_in(&folder, "zeros.so", 256, -1) else {
        return;
    };
    let (output, json) = replay(&folder, &fixture(), &["--library", &zeros]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let wrong = &json["figures"][1];
    for quantity in ["acc", "jerk", "pot"] {
        assert!((number(&wrong[quantity]["rms"]) - 1.0).abs() < 1e-12);
    }
    assert_eq!(wrong["lists"]["compared"], 0, "it has none");

    let tenth = stand_in(&folder, "tenth.so", 256, 10).expect("gcc was there");
    let end = stand_in(&folder, "end.so", 256, 0).expect("gcc was there");
    for (library, reason, finished) in [
        (&tenth[..], "crashed: segmentation fault", false),
        (&end, "crashed at its exit: segmentation fault", true),
    ] {
        let (output, json) = replay(&folder, &fixture(), &["--library", library]);
        assert_eq!(output.status.code(), Some(1), "{library}");
        let error = json["libraries"][1]["error"].as_str().expect("an error");
        let (error, said) = (error.to_lowercase(), text(&output.stderr).to_lowercase());
        assert!(error.contains(reason) && said.contains(reason), "{error}");
        assert_eq!(json["figures"][1].is_null(), !finished, "{library}");
        assert_eq!(json["figures"][0]["finished"], true, "{library}");
    }
}
