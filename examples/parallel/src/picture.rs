//! The algorithm in one picture, after Figure 1 of the paper: 7, 3 and 9 active particles in three columns of
//! four rows.

use std::fmt::Write as _;

use crate::grid::Grid;

const GRID: Grid = Grid {
    rows: 4,
    columns: 3,
};
/// Active particles of each column.
const LENGTHS: [usize; 3] = [7, 3, 9];

/// Sides of a rank's cell, and the distance of the symbols in it.
const CELL: (usize, usize) = (88, 54);
const STEP: usize = 13;
/// Symbols on one line.
const LINE: usize = 6;

/// What a rank holds of a particle.
#[derive(Clone, Copy)]
enum Symbol {
    Position,
    PartialForce,
    Force,
}

impl Symbol {
    fn draw(self, x: usize, y: usize) -> String {
        match self {
            Self::Position => format!(
                r##"<circle cx="{}" cy="{}" r="4" fill="none" stroke="#1f4e79" stroke-width="1.5"/>"##,
                x + 4,
                y + 4
            ),
            Self::PartialForce => {
                format!(r##"<rect x="{x}" y="{y}" width="8" height="8" fill="#f0b37e"/>"##)
            }
            Self::Force => {
                format!(r##"<rect x="{x}" y="{y}" width="8" height="8" fill="#c0392b"/>"##)
            }
        }
    }
}

/// How many particles the rank at a place holds in each of the six pictures.
fn held(picture: usize, row: usize, column: usize) -> usize {
    let shares = GRID.shares(&LENGTHS, row);
    match picture {
        0 | 5 => LENGTHS[column],
        1 | 4 => shares[column],
        _ => shares.iter().sum(),
    }
}

/// The picture as SVG.
pub fn svg() -> String {
    const PICTURES: [(&str, Symbol); 6] = [
        ("1, 2  active lists of the columns", Symbol::Position),
        ("3  each rank takes its part", Symbol::Position),
        ("4  positions along the row", Symbol::Position),
        ("5  forces of the rank's j-particles", Symbol::PartialForce),
        ("6  sums over the row, back home", Symbol::Force),
        ("7, 8  forces along the column", Symbol::Force),
    ];
    let (wide, high) = (GRID.columns * CELL.0, GRID.rows * CELL.1);
    let (across, down) = (wide + 36, high + 60);
    let mut text = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" font-size="14"><rect width="100%" height="100%" fill="#ffffff"/>"##,
        3 * across + 24,
        2 * down + 54
    );
    for (number, (title, symbol)) in PICTURES.into_iter().enumerate() {
        let (left, top) = (30 + number % 3 * across, 40 + number / 3 * down);
        let mut add = |element: String| {
            writeln!(text, "{element}").expect("a string takes everything");
        };
        add(format!(
            r##"<text x="{left}" y="{}">{title}</text>"##,
            top - 10
        ));
        for row in 0..GRID.rows {
            for column in 0..GRID.columns {
                let (x, y) = (left + column * CELL.0, top + row * CELL.1);
                add(format!(
                    r##"<rect x="{x}" y="{y}" width="{}" height="{}" fill="none" stroke="#999999"/>"##,
                    CELL.0, CELL.1
                ));
                for k in 0..held(number, row, column) {
                    add(symbol.draw(x + 8 + k % LINE * STEP, y + 10 + k / LINE * STEP));
                }
            }
        }
    }
    let legend = "circles: predicted positions; orange: partial forces; red: forces. \
                  Rows divide the active particles, columns the j-particles.";
    writeln!(
        text,
        r##"<text x="30" y="{}">{legend}</text></svg>"##,
        2 * down + 36
    )
    .expect("a string takes everything");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_in_the_readme_is_this_one() {
        assert_eq!(include_str!("../algorithm.svg"), svg());
    }

    /// Counts the circles of the first three pictures. The first has each column's list on all four rows, the second
    /// has it divided over the rows, and the third has each row's particles on all three columns.
    #[test]
    fn every_particle_is_drawn() {
        let (lists, all) = (4 * 19, 19);
        let picture = svg();
        assert_eq!(picture.matches("<circle").count(), lists + all + 3 * all);
        assert_eq!(picture.matches("#f0b37e").count(), 3 * all);
        assert_eq!(picture.matches("#c0392b").count(), all + lists);
    }
}
