//! What is stored: buckets with objects under keys, and uploads in parts. There are no folders.

use std::collections::BTreeMap;
use std::time::SystemTime;

use bytes::Bytes;

use super::no::No;
use super::sums::Sum;

/// An object; its content is never changed, only replaced.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) data: Bytes,
    pub(crate) modified: SystemTime,
    /// Entity tag with its quotes.
    pub(crate) tag: String,
    pub(crate) sum: Option<Sum>,
}

/// A part of an upload.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) data: Bytes,
    pub(crate) tag: String,
    pub(crate) sum: Option<Sum>,
}

/// An upload in parts that has not ended.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) bucket: String,
    pub(crate) key: String,
    /// The checksum that each part has, if it was asked for.
    pub(crate) sum: Option<&'static str>,
    pub(crate) parts: BTreeMap<u32, Part>,
}

/// Objects of a bucket by key.
pub(crate) type Bucket = BTreeMap<String, Object>;

/// All of it.
#[derive(Debug)]
pub(crate) struct Store {
    buckets: BTreeMap<String, Bucket>,
    pub(crate) uploads: BTreeMap<String, Upload>,
    capacity: u64,
    used: u64,
    /// Number of the last write or upload.
    last: u64,
}

impl Store {
    pub(crate) fn new(buckets: &[String], capacity: u64) -> Self {
        let buckets = buckets.iter().map(|name| (name.clone(), Bucket::new())).collect();
        Self { buckets, uploads: BTreeMap::new(), capacity, used: 0, last: 0 }
    }

    /// A number that nothing had before.
    pub(crate) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The objects of a bucket.
    pub(crate) fn bucket(&self, name: &str) -> Result<&Bucket, No> {
        self.buckets.get(name).ok_or_else(|| No::new(404, "NoSuchBucket"))
    }

    /// Make a bucket.
    pub(crate) fn make(&mut self, name: &str) -> Result<(), No> {
        if self.buckets.contains_key(name) {
            return Err(No::new(409, "BucketAlreadyOwnedByYou"));
        }
        self.buckets.insert(name.to_owned(), Bucket::new());
        Ok(())
    }

    /// Whether so many bytes more can be kept.
    pub(crate) fn has_room(&self, size: u64) -> Result<(), No> {
        if self.used.saturating_add(size) > self.capacity { Err(No::new(507, "InsufficientCapacity")) } else { Ok(()) }
    }

    /// Store an object. `new`: only where there is none.
    pub(crate) fn put(&mut self, bucket: &str, key: &str, object: Object, new: bool) -> Result<(), No> {
        self.has_room(object.data.len() as u64)?;
        let objects = self.buckets.get_mut(bucket).ok_or_else(|| No::new(404, "NoSuchBucket"))?;
        if new && objects.contains_key(key) {
            return Err(No::new(412, "PreconditionFailed"));
        }
        self.used += object.data.len() as u64;
        if let Some(before) = objects.insert(key.to_owned(), object) {
            self.used -= before.data.len() as u64;
        }
        Ok(())
    }

    /// Remove an object; that there is none is the same.
    pub(crate) fn remove(&mut self, bucket: &str, key: &str) -> Result<(), No> {
        let objects = self.buckets.get_mut(bucket).ok_or_else(|| No::new(404, "NoSuchBucket"))?;
        if let Some(before) = objects.remove(key) {
            self.used -= before.data.len() as u64;
        }
        Ok(())
    }

    /// The upload of this id, for this key.
    pub(crate) fn upload(&mut self, bucket: &str, key: &str, id: &str) -> Result<&mut Upload, No> {
        let found = self.uploads.get_mut(id).filter(|upload| upload.bucket == bucket && upload.key == key);
        found.ok_or_else(|| No::new(404, "NoSuchUpload"))
    }

    /// Keep a part of an upload.
    pub(crate) fn keep(&mut self, (bucket, key, id): (&str, &str, &str), number: u32, part: Part) -> Result<(), No> {
        self.has_room(part.data.len() as u64)?;
        let size = part.data.len() as u64;
        let before = self.upload(bucket, key, id)?.parts.insert(number, part);
        self.used += size;
        self.used -= before.map_or(0, |part| part.data.len() as u64);
        Ok(())
    }

    /// Forget an upload with all its parts.
    pub(crate) fn forget(&mut self, id: &str) {
        if let Some(upload) = self.uploads.remove(id) {
            self.used -= upload.parts.values().map(|part| part.data.len() as u64).sum::<u64>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(size: usize) -> Object {
        Object { data: Bytes::from(vec![7; size]), modified: SystemTime::now(), tag: "\"1\"".to_owned(), sum: None }
    }

    #[test]
    fn room_is_what_is_kept() {
        let mut store = Store::new(&["b".to_owned()], 100);
        store.put("b", "k", object(60), true).unwrap();
        assert_eq!(store.put("b", "k", object(10), true).unwrap_err().code, "PreconditionFailed");
        assert_eq!(store.put("b", "l", object(60), false).unwrap_err().code, "InsufficientCapacity");
        assert_eq!(store.put("c", "l", object(1), false).unwrap_err().code, "NoSuchBucket");
        store.put("b", "k", object(30), false).unwrap();
        let upload = Upload { bucket: "b".to_owned(), key: "u".to_owned(), sum: None, parts: BTreeMap::new() };
        store.uploads.insert("1".to_owned(), upload);
        let part = |size| Part { data: Bytes::from(vec![7; size]), tag: String::new(), sum: None };
        store.keep(("b", "u", "1"), 1, part(40)).unwrap();
        store.keep(("b", "u", "1"), 1, part(30)).unwrap();
        assert_eq!(store.used, 60);
        assert_eq!(store.keep(("b", "x", "1"), 1, part(1)).unwrap_err().code, "NoSuchUpload");
        store.forget("1");
        store.remove("b", "k").unwrap();
        store.remove("b", "k").unwrap();
        assert_eq!(store.used, 0);
    }
}
