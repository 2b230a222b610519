//! Draws without a state: the k-th number of a stream is a function of (seed, stream, k), so that any shard can compute any of them.

/// The finalizer of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[must_use]
pub fn mix(mut value: u64) -> u64 {
    value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// 64 random bits.
#[must_use]
pub fn bits(seed: u64, stream: u64, k: u64) -> u64 {
    mix(mix(mix(seed) ^ stream).wrapping_add(k.wrapping_mul(0xd134_2543_de82_ef95)))
}

/// A number between 0 and 1, both left out.
#[must_use]
pub fn unit(seed: u64, stream: u64, k: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // 53 bits fit
    let number = (bits(seed, stream, k) >> 11) as f64;
    (number + 0.5) / 9_007_199_254_740_992.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_and_streams_apart() {
        let n = 20_000;
        let mean = (0..n).map(|k| unit(7, 1, k)).sum::<f64>() / 20_000.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        let equal = (0..n).filter(|k| bits(7, 1, *k) == bits(7, 2, *k) || bits(7, 1, *k) == bits(8, 1, *k)).count();
        assert_eq!(equal, 0);
        assert!((0..n).all(|k| unit(0, 0, k) > 0.0 && unit(0, 0, k) < 1.0));
    }
}
