//! Known content: it can be computed again at any offset, so that reads can be verified without keeping what was written.
//!
//! A pool of pseudo-random bytes is repeated from a place that depends on the object, and every page of 4096 bytes begins with the object's
//! number and the page's: a page at the wrong place or of the wrong object shows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pileup_schedule::mix;
pub use simd_adler32::Adler32;

/// Length of the pool: a prime, so that the pool never stays in step with pages.
pub const POOL: usize = 1_048_573;
/// Bytes between stamps.
pub const PAGE: u64 = 4096;
const STAMP: u64 = 16;

/// Of so many bytes of the pool the first part is random, the rest zeros, where the entropy is below 1.
const GRAIN: usize = 512;

/// Known content of one object: the values that determine it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Object {
    /// Seed of the pool.
    pub seed: u64,
    /// Number of the object.
    pub number: u64,
    /// Size in bytes.
    pub size: u64,
    /// How much of it is random, 0 to 1.
    pub entropy: f64,
}

/// The content of one object, ready to be filled in or compared.
#[derive(Clone)]
pub struct Maker {
    pool: Arc<[u8]>,
    number: u64,
    begin: u64,
}

/// By seed and random bytes of a grain.
type Pools = HashMap<(u64, usize), Arc<[u8]>>;

/// Pools are shared: a suite has one seed, and few entropies.
fn pool(seed: u64, entropy: f64) -> Arc<[u8]> {
    static POOLS: OnceLock<Mutex<Pools>> = OnceLock::new();
    let mut pools = POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if pools.len() > 16 {
        pools.clear();
    }
    let random = random_of_grain(entropy);
    Arc::clone(pools.entry((seed, random)).or_insert_with(|| {
        let words = (0..=POOL as u64 / 8).flat_map(|k| mix(mix(seed).wrapping_add(k)).to_le_bytes());
        words.take(POOL).enumerate().map(|(at, byte)| if at % GRAIN < random { byte } else { 0 }).collect()
    }))
}

/// Random bytes of a grain.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // within the grain
fn random_of_grain(entropy: f64) -> usize {
    (entropy.clamp(0.0, 1.0) * GRAIN as f64).round() as usize
}

impl Maker {
    /// For an object.
    #[must_use]
    pub fn new(object: &Object) -> Self {
        let begin = mix(object.seed ^ object.number) % POOL as u64;
        Self { pool: pool(object.seed, object.entropy), number: object.number, begin }
    }

    /// Walk over the plain pieces of `length` bytes at `offset`: calls `act(position in the range, bytes)` until it returns false.
    fn pieces(&self, offset: u64, length: usize, mut act: impl FnMut(usize, &[u8]) -> bool) {
        let mut done = 0;
        while done < length {
            let at = offset + done as u64;
            let (page, inside) = (at / PAGE, at % PAGE);
            let left = length - done;
            let go_on = if inside < STAMP {
                let mut stamp = [0; STAMP as usize];
                stamp[..8].copy_from_slice(&self.number.to_le_bytes());
                stamp[8..].copy_from_slice(&page.to_le_bytes());
                let piece = &stamp[to_usize(inside)..];
                let piece = &piece[..piece.len().min(left)];
                let go_on = act(done, piece);
                done += piece.len();
                go_on
            } else {
                let from = to_usize((self.begin + at) % POOL as u64);
                let size = left.min(to_usize(PAGE - inside)).min(POOL - from);
                let go_on = act(done, &self.pool[from..from + size]);
                done += size;
                go_on
            };
            if !go_on {
                return;
            }
        }
    }

    /// Write the content at `offset` into `buffer`.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        let length = buffer.len();
        self.pieces(offset, length, |at, piece| {
            buffer[at..at + piece.len()].copy_from_slice(piece);
            true
        });
    }

    /// Compare `data`, read at `offset`; returns the offset in the object of the first byte that is wrong.
    #[must_use]
    pub fn first_wrong(&self, offset: u64, data: &[u8]) -> Option<u64> {
        let mut wrong = None;
        self.pieces(offset, data.len(), |at, piece| {
            let found = &data[at..at + piece.len()];
            if found != piece {
                let inside = found.iter().zip(piece).position(|(have, want)| have != want).unwrap_or(0);
                wrong = Some(offset + (at + inside) as u64);
            }
            wrong.is_none()
        });
        wrong
    }
}

#[allow(clippy::cast_possible_truncation)] // positions in a page or the pool
const fn to_usize(value: u64) -> usize {
    value as usize
}

/// Adler-32 of a whole object.
#[must_use]
pub fn adler32(object: &Object) -> u32 {
    let maker = Maker::new(object);
    let mut sum = Adler32::new();
    let mut buffer = vec![0; 1 << 16];
    let mut at = 0;
    while at < object.size {
        let piece = to_usize((object.size - at).min(buffer.len() as u64));
        maker.fill(at, &mut buffer[..piece]);
        sum.write(&buffer[..piece]);
        at += piece as u64;
    }
    sum.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maker(seed: u64, number: u64) -> Maker {
        Maker::new(&Object { seed, number, size: 0, entropy: 1.0 })
    }

    fn whole(number: u64, size: usize) -> Vec<u8> {
        let mut data = vec![0; size];
        maker(7, number).fill(0, &mut data);
        data
    }

    #[test]
    fn any_part_is_the_part_of_the_whole() {
        let all = whole(3, 3 * POOL);
        for (offset, length) in [(0, 1), (5, 20), (4090, 30), (POOL - 7, 9000), (2 * POOL + 11, 100_000)] {
            let mut part = vec![0; length];
            maker(7, 3).fill(offset as u64, &mut part);
            assert!(part == all[offset..offset + length]);
            assert_eq!(maker(7, 3).first_wrong(offset as u64, &part), None);
        }
    }

    #[test]
    fn one_wrong_bit_is_found_where_it_is() {
        for at in [0, 8, 15, 16, 4095, 4096, 4111, 70_000] {
            let mut data = whole(3, 100_000);
            data[at] ^= 4;
            assert_eq!(maker(7, 3).first_wrong(0, &data), Some(at as u64));
        }
    }

    #[test]
    fn other_objects_seeds_and_places_differ() {
        let data = whole(3, 20_000);
        assert!(maker(7, 4).first_wrong(0, &data).is_some());
        assert!(maker(8, 3).first_wrong(0, &data).is_some());
        assert!(maker(7, 3).first_wrong(4096, &data[..4096]).is_some());
        let shifted = &whole(3, 2 * POOL)[..4096];
        assert!(maker(7, 3).first_wrong(POOL as u64, shifted).is_some());
    }

    #[test]
    fn adler_is_that_of_the_rfc() {
        let of = |data: &[u8]| {
            let mut sum = Adler32::new();
            data.chunks(7).for_each(|piece| sum.write(piece));
            sum.finish()
        };
        assert_eq!(of(b""), 1);
        assert_eq!(of(b"Wikipedia"), 0x11E6_0398);
        let mut sum = Adler32::new();
        sum.write(&[255; 1_000_000]);
        let (mut low, mut high) = (1u64, 0u64);
        (0..1_000_000).for_each(|_| {
            low = (low + 255) % 65_521;
            high = (high + low) % 65_521;
        });
        assert_eq!(u64::from(sum.finish()), high << 16 | low);
        let mut sum = Adler32::new();
        sum.write(&whole(9, 300_001));
        let object = Object { seed: 7, number: 9, size: 300_001, entropy: 1.0 };
        assert_eq!(adler32(&object), sum.finish());
    }

    #[test]
    fn as_much_is_random_as_the_entropy_says() {
        let zeros = |entropy| {
            let mut data = vec![0; 500_000];
            Maker::new(&Object { seed: 7, number: 3, size: 0, entropy }).fill(0, &mut data);
            data.iter().filter(|byte| **byte == 0).count() / 5000
        };
        assert_eq!((zeros(0.0), zeros(0.5), zeros(1.0)), (99, 50, 0));
    }
}
