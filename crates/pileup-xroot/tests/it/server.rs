//! XRootD itself, started for one test on a port of 127.0.0.1.

use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// A server, ended with its folder when it is dropped.
pub struct Xrootd {
    process: Child,
    pub folder: PathBuf,
    pub port: u16,
}

/// Start one, or say why there is none: in continuous integration that is a failure.
pub fn xrootd(name: &str, more: &str) -> Option<Xrootd> {
    if Command::new("xrootd").arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        assert!(std::env::var_os("CI").is_none(), "xrootd is not installed; expected it by tools/system.sh");
        eprintln!("skipped: xrootd is not installed (tools/system.sh installs it)");
        return None;
    }
    Some(Xrootd::start(name, more))
}

impl Xrootd {
    fn start(name: &str, more: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("pileup-xroot-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for part in ["a/adm", "a/run", "store/data", "cert"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        let at = folder.display();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        certificates(&folder.join("cert"));
        let config = format!(
            "all.export /data\nall.adminpath {at}/a/adm\nall.pidpath {at}/a/run\noss.localroot {at}/store\n\
             xrd.network nodnr norpipa\nxrootd.chksum max 4 adler32\n\
             xrd.tls {at}/cert/host.pem {at}/cert/key.pem\nxrd.tlsca certfile {at}/cert/ca.pem\n{more}\n"
        );
        std::fs::write(folder.join("x.cfg"), config).unwrap();
        let root = unsafe { libc::geteuid() } == 0;
        if root {
            give_away(&folder);
        }
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let number = port.to_string();
        let mut command = Command::new("sh");
        command.args(["-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec \"$@\"", "sh", "xrootd", "-I", "v4", "-p", &number]);
        command.args(["-c", "x.cfg", "-n", "t"]).args(if root { &["-R", "xrootd"][..] } else { &[] });
        command.current_dir(&folder).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let socket = listener.as_raw_fd();
        // SAFETY: dup2 and fcntl may be called between fork and exec; fcntl for a socket that is 3 already.
        unsafe {
            command.pre_exec(move || {
                let done = libc::dup2(socket, 3) == 3 && libc::fcntl(3, libc::F_SETFD, 0) == 0;
                if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
            });
        }
        let mut server = Self { process: command.spawn().unwrap(), folder, port };
        server.wait();
        server
    }

    /// Until it says that it is ready.
    fn wait(&mut self) {
        let end = Instant::now() + Duration::from_secs(20);
        while !self.log().contains("initialization completed.") {
            let gone = self.process.try_wait().unwrap();
            assert!(gone.is_none() && Instant::now() < end, "xrootd did not start:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(TcpStream::connect(("127.0.0.1", self.port)).unwrap());
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    pub fn url(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}//data", self.port)
    }

    /// Where its files are.
    pub fn data(&self, name: &str) -> PathBuf {
        self.folder.join("store/data").join(name)
    }
}

impl Drop for Xrootd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A CA, and a certificate of it for 127.0.0.1.
fn certificates(folder: &Path) {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, "pileup test");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let host = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &ca).unwrap();
    std::fs::write(folder.join("ca.pem"), ca.pem()).unwrap();
    std::fs::write(folder.join("host.pem"), host.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.join("key.pem"), std::fs::Permissions::from_mode(0o400)).unwrap();
}

/// As root the server runs as a user of its own, whose all this must be.
fn give_away(folder: &Path) {
    let done = Command::new("chown").args(["-R", "xrootd:xrootd"]).arg(folder).status().unwrap();
    assert!(done.success(), "chown to user xrootd; expected that user, which the package makes");
}
