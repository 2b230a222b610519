//! Laws of random times.

use serde::Deserialize;

use crate::draw::unit;

/// A time, fixed or drawn, as `{"uniform": [FROM, TO]}` in ns. Draws below zero count as zero.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// Always this.
    Fixed(u64),
    /// From, to.
    Uniform(u64, u64),
    /// Mean.
    Exponential(u64),
    /// Mean, standard deviation.
    Normal(u64, u64),
    /// Median, sigma of the logarithm.
    Lognormal(u64, f64),
    /// Fast, slow, share of slow.
    Bimodal(u64, u64, f64),
}

impl Law {
    /// The k-th time of a stream, ns.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below 2^53 ns = 104 days; saturating
    pub fn draw(&self, seed: u64, stream: u64, k: u64) -> u64 {
        let u = || unit(seed, stream, k);
        match *self {
            Self::Fixed(time) => time,
            Self::Uniform(from, to) => from + ((to.saturating_sub(from)) as f64 * u()).round() as u64,
            Self::Exponential(mean) => (mean as f64 * -u().ln()).round() as u64,
            Self::Normal(mean, deviation) => (mean as f64 + deviation as f64 * normal(seed, stream, k)).round() as u64,
            Self::Lognormal(median, sigma) => (median as f64 * (sigma * normal(seed, stream, k)).exp()).round() as u64,
            Self::Bimodal(fast, slow, share) => {
                if u() < share {
                    slow
                } else {
                    fast
                }
            }
        }
    }
}

/// A standard normal draw (Box and Muller, 1958).
fn normal(seed: u64, stream: u64, k: u64) -> f64 {
    let radius = (-2.0 * unit(seed, stream, k).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(seed, !stream, k)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(law: &Law) -> Vec<f64> {
        let mut times: Vec<f64> = (0..20_001).map(|k| law.draw(3, 5, k) as f64).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    fn mean(times: &[f64]) -> f64 {
        times.iter().sum::<f64>() / times.len() as f64
    }

    #[test]
    fn each_law_has_its_mean_or_median() {
        assert!(draws(&Law::Fixed(5)).iter().all(|time| *time == 5.0));
        let uniform = draws(&Law::Uniform(1000, 3000));
        assert!((mean(&uniform) / 2000.0 - 1.0).abs() < 0.01 && uniform[0] >= 1000.0 && uniform[20_000] <= 3000.0);
        assert!((mean(&draws(&Law::Exponential(1_000_000))) / 1e6 - 1.0).abs() < 0.03);
        assert!((mean(&draws(&Law::Normal(1_000_000, 100_000))) / 1e6 - 1.0).abs() < 0.01);
        let lognormal = draws(&Law::Lognormal(20_000_000, 0.5));
        assert!((lognormal[10_000] / 2e7 - 1.0).abs() < 0.02);
        assert!((lognormal[16_827] / 2e7 / 0.5f64.exp() - 1.0).abs() < 0.03, "one sigma above the median");
        let slow = draws(&Law::Bimodal(1, 9, 0.1)).iter().filter(|time| **time == 9.0).count();
        assert!((1800..2200).contains(&slow));
    }

    #[test]
    fn a_normal_draw_is_cut_at_zero() {
        let times = draws(&Law::Normal(0, 1000));
        assert!(times[0] == 0.0 && times[20_000] > 2000.0);
    }

    #[test]
    fn reads_what_the_suite_writes() {
        let law: Law = serde_json::from_str(r#"{"lognormal": [20000000, 0.5]}"#).unwrap();
        assert_eq!(law, Law::Lognormal(20_000_000, 0.5));
        assert_eq!(serde_json::from_str::<Law>(r#"{"fixed": 7}"#).unwrap(), Law::Fixed(7));
        assert!(serde_json::from_str::<Law>(r#"{"fixed": -7}"#).is_err());
    }
}
