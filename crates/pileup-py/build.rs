//! Bakes the hash of the sources into the module; `tools/source_hash.py` computes the same.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|kind| kind == "rs") || path.ends_with("Cargo.toml") {
            found.push(path);
        }
    }
    Ok(())
}

fn name(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn source_hash(root: &Path) -> io::Result<String> {
    let mut found: Vec<PathBuf> =
        ["Cargo.lock", "Cargo.toml"].iter().map(|file| root.join(file)).filter(|path| path.is_file()).collect();
    collect(&root.join("crates"), &mut found)?;
    found.sort_by_key(|path| name(root, path));
    let mut digest = Sha256::new();
    for path in found {
        let data = fs::read(&path)?;
        digest.update(name(root, &path).as_bytes());
        digest.update([0]);
        digest.update((data.len() as u64).to_le_bytes());
        digest.update(&data);
    }
    Ok(format!("{:x}", digest.finalize()))
}

fn main() -> io::Result<()> {
    // read when it runs, not baked in: cargo uses this program again for a copy of the tree elsewhere
    let here = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("cargo runs this"))?;
    let root = Path::new(&here).join("../..").canonicalize()?;
    for path in ["crates", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    println!("cargo::rustc-env=PILEUP_SOURCE_HASH={}", source_hash(&root)?);
    Ok(())
}
