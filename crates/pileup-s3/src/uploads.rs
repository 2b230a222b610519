//! Uploads in parts that were begun and not ended: ListMultipartUploads (Amazon S3 API Reference).

use pileup_http1::xml::{Open, Wrong};

use crate::document::Collect;

/// An upload that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Upload {
    /// Key of the object that it would make.
    pub(crate) key: String,
    /// What it is called.
    pub(crate) id: String,
}

/// A page of them.
#[derive(Default)]
pub(crate) struct Uploads {
    /// Those of this page.
    pub(crate) found: Vec<Upload>,
    entry: Upload,
}

impl Collect for Uploads {
    const ROOT: &'static str = "ListMultipartUploadsResult";

    fn leaf(&mut self, open: &Open<'_>, text: &str) -> Result<(), Wrong> {
        match (open.depth(), open.name(1), open.last()) {
            (3, b"Upload", b"Key") => text.clone_into(&mut self.entry.key),
            (3, b"Upload", b"UploadId") => text.clone_into(&mut self.entry.id),
            _ => {}
        }
        Ok(())
    }

    fn item(&mut self, name: &[u8]) -> Result<(), Wrong> {
        if name != b"Upload" {
            return Ok(());
        }
        let upload = std::mem::take(&mut self.entry);
        if upload.key.is_empty() || upload.id.is_empty() {
            return Err("an upload has no key, or no id");
        }
        self.found.push(upload);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Instead, read};

    #[test]
    fn uploads_are_found() {
        let text = "<ListMultipartUploadsResult><Bucket>b</Bucket><KeyMarker/><IsTruncated>false</IsTruncated>\
            <Upload><Key>a/b</Key><UploadId>1</UploadId><Initiator><ID>x</ID></Initiator></Upload>\
            <Upload><Key>a/c</Key><UploadId>2</UploadId></Upload></ListMultipartUploadsResult>";
        let upload = |key: &str, id: &str| Upload { key: key.to_owned(), id: id.to_owned() };
        for step in [1, 9, 1000] {
            let found = read(Uploads::default(), text, step).ok().unwrap().found;
            assert_eq!(found, [upload("a/b", "1"), upload("a/c", "2")]);
        }
        let text = "<ListMultipartUploadsResult><Upload><Key>a</Key></Upload></ListMultipartUploadsResult>";
        assert_eq!(read(Uploads::default(), text, 9).err(), Some(Instead::Wrong("an upload has no key, or no id")));
    }
}
