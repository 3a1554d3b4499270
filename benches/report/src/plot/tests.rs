//! Tests of whole figures: both kinds of file hold what they should.

use std::fs;
use std::path::PathBuf;

use super::*;

fn sample() -> Figure {
    let wave = |k: f64| {
        (0..50)
            .map(|i| f64::from(i) / 49.0)
            .map(|t| (t, k * (1.1 + (9.0 * t).sin())))
            .collect()
    };
    let curve = |label: &str, k| Curve {
        label: label.to_owned(),
        points: wave(k),
        ..Curve::default()
    };
    Figure {
        title: "A title".to_owned(),
        subtitle: "the settings".to_owned(),
        columns: vec![
            vec![
                Panel {
                    title: "first".to_owned(),
                    x_label: "time".to_owned(),
                    scale: Scale::Logarithmic,
                    data: Data::Curves(vec![curve("one", 1e-9), curve("two", 1e-8)]),
                    ..Panel::default()
                },
                Panel {
                    title: "second".to_owned(),
                    x_label: "time".to_owned(),
                    data: Data::Curves(vec![curve("", 1.0)]),
                    ..Panel::default()
                },
            ],
            vec![Panel {
                title: "third".to_owned(),
                x_label: "size".to_owned(),
                y_label: "number".to_owned(),
                data: Data::Bars(vec![("1".to_owned(), 3.0), ("2".to_owned(), 5.0)]),
                ..Panel::default()
            }],
        ],
    }
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("kirin-kit-{}-{name}", std::process::id()))
}

#[test]
fn svg_holds_every_word() {
    let path = file("figure.svg");
    sample().save(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    for word in [
        "A title",
        "the settings",
        "first",
        "second",
        "third",
        "one",
        "two",
        "−8",
        "number",
    ] {
        assert!(text.contains(word), "{word}");
    }
    // The name of each vertical axis reads upwards.
    assert_eq!(text.matches("rotate(270").count(), 3);
    assert!(text.matches("<polyline").count() > 3);
}

#[test]
fn png_holds_text_without_any_installed_font() {
    let path = file("figure.PNG");
    sample().save(&path).unwrap();
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(&path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!((info.width, info.height), (2880, 1620));
    // The strip of the title holds nothing but the title: dark where letters are.
    let strip = &pixels[3 * 2880 * 48..3 * 2880 * 104];
    let dark = strip.chunks(3).filter(|p| p[0] < 100).count();
    assert!((300..30_000).contains(&dark), "{dark}");
}

#[test]
fn other_extensions_are_refused() {
    for name in ["figure.pdf", "figure", ".svg"] {
        assert!(check_path(Path::new(name)).is_err(), "{name}");
        assert!(sample().save(Path::new(name)).is_err(), "{name}");
    }
    assert!(check_path(Path::new("a/b.SVG")).is_ok());
}

/// Nitadori, Makino and Abe (2006), figure 2: light and heavy stars have colours of their own.
#[test]
fn heavy_bodies_have_their_own_colour() {
    let path = file("heavy.svg");
    let ring = |count: usize, radius: f64| {
        let angle = move |k: usize| k as f64 / count as f64 * std::f64::consts::TAU;
        (0..count).map(move |k| (radius * angle(k).cos(), radius * angle(k).sin()))
    };
    let view = View::new(0.0, ring(20, 1.0)).with_heavy(ring(7, 0.5));
    let half_width = View::half_width([&view]);
    let panel = Panel {
        data: Data::View { view, half_width },
        ..Panel::default()
    };
    let figure = Figure {
        columns: vec![vec![panel]],
        ..sample()
    };
    figure.save(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let plotters::style::RGBColor(r, g, b) = draw::HEAVY_STAR;
    let fill = format!("fill=\"#{r:02X}{g:02X}{b:02X}\"");
    assert_eq!(text.matches(&fill).count(), 7);
    assert!(text.matches("<circle").count() >= 27, "{text}");
}

/// The numbers after ` name="` in `text`.
fn numbers(text: &str, name: &str) -> Vec<f64> {
    let name = format!(" {name}=\"");
    let values = text.split(&name).skip(1);
    values
        .filter_map(|rest| rest.split('"').next()?.parse().ok())
        .collect()
}

/// Three and five snapshots side by side: nothing is drawn beyond the page, and the squares are of one size.
#[test]
fn views_side_by_side_are_drawn_inside_the_page() {
    let view = |k: usize| {
        let shift = 10.0_f64.powi(k as i32);
        let points = (0..40).map(move |i| (shift + f64::from(i % 7), f64::from(i % 5) - shift));
        let view = View::new(k as f64, points.collect::<Vec<_>>().into_iter());
        let half_width = View::half_width([&view]);
        Panel {
            title: format!("t = {k}"),
            data: Data::View { view, half_width },
            ..Panel::default()
        }
    };
    for lengths in [vec![1, 1, 1], vec![2, 2, 1]] {
        let path = file(&format!("{}.svg", lengths.len() + lengths[0]));
        let mut count = 0..;
        let mut column = |n: usize| (0..n).filter_map(|_| count.next()).map(view).collect();
        let figure = Figure {
            columns: lengths.iter().map(|n| column(*n)).collect(),
            ..sample()
        };
        figure.save(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        for (names, most) in [
            (["x", "cx", "x1", "x2"], 14400.0),
            (["y", "cy", "y1", "y2"], 8100.0),
        ] {
            for value in names.iter().flat_map(|name| numbers(&text, name)) {
                assert!((0.0..=most).contains(&value), "{value}");
            }
        }
        let mut sides = Vec::new();
        let lines = text
            .split(" points=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        for line in lines {
            let pairs = line
                .split_whitespace()
                .filter_map(|pair| pair.split_once(','));
            let points: Vec<(f64, f64)> = pairs
                .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
                .collect();
            for (x, y) in &points {
                assert!(
                    (0.0..=14400.0).contains(x) && (0.0..=8100.0).contains(y),
                    "{line}"
                );
            }
            if points.len() == 4 {
                sides.push((points[2].0 - points[0].0, points[0].1 - points[2].1));
            }
        }
        assert_eq!(sides.len(), lengths.iter().sum::<usize>());
        for (width, height) in &sides {
            assert!(
                (width - height).abs() < 3.0 && (width - sides[0].0).abs() < 3.0,
                "{sides:?}"
            );
        }
    }
}

/// Measured, modelled and published points have different marks, the names of categories stand below the points,
/// and the lines to the names of curves are grey and no part of a curve.
#[test]
fn forms_and_categories_are_seen() {
    let curve = |label: &str, form| Curve {
        label: label.to_owned(),
        points: vec![(0.0, 5.0), (1.0, 3.0), (2.0, 4.0)],
        form,
    };
    let drawn = |form, x_names: &[&str]| {
        let panel = Panel {
            x_names: x_names.iter().map(|name| (*name).to_owned()).collect(),
            ..Panel::over_time("P", Scale::Linear, vec![curve("name", form)])
        };
        let figure = Figure {
            title: "T".to_owned(),
            subtitle: String::new(),
            columns: vec![vec![panel]],
        };
        let path = file(&format!("form-{form:?}-{}.svg", x_names.len()));
        figure.save(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        text
    };
    let counts =
        |text: &str| ["<circle", "<rect", "<polyline"].map(|element| text.matches(element).count());
    let [_, rectangles, lines] = counts(&drawn(Form::Course, &[]));
    assert_eq!(counts(&drawn(Form::Measured, &[])), [3, rectangles, lines]);
    assert_eq!(
        counts(&drawn(Form::Published, &[])),
        [0, rectangles + 3, lines + 3]
    );
    assert!(counts(&drawn(Form::Model, &[]))[2] > lines + 10);
    let (r, g, b) = (draw::LEADER.0, draw::LEADER.1, draw::LEADER.2);
    let grey = format!("#{r:02X}{g:02X}{b:02X}");
    assert!(drawn(Form::Course, &[]).matches(&grey).count() > 1);
    let grids = drawn(Form::Measured, &["1x1", "1x2", "2x1"]);
    for name in ["1x1", "1x2", "2x1"] {
        assert!(grids.contains(name), "{grids}");
    }
    assert_eq!(counts(&grids)[0], 3);
}
