//! A cluster of ten thousand stars to core collapse: the time, the slope and the energy error.

mod common;

use common::PROGRAM;
use kirin_testing::Folder;

#[test]
fn ten_thousand_stars_collapse_about_when_the_theory_says() {
    let folder = Folder::new("mc-collapse");
    let json = folder.file("a.json");
    PROGRAM.succeed(&["--n", "10000", "--json", &json]);
    let figures: serde_json::Value = serde_json::from_str(&folder.text("a.json")).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert_eq!(figures["ending"], "core collapse");
    let t = number(&figures["last"]["t"]);
    // Seeds 1 and 2 collapse at 19.6 and 18.4; published are 17.4 for 10^5 stars and less for more, and 15 to 18 by all
    // methods. What delays few stars, the noise of the places, is measured in benches/results/monte-carlo.md.
    assert!(
        (15.0..20.5).contains(&t),
        "collapse at {t} initial relaxation times"
    );
    let error = number(&figures["worst_energy_error"]);
    assert!(error < 0.002, "energy error {error}");
    let slope = number(&figures["collapse_slope"]);
    assert!((-2.6..-2.0).contains(&slope), "{slope}");
    // Heggie and Hut (2003): some percent of the stars of an isolated cluster have escaped by then.
    let escapers = number(&figures["escapers"]) / 1e4;
    assert!((0.003..0.05).contains(&escapers), "{escapers}");
}
