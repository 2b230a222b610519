//! What is set of a library.

use pileup_schedule::Law;
use serde::Deserialize;

/// Which request a drive takes next.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The oldest request whose cartridge no other drive is busy with.
    Fifo,
    /// All that waits for the cartridge in the drive, then the cartridge with the oldest request.
    #[default]
    Cartridge,
}

/// A time in which a drive is down.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Absence {
    /// Number of the drive, from 0.
    pub drive: u32,
    /// From when, ns since the library began.
    pub from: i64,
    /// How long, ns.
    pub lasts: i64,
}

/// What holds in a library. Times in ns.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// Drives.
    pub drives: u32,
    /// Cartridges; a file lies on one of them by its key.
    pub cartridges: u32,
    /// Arms of the robot: so many cartridges are moved at a time.
    pub arms: u32,
    /// Which request comes next.
    pub order: Order,
    /// From the robot's start until a drive can use a cartridge.
    pub mount: Law,
    /// To bring the cartridge before it back.
    pub dismount: Law,
    /// To the beginning of a file.
    pub seek: Law,
    /// Bytes per second of a drive.
    pub speed: f64,
    /// Cartridges that cannot be read.
    pub unreadable: Vec<u32>,
    /// Share of the requests that are forgotten.
    pub lost: f64,
    /// Numbers of requests, from 0, that are kept and never served.
    pub silent: Vec<u64>,
    /// When drives are down.
    pub down: Vec<Absence>,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            drives: 4,
            cartridges: 100,
            arms: 1,
            order: Order::Cartridge,
            mount: Law::Fixed(60_000_000_000),
            dismount: Law::Fixed(30_000_000_000),
            seek: Law::Uniform(0, 90_000_000_000),
            speed: 100e6,
            unreadable: Vec::new(),
            lost: 0.0,
            silent: Vec::new(),
            down: Vec::new(),
            seed: 1,
        }
    }
}

impl Rules {
    /// Refuse what cannot be.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub fn check(&self) -> Result<(), (String, &'static str)> {
        for (name, number) in [("drives", self.drives), ("cartridges", self.cartridges), ("arms", self.arms)] {
            if number == 0 {
                return Err((format!("{name} 0"), "1 or more"));
            }
        }
        if !(self.speed.is_finite() && self.speed > 0.0) {
            return Err((format!("speed {}", self.speed), "bytes per second above 0"));
        }
        if !(0.0..=1.0).contains(&self.lost) {
            return Err((format!("lost {}", self.lost), "0 to 1"));
        }
        if let Some(cartridge) = self.unreadable.iter().find(|each| **each >= self.cartridges) {
            return Err((format!("unreadable cartridge {cartridge}"), "one of those that there are, from 0"));
        }
        if let Some(drive) = self.down.iter().map(|each| each.drive).find(|drive| *drive >= self.drives) {
            return Err((format!("drive {drive} down"), "one of those that there are, from 0"));
        }
        if self.down.iter().any(|each| each.from < 0 || each.lasts <= 0) {
            return Err(("a drive down at or for a negative time".to_owned(), "a time of 0 or more, for more than 0"));
        }
        Ok(())
    }
}
