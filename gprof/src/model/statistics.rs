//! Distributions by which runs are compared: Student's t, with the incomplete beta function, and the normal
//! distribution, with the incomplete gamma function. Both are computed by continued fractions (Lentz's method), which
//! keep the relative error below 1e-10 also far out in the tails, where corrected levels lie.
//!
//! The formulas are those of Abramowitz and Stegun, *Handbook of Mathematical Functions*: 6.1 (gamma), 6.5 (incomplete
//! gamma), 26.5.8 (incomplete beta), 26.7.1 (Student's t), and 26.7.10 (noncentral t).

/// The steps of a continued fraction or of a search, at most. Both need far fewer.
const STEPS: u32 = 500;

/// Returns the logarithm of the gamma function of a positive number (Lanczos' approximation, error below 1e-13).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let terms = TERMS.iter().zip(0_u32..).map(|(term, at)| term / (x + f64::from(at)));
    let sum = 0.999_999_999_999_809_9 + terms.sum::<f64>();
    let shifted = x + 6.5;
    0.5 * std::f64::consts::TAU.ln() + (x - 0.5) * shifted.ln() - shifted + sum.ln()
}

/// Returns the continued fraction `1 / (1 + c1 / (1 + c2 / (1 + ...)))` of these coefficients.
fn fraction(coefficient: impl Fn(u32) -> f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |number: f64| if number.abs() < TINY { TINY } else { number };
    let (mut value, mut upper, mut lower) = (1.0, 1.0, 0.0);
    for step in 1..STEPS {
        let term = coefficient(step);
        lower = 1.0 / away(1.0 + term * lower);
        upper = away(1.0 + term / upper);
        value *= upper * lower;
        if (upper * lower - 1.0).abs() < 1e-15 {
            break;
        }
    }
    1.0 / value
}

/// Returns the regularized incomplete beta function I_x(a, b). `rest` is 1 - x, which the caller knows exactly.
fn incomplete_beta(x: f64, rest: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || rest <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(rest, x, b, a);
    }
    let front = a * x.ln() + b * rest.ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    let term = |step: u32| {
        let half = f64::from(step / 2);
        match step % 2 {
            0 => half * (b - half) * x / ((a + 2.0 * half - 1.0) * (a + 2.0 * half)),
            _ => -(a + half) * (a + b + half) * x / ((a + 2.0 * half) * (a + 2.0 * half + 1.0)),
        }
    };
    front.exp() / a * fraction(term)
}

/// Returns the probability that a normal number is as far from its mean as `z` standard deviations, on either side.
pub fn normal_p(z: f64) -> f64 {
    let x = z * z / 2.0;
    if !x.is_finite() {
        return 0.0;
    }
    // The incomplete gamma function of 1/2: a series near the mean, and a continued fraction in the tails.
    let front = x.sqrt() * (-x).exp() / std::f64::consts::PI.sqrt();
    if x < 1.5 {
        let (mut sum, mut term, mut step) = (0.0, 2.0, 0.5);
        while term > 1e-17 {
            sum += term;
            step += 1.0;
            term *= x / step;
        }
        return (1.0 - front * sum).clamp(0.0, 1.0);
    }
    // 6.5.31, with pairs of its terms combined into coefficients of the form of `fraction`.
    let term = |step: u32| if step % 2 == 1 { 0.5 + f64::from(step / 2) } else { f64::from(step / 2) } / x;
    front / x * fraction(term)
}

/// Returns the probability that Student's t with `df` degrees of freedom is as far from 0 as `t`, on either side. If
/// `df` is infinite, t is normal.
pub fn student_p(t: f64, df: f64) -> f64 {
    if !df.is_finite() {
        return normal_p(t);
    }
    let square = t * t;
    if !square.is_finite() {
        return 0.0;
    }
    incomplete_beta(df / (df + square), square / (df + square), df / 2.0, 0.5).clamp(0.0, 1.0)
}

/// Returns the t at which [`student_p`] is `p`: the two-sided quantile.
pub fn student_quantile(p: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while student_p(high, df) > p && high < 1e150 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high || high - low < 1e-12 * high {
            break;
        }
        if student_p(middle, df) > p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The probability with which a visible change is shown.
pub const POWER: f64 = 0.8;

/// The standard normal quantile of [`POWER`].
const POWER_QUANTILE: f64 = 0.841_621_233_572_914_3;

/// Returns how many standard errors a change needs so that a t-test with `df` degrees of freedom at the two-sided level
/// `level` shows the change with the probability [`POWER`]. Approximates the noncentral t distribution (26.7.10); the
/// power at the returned change is within 0.02 of [`POWER`] for two degrees of freedom and more.
pub fn visible_errors(level: f64, df: f64) -> f64 {
    let t = student_quantile(level, df);
    if !df.is_finite() {
        return t + POWER_QUANTILE;
    }
    t * (1.0 - 0.25 / df) + POWER_QUANTILE * (1.0 + t * t / (2.0 * df)).sqrt()
}

/// A mean, the square of its standard error, and the degrees of freedom of this square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub mean: f64,
    pub variance: f64,
    pub df: f64,
}

impl Mean {
    /// Returns the mean of values; `None` if there are fewer than two, which have no spread.
    pub fn of(values: &[f64]) -> Option<Mean> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let df = count - 1.0;
        (values.len() > 1).then(|| Mean { mean, variance: squares / df / count, df })
    }

    /// Returns the difference of two independent means, with the degrees of freedom of Welch and Satterthwaite.
    pub fn less(self, base: Mean) -> Mean {
        let variance = self.variance + base.variance;
        let parts = self.variance.powi(2) / self.df + base.variance.powi(2) / base.df;
        // Without any spread, the smaller number of values counts.
        let df = if parts > 0.0 { variance.powi(2) / parts } else { self.df.min(base.df) };
        Mean { mean: self.mean - base.mean, variance, df }
    }

    /// Returns the standard error.
    pub fn error(self) -> f64 {
        self.variance.sqrt()
    }

    /// Returns the two-sided p-value of a mean that is 0.
    pub fn p(self) -> f64 {
        match (self.mean == 0.0, self.variance > 0.0) {
            (true, _) => 1.0,
            (false, true) => student_p(self.mean / self.error(), self.df),
            (false, false) => 0.0,
        }
    }
}

/// Corrects p-values by Holm's method: if none of the changes is real, the probability that any corrected value is
/// below a level is at most this level, however the changes depend on each other. Each result is at most 1.
pub fn holm(p: &mut [f64]) {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut least = 0.0_f64;
    for (rank, at) in order.iter().enumerate() {
        least = least.max(p[*at] * (order.len() - rank) as f64).min(1.0);
        p[*at] = least;
    }
}

/// The probability that a normal number is at most `z` standard deviations above its mean.
#[cfg(any(test, feature = "internals"))]
fn normal_below(z: f64) -> f64 {
    let half = normal_p(z) / 2.0;
    if z > 0.0 { 1.0 - half } else { half }
}

/// Returns the integral of a function by Simpson's rule.
#[cfg(any(test, feature = "internals"))]
fn integral([low, high]: [f64; 2], intervals: u32, value: impl Fn(f64) -> f64) -> f64 {
    let width = (high - low) / f64::from(intervals);
    let weighted = |at: u32| {
        let weight = match at {
            0 => 1.0,
            _ if at == intervals => 1.0,
            _ if at % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * value(low + width * f64::from(at))
    };
    (0..=intervals).map(weighted).sum::<f64>() * width / 3.0
}

/// Returns the power of a two-sided t-test: the probability that the noncentral t distribution with `df` degrees of
/// freedom is beyond the quantile `t` on either side. `errors` is the true change in standard errors. The integral over
/// the logarithm of the estimated error is exact to 1e-6.
#[must_use]
#[cfg(any(test, feature = "internals"))]
pub fn power(errors: f64, df: f64, t: f64) -> f64 {
    // The density of the logarithm of sqrt(chi² / df).
    let constant = (df / 2.0) * (df / 2.0).ln() - ln_gamma(df / 2.0) + 2.0_f64.ln();
    let density = |log: f64| (constant + df * log - df / 2.0 * (2.0 * log).exp()).exp();
    let shown = |log: f64| {
        let limit = t * log.exp();
        normal_below(errors - limit) + normal_below(-errors - limit)
    };
    integral([-12.0 / df.sqrt() - 6.0, 3.0], 2000, |log| density(log) * shown(log))
}

/// Returns the power of Welch's test at a two-sided level, with `count` values of the same variance on each side. Each
/// side's part of the estimated variance has a beta distribution and does not depend on the sum of both estimates, so
/// the power is a mean over this part, which decides on the degrees of freedom of the quantile.
#[must_use]
#[cfg(any(test, feature = "internals"))]
pub fn power_of_welch(errors: f64, count: usize, level: f64) -> f64 {
    let df = count as f64 - 1.0;
    let ln_beta = 2.0 * ln_gamma(df / 2.0) - ln_gamma(df);
    let density = |part: f64| ((df / 2.0 - 1.0) * (part * (1.0 - part)).ln() - ln_beta).exp();
    let shown = |part: f64| {
        let quantile = student_quantile(level, df / (part * part + (1.0 - part) * (1.0 - part)));
        density(part) * power(errors, 2.0 * df, quantile)
    };
    integral([1e-6, 1.0 - 1e-6], 60, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-9 * other.abs()
    }

    #[test]
    fn the_normal_distribution_has_its_known_values() {
        // Abramowitz and Stegun, tables 26.1 and 26.2, and Wolfram's erfc for the tails.
        for (z, p) in [
            (0.0, 1.0),
            (0.5, 0.617_075_077_451_973_8),
            (1.0, 0.317_310_507_862_914_15),
            (1.7, 0.089_130_925_160_974_54),
            (1.8, 0.071_860_638_225_837_34),
            (1.959_963_984_540_054, 0.05),
            (3.0, 0.002_699_796_063_260_189),
            (5.0, 5.733_031_437_583_878e-7),
            (10.0, 1.523_970_604_832_105e-23),
        ] {
            assert!((normal_p(z) - p).abs() < 1e-8 * p, "{z}: {} {p}", normal_p(z));
        }
        assert_eq!((normal_p(1e200), normal_p(-1.0)), (0.0, normal_p(1.0)));
    }

    #[test]
    fn the_t_distribution_has_its_known_values() {
        // One and two degrees of freedom have closed forms.
        for t in [0.1, 1.0, 3.0, 12.7, 1000.0_f64] {
            let cauchy = 1.0 - 2.0 / std::f64::consts::PI * t.atan();
            let cauchy = if t > 100.0 { 2.0 / std::f64::consts::PI * (1.0 / t).atan() } else { cauchy };
            assert!((student_p(t, 1.0) - cauchy).abs() < 1e-9 * cauchy, "{t}");
            let two = 1.0 - t / (t * t + 2.0).sqrt();
            assert!((student_p(t, 2.0) - two).abs() < 1e-8 * two + 1e-15, "{t}");
        }
        // Quantiles of tables: 0.05, 0.01, and 0.001, two-sided.
        for (p, df, t) in [
            (0.05, 1.0, 12.706_204_736),
            (0.05, 4.0, 2.776_445_105),
            (0.01, 8.0, 3.355_387_331),
            (0.001, 10.0, 4.586_893_859),
            (0.05, 120.0, 1.979_930_405),
            (0.05, f64::INFINITY, 1.959_963_985),
        ] {
            assert!((student_quantile(p, df) - t).abs() < 1e-8 * t, "{p} {df}: {}", student_quantile(p, df));
        }
        // Tails of corrected levels, and degrees of freedom that are no whole numbers.
        for (t, df) in [(60.0, 3.5), (7.1, 8.0), (5.0, 33.3), (2.0, 0.7)] {
            assert!(is_near(student_quantile(student_p(t, df), df), t), "{t} {df}");
        }
        assert!((student_p(5.0, 1e7) - normal_p(5.0)).abs() < 1e-4 * normal_p(5.0));
        assert_eq!((student_p(0.0, 3.0), student_p(f64::INFINITY, 3.0)), (1.0, 0.0));
    }

    #[test]
    fn welch_agrees_with_a_published_example() {
        // B. L. Welch's test as in R's t.test(extra ~ group, data = sleep): t = -1.8608, df = 17.776, p = 0.07939.
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let other = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let change = Mean::of(&one).unwrap().less(Mean::of(&other).unwrap());
        assert!((change.mean / change.error() + 1.860_813).abs() < 1e-6, "{change:?}");
        assert!((change.df - 17.776_474).abs() < 1e-6 && (change.p() - 0.079_394).abs() < 1e-6, "{change:?}");
        // Paired: t = -4.0621, df = 9, p = 0.002833.
        let pairs: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
        let change = Mean::of(&pairs).unwrap();
        assert!(change.df == 9.0 && (change.p() - 0.002_832_9).abs() < 1e-6, "{change:?}");
    }

    #[test]
    fn values_without_spread() {
        let same = |value: f64| Mean::of(&[value; 3]).unwrap();
        assert_eq!((same(2.0).less(same(2.0)).p(), same(3.0).less(same(2.0)).p()), (1.0, 0.0));
        assert_eq!((Mean::of(&[1.0]), Mean::of(&[]), same(2.0).less(same(2.0)).df), (None, None, 2.0));
    }

    #[test]
    fn holm_raises_each_value_by_those_that_are_left() {
        let mut p = [0.01, 0.04, 0.03, 0.005];
        holm(&mut p);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(p.iter().zip(expected).all(|(p, expected)| (p - expected).abs() < 1e-15), "{p:?}");
        let mut large = [0.9, 0.8];
        holm(&mut large);
        assert_eq!(large, [1.0; 2]);
        holm(&mut []);
    }

    #[test]
    fn a_visible_change_is_shown_with_the_stated_power() {
        // G*Power's example: two groups of 64, an effect of half a standard deviation, the level 0.05.
        assert!((power(0.5 * 32.0_f64.sqrt(), 126.0, student_quantile(0.05, 126.0)) - 0.8015).abs() < 1e-4);
        assert!(
            (power(0.0, 7.0, student_quantile(0.01, 7.0)) - 0.01).abs() < 1e-6,
            "the power without a change is the level"
        );
        for level in [0.05, 1e-3, 1e-5] {
            for df in [2.0, 4.0, 8.0, 18.0, 100.0] {
                let power = power(visible_errors(level, df), df, student_quantile(level, df));
                assert!((power - POWER).abs() < 0.02, "{level} {df}: {power}");
            }
        }
        // Welch's test keeps the level, stays a little below it with few values, and has the power of the t-test with
        // many.
        let level = power_of_welch(0.0, 8, 0.01);
        assert!(level < 0.01 && level > 0.0085, "{level}");
        assert!((power_of_welch(0.5 * 32.0_f64.sqrt(), 64, 0.05) - 0.8015).abs() < 1e-3);
        assert!((visible_errors(0.05, f64::INFINITY) - (1.959_963_985 + 0.841_621_234)).abs() < 1e-8);
    }
}
