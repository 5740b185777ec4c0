//! Colors of pictures. People who cannot tell red from green see the differences, because lightness differs as well.

/// A color: red, green, and blue.
pub(super) type Color = [u8; 3];

/// The colors of shares from nothing to all: from light to dark.
const SHARES: [Color; 5] = [[255, 247, 219], [254, 217, 142], [254, 153, 41], [217, 95, 14], [140, 45, 4]];

/// Returns the color of a share between 0 and 1. Small shares differ more than large ones.
pub(super) fn of_share(share: f64) -> Color {
    // What is not a number is nothing.
    let share = if share > 0.0 { share.min(1.0) } else { 0.0 };
    let position = share.sqrt() * (SHARES.len() - 1) as f64;
    let at = (position as usize).min(SHARES.len() - 2);
    let part = position - at as f64;
    let mixed = |channel: usize| {
        let (from, to) = (f64::from(SHARES[at][channel]), f64::from(SHARES[at + 1][channel]));
        (from + (to - from) * part).round() as u8
    };
    [mixed(0), mixed(1), mixed(2)]
}

/// Returns a color of text that can be read on a color: black or white, whichever has more contrast.
pub(super) fn text_on(background: Color) -> Color {
    let luminance = luminance(background);
    if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) { [0, 0, 0] } else { [255, 255, 255] }
}

/// The light of a color, from 0 to 1. A polynomial replaces the power of 2.4 in the definition of sRGB, which would
/// need libm.
fn luminance(color: Color) -> f64 {
    let [red, green, blue] = color.map(|value| {
        let value = f64::from(value) / 255.0;
        value * (value * (value * 0.305_306_011 + 0.682_171_111) + 0.012_522_878)
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Returns a color as `#rrggbb`.
pub(super) fn hex([red, green, blue]: Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_time_is_darker_and_text_can_be_read() {
        let brightness = |color: Color| color.iter().map(|value| u32::from(*value)).sum::<u32>();
        let colors: Vec<Color> = (0..=100).map(|percent| of_share(f64::from(percent) / 100.0)).collect();
        assert!(colors.windows(2).all(|pair| brightness(pair[1]) < brightness(pair[0])), "{colors:?}");
        assert_eq!((hex(colors[0]), hex(colors[100])), ("#fff7db".to_owned(), "#8c2d04".to_owned()));
        assert_eq!((text_on(colors[0]), text_on(colors[100])), ([0; 3], [255; 3]));
        assert_eq!(of_share(f64::NAN), of_share(0.0));
    }

    #[test]
    fn the_light_of_a_color_is_that_of_srgb() {
        for value in 0..=255 {
            let part = f64::from(value) / 255.0;
            let exact = if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
            let found = luminance([value; 3]);
            assert!((found - exact).abs() < 0.003, "{value}: {found}, not {exact}");
        }
    }
}
