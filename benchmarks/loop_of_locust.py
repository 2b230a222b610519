"""The same idle task under locust: it fires the event that records a request. For locust's Python; prints JSON."""

from __future__ import annotations

import json
import resource
import sys

import gevent
from locust import User, constant, task
from locust.env import Environment


class Idle(User):
    """Does nothing and reports it, as a locust user of another protocol does."""

    wait_time = constant(0)
    done = 0

    @task
    def nothing(self) -> None:
        """Report a request of no length."""
        Idle.done += 1
        self.environment.events.request.fire(
            request_type="X", name="nothing", response_time=0, response_length=0, exception=None, context={}
        )


def cpu() -> float:
    """Return user and system time of this process, seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Warm up, measure for so many seconds, and print."""
    environment = Environment(user_classes=[Idle])
    runner = environment.create_local_runner()
    runner.start(1, spawn_rate=1)
    gevent.sleep(1.0)
    begin, count = cpu(), Idle.done
    gevent.sleep(float(sys.argv[1]))
    used, done = cpu() - begin, Idle.done - count
    runner.quit()
    print(json.dumps({"us": used / done * 1e6, "count": done}))


if __name__ == "__main__":
    main()
