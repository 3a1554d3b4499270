//! Writes figures to files: SVG as it is, PNG from four times the pixels.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Once;

use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use super::Figure;
use super::canvas::{Canvas, FONT, SIZE};
use super::draw;

/// Pixels of the PNG to the figure's length unit, along each side.
const PNG_SCALE: u32 = 2;

/// Pixels drawn for each pixel of the PNG, along each side. This smooths the edges, which `plotters` leaves rough.
const OVERSAMPLING: u32 = 2;

/// Units of the SVG's coordinates to the figure's length unit: plotters writes integers.
const SVG_SCALE: u32 = 10;

#[derive(Clone, Copy)]
enum Format {
    Svg,
    Png,
}

/// Whether a figure can be saved under this name: to be asked before a long run, not after it.
///
/// # Errors
///
/// The extension is neither `svg` nor `png`; in words.
pub fn check_path(path: &Path) -> Result<(), String> {
    format(path).map(|_| ())
}

fn format(path: &Path) -> Result<Format, String> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    match extension.to_ascii_lowercase().as_str() {
        "svg" => Ok(Format::Svg),
        "png" => Ok(Format::Png),
        _ => Err(format!(
            "{}: a figure's name ends in .svg or .png",
            path.display()
        )),
    }
}

/// Saves the figure, if it is `close` on a page without empty margins.
pub(super) fn save(figure: &Figure, path: &Path, close: bool) -> Result<(), String> {
    use_built_in_font();
    let name = |e: String| format!("{}: {e}", path.display());
    let size = match close {
        true => (close_width(figure)?, SIZE.1),
        false => SIZE,
    };
    match format(path)? {
        Format::Svg => std::fs::write(path, svg(figure, size)?).map_err(|e| name(e.to_string())),
        Format::Png => save_png(&png(figure, size)?, size, path).map_err(|e| name(e.to_string())),
    }
}

/// The width at which the figure has no empty margins.
fn close_width(figure: &Figure) -> Result<u32, String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    draw::width(&Canvas::new(&area, 1), figure)
}

/// plotters measures and draws letters with the fonts it is given.
fn use_built_in_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let font = epaint_default_fonts::UBUNTU_LIGHT;
        let registered = register_font(FONT, FontStyle::Normal, font);
        assert!(registered.is_ok(), "the built-in font is a font");
    });
}

fn svg(figure: &Figure, page: (u32, u32)) -> Result<String, String> {
    let fine = (page.0 * SVG_SCALE, page.1 * SVG_SCALE);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, fine).into_drawing_area();
        draw::figure(&Canvas::new(&area, SVG_SCALE), figure, page.0)?;
        area.present().map_err(|e| e.to_string())?;
    }
    // The picture has the figure's size; its coordinates remain finer.
    let size = |(width, height): (u32, u32)| format!("width=\"{width}\" height=\"{height}\"");
    Ok(text.replacen(&size(fine), &size(page), 1))
}

/// The figure's pixels, three bytes each, in rows of `PNG_SCALE` times the width of the page.
fn png(figure: &Figure, page: (u32, u32)) -> Result<Vec<u8>, String> {
    let scale = PNG_SCALE * OVERSAMPLING;
    let (width, height) = (page.0 * scale, page.1 * scale);
    let mut fine = vec![0; (width * height * 3) as usize];
    {
        let area = BitMapBackend::with_buffer(&mut fine, (width, height)).into_drawing_area();
        draw::figure(&Canvas::new(&area, scale), figure, page.0)?;
        area.present().map_err(|e| e.to_string())?;
    }
    Ok(averaged(&fine, width as usize, OVERSAMPLING as usize))
}

/// Every square of `side` by `side` pixels becomes one of their mean colour.
fn averaged(fine: &[u8], width: usize, side: usize) -> Vec<u8> {
    let rows = fine.len() / (width * 3);
    let mut coarse = Vec::with_capacity(fine.len() / (side * side));
    for row in (0..rows).step_by(side) {
        for column in (0..width).step_by(side) {
            for channel in 0..3 {
                let sum: usize = (0..side * side)
                    .map(|k| (row + k / side) * width + column + k % side)
                    .map(|pixel| usize::from(fine[3 * pixel + channel]))
                    .sum();
                coarse.push((sum / (side * side)) as u8);
            }
        }
    }
    coarse
}

fn save_png(pixels: &[u8], page: (u32, u32), path: &Path) -> Result<(), png::EncodingError> {
    let file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(file, page.0 * PNG_SCALE, page.1 * PNG_SCALE);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()
}
