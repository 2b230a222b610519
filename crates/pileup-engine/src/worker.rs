//! Native workers: shared-nothing threads, each with a loop, a pacer, a shard of the load, and a task for each of its clients.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use pileup_pacer::{Pacer, Pacing, clock, tighten_timers};
use pileup_schedule::Load;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::{Instant, timeout, timeout_at};

use crate::checked::Checked;
use crate::client::Factory;
use crate::early::early_clients;
use crate::ending::{Ending, EndingKind};
use crate::gate::Gate;
use crate::iteration::{Hand, Iteration, Prepared};
use crate::near::Near;
use crate::press::Press;
use crate::program::Program;
use crate::refusal::PressError;
use crate::shard::Shard;
use crate::start::{Ended, Pull, Start};

thread_local! {
    static PACER: RefCell<Option<Pacer>> = const { RefCell::new(None) };
}

/// The pacer of this worker; none on other threads.
#[must_use]
pub fn pacer() -> Option<Pacer> {
    PACER.with(|pacer| pacer.borrow().clone())
}

/// Longest time that opening connections may delay a load.
const OPENING: Duration = Duration::from_secs(10);
/// Clients that are opened side by side.
const ABREAST: usize = 64;
/// How long the clients of a worker may take to disconnect.
const CLOSING: Duration = Duration::from_millis(200);
/// Iterations that a client may do without waiting for the system before others of its worker get a turn.
const TURNS: u32 = 8;
/// How often a worker that waits looks whether the load was stopped.
const LOOK: i64 = 50_000_000;
/// Where the next start is due sooner than this after a worker woke up, ns, it waits as long, and what is due by then begins together: waking up
/// for each start would cost more than the starts.
const GATHER: i64 = 10_000;
/// More clients than this on a worker are a crowd: their memory does not stay in the caches of a core.
const CROWD: u32 = 256;

/// Begin; returns at once.
pub fn start<F: Factory>(press: &Arc<Press>, factory: F, program: Program) -> Result<(), PressError> {
    let load = press.load();
    let workers = load.used_workers();
    let gate = Arc::new(Gate::new(workers));
    let factory = Arc::new(factory);
    press.workers_begin(workers);
    for worker in 0..workers {
        let (own, factory, ready, program) =
            (Arc::clone(press), Arc::clone(&factory), Arc::clone(&gate), program.clone());
        let part = load.part(worker, workers);
        let run = move || {
            if let Err(error) = thread(&own, part, factory, program, &ready) {
                ready.leave(1);
                let why = format!("internal: a worker cannot begin: {error}");
                own.stop_for(&Ending::new(EndingKind::Engine, why), true);
            }
            own.worker_ended();
        };
        if let Err(problem) = std::thread::Builder::new().name(format!("worker {worker}")).spawn(run) {
            let error = PressError::Thread { problem, expected: format!("room for {workers} (use fewer workers)") };
            press.stop_for(&Ending::new(EndingKind::Engine, error.to_string()), true);
            gate.leave(workers - worker);
            (worker..workers).for_each(|_| press.worker_ended());
            return Err(error);
        }
    }
    Ok(())
}

fn thread<F: Factory>(
    press: &Press,
    part: Load,
    factory: Arc<F>,
    program: Program,
    gate: &Gate,
) -> std::io::Result<()> {
    tighten_timers();
    let runtime = Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())?;
    runtime.block_on(async {
        let pacer = Pacer::new(press.pacing())?;
        PACER.with(|own| *own.borrow_mut() = Some(pacer.clone()));
        serve(press, part, factory, program, gate, pacer).await;
        PACER.with(|own| own.borrow_mut().take());
        Ok(())
    })
}

async fn serve<F: Factory>(press: &Press, part: Load, factory: Arc<F>, program: Program, gate: &Gate, pacer: Pacer) {
    let mut opened = open_all(factory.as_ref(), &part, press).await;
    gate.arrive();
    let shard = Arc::new(Shard::new(Arc::new(part), Arc::clone(press.recorder()), press.begin()));
    press.adopt(&shard);
    shard.set_reconnect_pause(factory.reconnect_pause());
    let prepared = Prepared::new(program, &shard);
    opened.reverse();
    let worker = Rc::new(Worker { shard, prepared, factory, hall: RefCell::new(Hall { opened, ..Hall::default() }) });
    loop {
        let woke = clock::now();
        let look = woke + LOOK;
        let pull = worker.hand_out();
        if pull == Pull::Done
            && let Some(ending) = worker.shard.failing()
        {
            press.stop_for(&ending, false); // the other workers too
        }
        match pull {
            Pull::Done if worker.shard.over() => break,
            Pull::Wait(until) => worker.rest(&pacer, until.min(look), woke).await,
            _ => worker.rest(&pacer, look, woke).await,
        }
    }
    worker.dismiss().await;
}

/// Open clients side by side; one that cannot be opened shows at its first operation, where it is counted.
async fn open_all<F: Factory>(factory: &F, part: &Load, press: &Press) -> Vec<Checked<F::Client>> {
    let end = Instant::now() + OPENING.min(Duration::from_nanos(part.timeout));
    let abreast = Rc::new(Semaphore::new(ABREAST));
    let open = |number: u64| {
        let mut client = Checked::new(factory.make(u32::try_from(number).unwrap_or(u32::MAX)));
        let abreast = Rc::clone(&abreast);
        spawn_local(async move {
            let _place = abreast.acquire().await;
            let _ = timeout_at(end, client.open()).await;
            client
        })
    };
    let tasks: Vec<_> = early_clients(part).into_iter().map(open).collect();
    let mut opened = Vec::new();
    for mut task in tasks {
        let mut done = None;
        while done.is_none() && (task.is_finished() || !press.is_stopped()) {
            done = timeout(Duration::from_nanos(LOOK.unsigned_abs()), &mut task).await.ok();
        }
        if done.is_none() {
            task.abort();
        }
        opened.extend(done.and_then(Result::ok));
    }
    opened
}

/// Where clients wait for their starts.
struct Hall<C> {
    /// Connected, not yet wanted; the next is the last.
    opened: Vec<Checked<C>>,
    seats: Vec<Seat>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    /// Wakes the worker itself.
    worker: Option<Waker>,
    /// Until when it sleeps.
    resting: i64,
    /// What the worker waits for has changed.
    changed: bool,
    /// Waiting clients should end.
    closing: bool,
}

impl<C> Default for Hall<C> {
    fn default() -> Self {
        Self {
            opened: Vec::new(),
            seats: Vec::new(),
            tasks: Vec::new(),
            worker: None,
            resting: 0,
            changed: false,
            closing: false,
        }
    }
}

#[derive(Default)]
struct Seat {
    given: Option<Start>,
    waker: Option<Waker>,
}

struct Worker<F: Factory> {
    shard: Arc<Shard>,
    prepared: Prepared,
    factory: Arc<F>,
    hall: RefCell<Hall<F::Client>>,
}

impl<F: Factory> Worker<F> {
    fn seat(&self, client: u32) -> usize {
        usize::try_from(u64::from(client) / self.shard.load().shards).unwrap_or(0)
    }

    /// Give everything that is due to its client.
    fn hand_out(self: &Rc<Self>) -> Pull {
        loop {
            match self.shard.pull() {
                Pull::Start(start) => self.give(start),
                other => return other,
            }
        }
    }

    /// The same for a client whose iteration has just ended: its own start comes back at once, in its hand.
    fn hand_out_but(self: &Rc<Self>, client: u32, ended: Option<(&Start, &Ended)>) -> Option<Start> {
        match self.shard.pull_for(client, ended, |start| self.give(start)) {
            Ok(start) => return Some(start),
            Err(Pull::Wait(until)) => self.wake_worker(until),
            Err(Pull::Done) => self.wake_worker(0),
            Err(_) => {}
        }
        None
    }

    fn give(self: &Rc<Self>, start: Start) {
        let place = self.seat(start.client);
        let mut hall = self.hall.borrow_mut();
        if hall.seats.len() <= place {
            hall.seats.resize_with(place + 1, Seat::default);
        }
        if start.new {
            let client = hall.opened.pop();
            let crowd = self.shard.load().most_clients().is_some_and(|clients| clients > CROWD);
            let task = spawn_local(Near::new(Self::client(Rc::clone(self), client, start), crowd));
            hall.tasks.push(task);
            return;
        }
        hall.seats[place].given = Some(start);
        if let Some(waker) = hall.seats[place].waker.take() {
            drop(hall);
            waker.wake();
        }
    }

    /// Make sure that the worker is awake at that time.
    fn wake_worker(&self, until: i64) {
        let mut hall = self.hall.borrow_mut();
        if until >= hall.resting {
            return;
        }
        hall.changed = true;
        if let Some(waker) = hall.worker.take() {
            drop(hall);
            waker.wake();
        }
    }

    /// Sleep until that time, or until a client has changed what comes next.
    async fn rest(&self, pacer: &Pacer, until: i64, woke: i64) {
        self.hall.borrow_mut().resting = until;
        let until = if pacer.pacing() == Pacing::Normal { until.max(woke + GATHER) } else { until };
        let changed = std::future::poll_fn(|context| {
            let mut hall = self.hall.borrow_mut();
            if std::mem::take(&mut hall.changed) {
                return Poll::Ready(());
            }
            hall.worker = Some(context.waker().clone());
            Poll::Pending
        });
        tokio::select! {
            () = pacer.sleep_until(until) => {}
            () = changed => {}
        }
    }

    /// The life of one client, which may be open. A block and not an `async fn`, which would keep what it is given twice.
    fn client(self: Rc<Self>, opened: Option<Checked<F::Client>>, first: Start) -> impl Future<Output = ()> {
        let is_open = opened.is_some();
        let mut client = opened.unwrap_or_else(|| Checked::new(self.factory.make(first.client)));
        async move {
            if !is_open {
                let _ = timeout(self.prepared.timeout(), Box::pin(client.open())).await;
            }
            let (mut start, mut turns) = (self.shard.picked(first), 0);
            let (mut hand, number) = (Hand::new(self.shard.progress(start.client)), start.client);
            loop {
                let next = {
                    let (done, ended) =
                        Iteration::new(&self.shard, &self.prepared, start, &mut hand).run(&mut client, true).await;
                    turns = if hand.has_waited() { 0 } else { turns + 1 };
                    if turns == TURNS {
                        self.shard.finish(&done, &ended);
                        None
                    } else {
                        Some(self.hand_out_but(number, Some((&done, &ended))))
                    }
                };
                let next = match next {
                    Some(next) => next,
                    None => {
                        turns = 0;
                        tokio::task::yield_now().await;
                        self.hand_out_but(number, None)
                    }
                };
                start = match next {
                    Some(start) => start,
                    None => match self.wait(number).await {
                        Some(start) => self.shard.picked(start),
                        None => break,
                    },
                };
            }
            client.close().await;
        }
    }

    /// Wait for this client's next start; none when there will be none.
    async fn wait(&self, client: u32) -> Option<Start> {
        let place = self.seat(client);
        std::future::poll_fn(|context| {
            let mut hall = self.hall.borrow_mut();
            let closing = hall.closing;
            let seat = &mut hall.seats[place];
            if closing {
                return Poll::Ready(None); // what was given and not begun was given up
            }
            if seat.given.is_some() {
                return Poll::Ready(seat.given.take());
            }
            seat.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// End all clients; one that still acts, although its iteration was given up, is dropped.
    async fn dismiss(&self) {
        let (mut tasks, opened) = self.close_hall();
        tasks.extend(opened.into_iter().map(|mut client| spawn_local(async move { client.close().await })));
        let end = Instant::now() + CLOSING;
        for mut task in tasks {
            if timeout_at(end, &mut task).await.is_err() {
                task.abort();
            }
        }
    }

    /// Wake everybody who waits, for the last time; returns the tasks, and the clients that nobody has wanted.
    fn close_hall(&self) -> (Vec<tokio::task::JoinHandle<()>>, Vec<Checked<F::Client>>) {
        let mut hall = self.hall.borrow_mut();
        hall.closing = true;
        let wakers: Vec<Waker> = hall.seats.iter_mut().filter_map(|seat| seat.waker.take()).collect();
        let left = (std::mem::take(&mut hall.tasks), std::mem::take(&mut hall.opened));
        drop(hall);
        wakers.into_iter().for_each(Waker::wake);
        left
    }
}
