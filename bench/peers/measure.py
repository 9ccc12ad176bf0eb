"""What is measured. Each column of one peer is one number per round; the table has the medians."""
import contextlib
import math
import os
import random
import time
from dataclasses import dataclass

from drivers import Driver, DriverFailed
from server import Monitor

USERS = 64
CLIENTS = 8  # among which the 64 contenders of one lock are divided
TTL = 2.0  # s, of the locks on the server that is frozen


@dataclass
class Plan:
    """How long each part takes, in s."""
    rounds: int = 3
    warm: float = 1  # of what the driver asks for
    pair: float = 1
    users: float = 1
    handoff_2: float = 3
    handoff_64: float = 2
    waiter: float = 2.5
    counted: int = 20  # pairs under MONITOR
    settle: float = 2.5  # long enough for everybody's first renewal
    frozen: float = 4 * TTL


QUICK = Plan(rounds=1, warm=0.1, pair=0.2, users=0.2, handoff_2=1, handoff_64=0.4, waiter=0.4,
             counted=5, frozen=1.6 * TTL)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))]


def percentiles(driver, name, found):
    """Nobody's number may be made of nothing."""
    if len(found) < 2:
        raise DriverFailed(driver.peer, f"{name}: {len(found)} samples only")
    return {f"{name}_p50_us": percentile(found, 0.5), f"{name}_p99_us": percentile(found, 0.99),
            f"{name}_samples": len(found)}


def move(pid, processors):
    """A process with all its threads; later ones inherit it."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(int(thread), processors)


@contextlib.contextmanager
def on_one_processor(*pids):
    """Two who answer each other in turn: else it is the scheduler's luck, where it puts them, that
    is measured. On a virtual machine a pair is 40 µs or 140 µs by that alone."""
    everywhere = os.sched_getaffinity(0)
    for pid in pids:
        move(pid, {min(everywhere)})
    try:
        yield
    finally:
        for pid in pids:
            move(pid, everywhere)


def commands_of_pair(driver, server, plan):
    """(sent, scripted) of one pair, by MONITOR."""
    monitor = Monitor(server)
    for _ in range(plan.counted):
        driver.ask("take counted")
        driver.ask("give counted")
    time.sleep(0.05)  # some peers tidy up after they have answered
    return tuple({name: count / plan.counted for name, count in each.items()}
                 for each in monitor.counts())


def uncontended(driver, server, plan):
    server.forget_commands()
    with on_one_processor(server.process.pid, driver.process.pid):
        found = driver.ask(f"pairs 1 {plan.pair}")
    cost = server.microseconds_per_call()
    sent, scripted = commands_of_pair(driver, server, plan)
    # A script's time has that of the commands that it calls in it.
    return percentiles(driver, "pair", found["us"]) | {
        "server_us": sum(cost[name] * times for name, times in sent.items()),
        "commands_sent": sum(sent.values()), "commands_in_scripts": sum(scripted.values()),
        "commands": {"sent": sent, "in_scripts": scripted}}


def many_users(driver, server, plan):
    before = server.processor_seconds()
    found = driver.ask(f"pairs {USERS} {plan.users}")
    spent = server.processor_seconds() - before
    if found["pairs"] < USERS:
        raise DriverFailed(driver.peer, f"{found['pairs']} pairs only")
    return {"users_pairs_per_s": found["pairs"] / found["seconds"],
            "users_server_us": spent / found["pairs"] * 1e6}


def handoffs(driver, server, plan):
    with on_one_processor(server.process.pid, driver.process.pid):
        two = driver.ask(f"handoff 2 2 {plan.handoff_2}")["us"]
    crowd = driver.ask(f"handoff {USERS} {CLIENTS} {plan.handoff_64}")["us"]
    return percentiles(driver, "handoff_2", two) | percentiles(driver, "handoff_64", crowd)


def waiting(driver, server, plan):
    """What one waiter on a held lock sends. Shorter than anybody's renewal of the 30 s hold."""
    driver.ask("take awaited")
    driver.ask("wait awaited")
    time.sleep(min(0.5, plan.waiter))  # until it stands in line
    monitor = Monitor(server)
    began = time.monotonic()
    time.sleep(plan.waiter)
    spent = time.monotonic() - began
    sent, _ = monitor.counts()
    driver.tell("give awaited")
    answers = [driver.next()[1], driver.next()[1]]
    if {"got": "awaited"} not in answers:
        raise DriverFailed(driver.peer, "the waiter did not get the lock")
    return {"waiter_requests_per_s": sum(sent.values()) / spent, "waiter_sends": dict(sent)}


def measure(peer, languages, server, folder, plan):
    """All columns but the frozen server, by one process."""
    driver = Driver(peer, languages, server.port, folder)
    try:
        warm = driver.hello["warm"] * plan.warm / 2
        driver.ask(f"pairs {USERS} {warm}")
        driver.ask(f"pairs 1 {warm}")
        found = uncontended(driver, server, plan) | many_users(driver, server, plan)
        found |= handoffs(driver, server, plan) | waiting(driver, server, plan)
        found["version"], found["runtime"] = driver.hello["version"], driver.hello["runtime"]
        driver.quit()
        return found
    finally:
        driver.kill()


def losses(drivers, server, plan):
    """{peer: (s from the last good renewal to the signal, how it was told)}; s is inf for never.

    A signal's moment is that of its line's arrival here.
    """
    ttl_ms = int(TTL * 1000)
    keys = [each.ask(f"watch frozen/{number} {ttl_ms}")["key"]
            for number, each in enumerate(drivers)]
    time.sleep(plan.settle + random.uniform(0, TTL / 3))
    left = server.left_ms(keys)
    frozen_at = time.monotonic()
    server.freeze()
    found = {}
    for each, rest in zip(drivers, left):
        if rest <= 0 or not each.lines.empty():
            raise DriverFailed(each.peer, "it lost its lock before the server was frozen")
    time.sleep(plan.frozen)
    for each, rest in zip(drivers, left):
        when, line = (None, None) if each.lines.empty() else each.next()
        renewed_at = frozen_at - (TTL - rest / 1000)
        found[each.peer.name] = (math.inf, "") if when is None else (when - renewed_at,
                                                                     line["lost"])
    return found


def freeze(peers, languages, server, folder, plan):
    """All peers at once hold a lock each, and renew it, while the server stops."""
    drivers = []
    try:
        for peer in peers:
            drivers.append(Driver(peer, languages, server.port, folder))
        return losses(drivers, server, plan)
    finally:
        server.thaw()
        for each in drivers:
            each.kill()
