//! A connection on its way: accepted, charged for the round trip of its connect, connected to the target, passed on both ways, ended.

use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pileup_pacer::clock::now;
use socket2::SockRef;
use tokio::net::TcpStream;

use crate::counts::up;
use crate::flow::{Ended, Flow};
use crate::local::Local;
use crate::path::{DOWN, Fate, UP};
use crate::trace::Note;
use crate::wire;

/// Counts a connection as open while it lives.
struct Open(Rc<Local>);

impl Open {
    fn new(here: Rc<Local>) -> Self {
        up(&here.shared.counts.connections);
        up(&here.shared.counts.open);
        Self(here)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.shared.counts.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Carry a connection that was accepted at `accepted` (ns) to its end.
pub(crate) async fn carry(here: Rc<Local>, client: TcpStream, number: u64, accepted: i64) {
    let _open = Open::new(Rc::clone(&here));
    let path = here.shared.path();
    let sent = accepted + path.round_trip();
    let note = Note::open(&here.shared.book, number, accepted, sent);
    if client.set_nodelay(true).is_err() {
        return;
    }
    let asked = Rc::default();
    let flow = |way| Flow::new(Rc::clone(&here), note.clone(), way, (number, sent), Rc::clone(&asked));
    let (ascent, descent) = (flow(UP), flow(DOWN));
    let reach = reach(&here, number, sent + path.draw(UP, here.shared.seed, number, u64::MAX));
    // What the client sends meanwhile is taken in with the time at which it came.
    let server = tokio::select! {
        biased;
        server = reach => server,
        never = ascent.gather(&client) => match never {},
    };
    let Some((server, asked)) = server else {
        up(&here.shared.counts.refused);
        note.with(|of| of.refused = true);
        reset(&client);
        return;
    };
    note.with(|of| (of.asked, of.reached) = (asked, now()));
    let fate = path.fate(here.shared.seed, number);
    let mark = (fate != Fate::Whole).then_some(path.after);
    let ended = tokio::try_join!(ascent.run(&client, &server, None), descent.run(&server, &client, mark));
    note.with(|of| of.closed = now());
    match ended {
        Ok(_) => {}
        Err(Ended::Broken) => {
            reset(&client);
            reset(&server);
        }
        Err(Ended::Mark) if fate == Fate::Reset => {
            up(&here.shared.counts.resets);
            reset(&client);
            reset(&server);
        }
        Err(Ended::Mark) => {
            up(&here.shared.counts.half_open);
            descent.swallow(&client).await;
            reset(&server);
        }
    }
}

/// A connection to the target that begins at `when`, and when it began; none when the target takes none.
async fn reach(here: &Local, number: u64, when: i64) -> Option<(TcpStream, i64)> {
    here.pacer.sleep_until(when).await;
    let to = &here.shared.to;
    let first = usize::try_from(number).unwrap_or(0);
    for turn in 0..to.len() {
        let asked = now();
        if let Ok(stream) = TcpStream::connect(to[(first + turn) % to.len()]).await {
            wire::note_times(&stream);
            return stream.set_nodelay(true).is_ok().then_some((stream, asked));
        }
    }
    None
}

/// End a connection with a reset when it is dropped.
fn reset(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
