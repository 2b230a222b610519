//! Files below a folder: the kernel resolves every path there (openat2), so that no link and no race leads out of it.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Folders kept open for whoever removes or makes something in them.
const KEPT: usize = 64;
/// How often a path is resolved again that changed while it was.
const TRIES: usize = 32;
/// `RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS` (linux/openat2.h).
const BENEATH: u64 = 0x08 | 0x02;
/// Whether the system has no openat2 (Linux before 5.6, some sandboxes): then no link is followed at all.
static WITHOUT: AtomicBool = AtomicBool::new(false);

/// `struct open_how` of openat2(2).
#[repr(C)]
struct How {
    flags: u64,
    mode: u64,
    resolve: u64,
}

/// A folder, with those below it that are in use; shared by the clients of one press.
pub(crate) struct Root {
    path: PathBuf,
    folders: Mutex<HashMap<PathBuf, Arc<OwnedFd>>>,
}

/// One client's way to what lies below.
pub(crate) struct Beneath {
    root: Arc<Root>,
    /// The root, once it was needed.
    top: Option<Arc<OwnedFd>>,
    /// The folder of the last change.
    last: Option<(PathBuf, Arc<OwnedFd>)>,
}

impl Root {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, folders: Mutex::default() }
    }

    /// A folder below, kept open; `fresh`: as it is now, not as it was. "" is the root itself.
    fn folder(&self, top: Option<&OwnedFd>, relative: &Path, fresh: bool) -> io::Result<Arc<OwnedFd>> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = folders.get(relative).filter(|_| !fresh) {
            return Ok(Arc::clone(known));
        }
        let flags = libc::O_PATH | libc::O_DIRECTORY;
        let opened = match top {
            Some(top) if !relative.as_os_str().is_empty() => open_at(top.as_raw_fd(), relative, flags)?,
            _ => openat(libc::AT_FDCWD, &text(self.path.as_os_str())?, flags)?,
        };
        if folders.len() >= KEPT {
            folders.clear();
        }
        let opened = Arc::new(opened);
        folders.insert(relative.to_owned(), Arc::clone(&opened));
        Ok(opened)
    }
}

impl Beneath {
    pub(crate) const fn new(root: Arc<Root>) -> Self {
        Self { root, top: None, last: None }
    }

    /// Open something with the flags of open(2).
    pub(crate) fn open(&mut self, relative: &Path, flags: i32) -> io::Result<File> {
        let top = self.top()?;
        open_at(top.as_raw_fd(), relative, flags).map(File::from)
    }

    /// Size of what is there: of a link what it leads to.
    pub(crate) fn size(&mut self, relative: &Path) -> io::Result<u64> {
        let found = self.within(relative, |folder, name| status(folder, name, libc::AT_SYMLINK_NOFOLLOW))?;
        let found = if found.st_mode & libc::S_IFMT == libc::S_IFLNK {
            let file = self.open(relative, libc::O_PATH)?;
            status(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH)?
        } else {
            found
        };
        Ok(u64::try_from(found.st_size).unwrap_or_default())
    }

    /// How many entries a folder has.
    pub(crate) fn count(&mut self, relative: &Path) -> io::Result<u64> {
        let here = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let folder = self.open(here, libc::O_RDONLY | libc::O_DIRECTORY)?;
        let number = folder.into_raw_fd();
        // SAFETY: the number is open, and the stream owns it from here on.
        let stream = unsafe { libc::fdopendir(number) };
        if stream.is_null() {
            let error = io::Error::last_os_error();
            // SAFETY: nobody has taken it.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
            return Err(error);
        }
        let counted = entries(stream);
        // SAFETY: the stream is open, and not used again.
        unsafe { libc::closedir(stream) };
        counted
    }

    /// Remove a file, a link (not what it leads to) or an empty folder.
    pub(crate) fn remove(&mut self, relative: &Path) -> io::Result<()> {
        self.within(relative, |folder, name| {
            let found = status(folder, name, libc::AT_SYMLINK_NOFOLLOW)?;
            let flags = if found.st_mode & libc::S_IFMT == libc::S_IFDIR { libc::AT_REMOVEDIR } else { 0 };
            // SAFETY: the folder is open and the name ends in a zero.
            done(unsafe { libc::unlinkat(folder, name.as_ptr(), flags) })
        })
    }

    /// Make a folder.
    pub(crate) fn make_folder(&mut self, relative: &Path) -> io::Result<()> {
        // SAFETY: as above.
        self.within(relative, |folder, name| done(unsafe { libc::mkdirat(folder, name.as_ptr(), 0o777) }))
    }

    /// Give something another name; `new`: one that nothing has.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path, new: bool) -> io::Result<()> {
        let target = self.folder_of(to, false)?;
        let to = name_of(to)?;
        let flags = if new { libc::RENAME_NOREPLACE } else { 0 };
        self.within(from, |folder, name| {
            let target = target.as_raw_fd();
            // SAFETY: the folders are open and the names end in a zero.
            let moved = done(unsafe { libc::renameat2(folder, name.as_ptr(), target, to.as_ptr(), flags) });
            match moved.as_ref().map_err(io::Error::raw_os_error) {
                // a file system without that flag (NFS): look, then rename
                Err(Some(libc::EINVAL | libc::ENOSYS)) if new => {
                    match status(target, &to, libc::AT_SYMLINK_NOFOLLOW) {
                        Ok(_) => Err(io::Error::from_raw_os_error(libc::EEXIST)),
                        // SAFETY: as above.
                        Err(_) => done(unsafe { libc::renameat(folder, name.as_ptr(), target, to.as_ptr()) }),
                    }
                }
                _ => moved,
            }
        })
    }

    fn top(&mut self) -> io::Result<Arc<OwnedFd>> {
        if let Some(top) = &self.top {
            return Ok(Arc::clone(top));
        }
        let top = self.root.folder(None, Path::new(""), false)?;
        self.top = Some(Arc::clone(&top));
        Ok(top)
    }

    /// Do something to a name in its folder. A folder kept open may have been removed, and made again, since.
    fn within<T>(&mut self, relative: &Path, act: impl Fn(RawFd, &CStr) -> io::Result<T>) -> io::Result<T> {
        let name = name_of(relative)?;
        let folder = self.folder_of(relative, false)?;
        match act(folder.as_raw_fd(), &name) {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                let again = self.folder_of(relative, true)?;
                act(again.as_raw_fd(), &name)
            }
            result => result,
        }
    }

    fn folder_of(&mut self, relative: &Path, fresh: bool) -> io::Result<Arc<OwnedFd>> {
        let above = relative.parent().unwrap_or(Path::new(""));
        if let Some((_, known)) = self.last.as_ref().filter(|(path, _)| !fresh && path == above) {
            return Ok(Arc::clone(known));
        }
        let top = self.top()?;
        let folder = self.root.folder(Some(&top), above, fresh)?;
        self.last = Some((above.to_owned(), Arc::clone(&folder)));
        Ok(folder)
    }
}

/// Open what lies below an open folder.
fn open_at(folder: RawFd, relative: &Path, flags: i32) -> io::Result<OwnedFd> {
    let path = text(relative.as_os_str())?;
    let flags = flags | libc::O_CLOEXEC;
    if !WITHOUT.load(Ordering::Relaxed) {
        let mode = if flags & libc::O_CREAT == 0 { 0 } else { 0o666 };
        let how = How { flags: u64::from(flags.cast_unsigned()), mode, resolve: BENEATH };
        for _ in 0..TRIES {
            // SAFETY: the path ends in a zero, and the structure is as long as it says.
            let opened =
                unsafe { libc::syscall(libc::SYS_openat2, folder, path.as_ptr(), &raw const how, size_of::<How>()) };
            if let Ok(number) = i32::try_from(opened)
                && number >= 0
            {
                // SAFETY: it was opened just now, and is nobody else's.
                return Ok(unsafe { OwnedFd::from_raw_fd(number) });
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR) => {}
                Some(libc::ENOSYS) => {
                    WITHOUT.store(true, Ordering::Relaxed);
                    break;
                }
                _ => return Err(error),
            }
        }
    }
    walk(folder, relative, flags)
}

/// The same where the system cannot: folder by folder, no link is followed.
fn walk(folder: RawFd, relative: &Path, flags: i32) -> io::Result<OwnedFd> {
    let mut names: Vec<&OsStr> = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(io::Error::from_raw_os_error(libc::EXDEV)),
        }
    }
    let last = names.pop().unwrap_or(OsStr::new("."));
    let mut above: Option<OwnedFd> = None;
    for name in names {
        let here = above.as_ref().map_or(folder, AsRawFd::as_raw_fd);
        above = Some(openat(here, &text(name)?, libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW)?);
    }
    let here = above.as_ref().map_or(folder, AsRawFd::as_raw_fd);
    openat(here, &text(last)?, flags | libc::O_NOFOLLOW)
}

fn openat(folder: RawFd, path: &CStr, flags: i32) -> io::Result<OwnedFd> {
    // SAFETY: the path ends in a zero.
    let number = unsafe { libc::openat(folder, path.as_ptr(), flags | libc::O_CLOEXEC, 0o666) };
    done(number)?;
    // SAFETY: it was opened just now, and is nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn status(folder: RawFd, name: &CStr, flags: i32) -> io::Result<libc::stat> {
    let mut found = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the name ends in a zero, and there is room for the answer, for which zeros are valid.
    unsafe {
        done(libc::fstatat(folder, name.as_ptr(), found.as_mut_ptr(), flags))?;
        Ok(found.assume_init())
    }
}

/// Count what a folder holds, but for itself and the one above.
fn entries(stream: *mut libc::DIR) -> io::Result<u64> {
    let mut count = 0;
    loop {
        // SAFETY: the stream is open; errno distinguishes an end from an error; a name ends in a zero.
        let name = unsafe {
            *libc::__errno_location() = 0;
            let entry = libc::readdir(stream);
            if entry.is_null() {
                break;
            }
            CStr::from_ptr((*entry).d_name.as_ptr())
        };
        count += u64::from(name != c"." && name != c"..");
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(0) { Ok(count) } else { Err(error) }
}

fn name_of(relative: &Path) -> io::Result<CString> {
    text(relative.file_name().unwrap_or(OsStr::new(".")))
}

fn text(path: &OsStr) -> io::Result<CString> {
    CString::new(path.as_bytes()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

fn done(code: i32) -> io::Result<()> {
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn data(name: &str) -> PathBuf {
        let base = std::env::temp_dir().join(format!("pileup-beneath-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        fs::create_dir_all(base.join("root/in")).unwrap();
        fs::create_dir_all(base.join("out")).unwrap();
        fs::write(base.join("out/theirs"), "theirs").unwrap();
        symlink(base.join("out"), base.join("root/way")).unwrap();
        symlink("../out/theirs", base.join("root/link")).unwrap();
        symlink("in", base.join("root/near")).unwrap();
        base
    }

    #[test]
    fn s9_no_link_leads_out() {
        let base = data("links");
        let write = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_NOFOLLOW;
        for without in [false, true] {
            WITHOUT.store(without, Ordering::Relaxed);
            let mut here = Beneath::new(Arc::new(Root::new(base.join("root"))));
            for path in ["way/theirs", "way/new", "link"] {
                assert!(here.open(Path::new(path), write).is_err(), "{path} is written");
                assert!(here.open(Path::new(path), libc::O_RDONLY).is_err(), "{path} is read");
            }
            assert!(here.remove(Path::new("way/theirs")).is_err() && here.make_folder(Path::new("way/d")).is_err());
            assert!(here.size(Path::new("way/theirs")).is_err() && here.count(Path::new("way")).is_err());
            assert!(here.rename(Path::new("way/theirs"), Path::new("in/x"), false).is_err());
            assert!(here.rename(Path::new("in"), Path::new("way/x"), false).is_err());
            if !without {
                here.open(Path::new("near/f"), write).unwrap();
                assert_eq!((here.count(Path::new("near")).unwrap(), here.size(Path::new("near/f")).unwrap()), (1, 0));
            }
        }
        WITHOUT.store(false, Ordering::Relaxed);
        assert_eq!(fs::read_to_string(base.join("out/theirs")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(base.join("out")).unwrap().count(), 1);
        fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn a_folder_that_is_made_again_is_found() {
        let base = data("again");
        let mut here = Beneath::new(Arc::new(Root::new(base.join("root"))));
        for _ in 0..3 {
            here.make_folder(Path::new("d")).unwrap();
            here.make_folder(Path::new("d/e")).unwrap();
            here.remove(Path::new("d/e")).unwrap();
            here.remove(Path::new("d")).unwrap();
        }
        assert_eq!(here.count(Path::new("")).unwrap(), 4);
        fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn s1_a_new_name_is_nobodys() {
        let base = data("new");
        let mut here = Beneath::new(Arc::new(Root::new(base.join("root"))));
        fs::write(base.join("root/a"), "a").unwrap();
        fs::write(base.join("root/b"), "b").unwrap();
        assert!(here.rename(Path::new("a"), Path::new("b"), true).is_err());
        assert_eq!(fs::read_to_string(base.join("root/b")).unwrap(), "b");
        here.rename(Path::new("a"), Path::new("c"), true).unwrap();
        fs::remove_dir_all(base).unwrap();
    }
}
