# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The measurements. Each column of one peer is one number per round; the table has the medians."""
import contextlib
import math
import os
import random
import time
from dataclasses import dataclass

from drivers import Driver, DriverFailed, PeerTooSlow
from server import Monitor

USERS = 64
CLIENTS = 8  # the 64 contenders of one lock are divided among them
LONGEST = 30  # s, of one command to a driver, which must answer within drivers.TIMEOUT
TTL = 2.0  # s, for the locks on the frozen server


@dataclass
class Plan:
    """The length of each part, in s."""
    rounds: int = 3
    warm: float = 1  # times the driver's own warm-up
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


def execute(driver, server, command, seconds, is_enough=lambda result: len(result["us"]) >= 2):
    """The result of COMMAND SECONDS. A slow peer on a busy machine gets more of them."""
    while True:
        before = server.processor_seconds()
        result = driver.execute(f"{command} {seconds}")
        if is_enough(result):
            return result | {"server_seconds": server.processor_seconds() - before}
        if seconds * 4 > LONGEST:
            raise PeerTooSlow(driver.peer, f"too few results of `{command} {seconds}`")
        seconds *= 4


def percentiles(name, values):
    return {f"{name}_p50_us": percentile(values, 0.5), f"{name}_p99_us": percentile(values, 0.99),
            f"{name}_samples": len(values)}


def set_affinity(pid, processors):
    """Sets the affinity of a process with all its threads; later threads inherit it."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(int(thread), processors)


@contextlib.contextmanager
def on_one_processor(*pids):
    """For two processes that work in turn. Otherwise the result depends on the scheduler's
    placement: on a virtual machine a pair takes 40 µs or 140 µs by that alone."""
    all_processors = os.sched_getaffinity(0)
    for pid in pids:
        set_affinity(pid, {min(all_processors)})
    try:
        yield
    finally:
        for pid in pids:
            set_affinity(pid, all_processors)


def commands_of_pair(driver, server, plan):
    """(sent, scripted) of one pair, by MONITOR."""
    monitor = Monitor(server)
    for _ in range(plan.counted):
        driver.execute("take counted")
        driver.execute("give counted")
    time.sleep(0.05)  # some peers clean up after their reply
    return tuple({name: count / plan.counted for name, count in each.items()}
                 for each in monitor.counts())


def uncontended(driver, server, plan):
    server.reset_statistics()
    with on_one_processor(server.process.pid, driver.process.pid):
        result = execute(driver, server, "pairs 1", plan.pair)
    cost = server.microseconds_per_call()
    sent, scripted = commands_of_pair(driver, server, plan)
    # The time of a script includes the time of the commands that it calls.
    return percentiles("pair", result["us"]) | {
        "server_us": sum(cost[name] * times for name, times in sent.items()),
        "commands_sent": sum(sent.values()), "commands_in_scripts": sum(scripted.values()),
        "commands": {"sent": sent, "in_scripts": scripted}}


def many_users(driver, server, plan):
    result = execute(driver, server, f"pairs {USERS}", plan.users,
                     lambda result: result["pairs"] >= USERS)
    return {"users_pairs_per_s": result["pairs"] / result["seconds"],
            "users_server_us": result["server_seconds"] / result["pairs"] * 1e6}


def handoffs(driver, server, plan):
    with on_one_processor(server.process.pid, driver.process.pid):
        of_two = execute(driver, server, "handoff 2 2", plan.handoff_2)
    of_many = execute(driver, server, f"handoff {USERS} {CLIENTS}", plan.handoff_64)
    return percentiles("handoff_2", of_two["us"]) | percentiles("handoff_64", of_many["us"])


def waiting(driver, server, plan):
    """The requests of one waiter on a held lock, in less time than any renewal interval."""
    driver.execute("take awaited")
    driver.execute("wait awaited")
    time.sleep(min(0.5, plan.waiter))  # until it is in the queue
    monitor = Monitor(server)
    began = time.monotonic()
    time.sleep(plan.waiter)
    spent = time.monotonic() - began
    sent, _ = monitor.counts()
    driver.send("give awaited")
    replies = [driver.next()[1], driver.next()[1]]
    if {"got": "awaited"} not in replies:
        raise DriverFailed(driver.peer, "the waiter did not get the lock")
    return {"waiter_requests_per_s": sum(sent.values()) / spent, "waiter_sends": dict(sent)}


def measure(peer, languages, server, folder, plan):
    """All columns except the frozen server, in one process."""
    driver = Driver(peer, languages, server.port, folder)
    try:
        warm = driver.hello["warm"] * plan.warm / 2
        driver.execute(f"pairs {USERS} {warm}")
        driver.execute(f"pairs 1 {warm}")
        result = uncontended(driver, server, plan) | many_users(driver, server, plan)
        result |= handoffs(driver, server, plan) | waiting(driver, server, plan)
        result["version"], result["runtime"] = driver.hello["version"], driver.hello["runtime"]
        driver.quit()
        return result
    finally:
        driver.kill()


def losses(drivers, server, plan):
    """{peer: (s from the last good renewal to the signal, kind of signal)}; s is inf for never.

    The time of a signal is the receipt of its line.
    """
    ttl_ms = int(TTL * 1000)
    keys = [each.execute(f"watch frozen/{number} {ttl_ms}")["key"]
            for number, each in enumerate(drivers)]
    time.sleep(plan.settle + random.uniform(0, TTL / 3))
    remaining = server.remaining_ms(keys)
    frozen_at = time.monotonic()
    server.freeze()
    signals = {}
    for each, rest in zip(drivers, remaining):
        if rest <= 0 or not each.lines.empty():
            raise PeerTooSlow(each.peer, "it lost its lock before the server was frozen")
    time.sleep(plan.frozen)
    for each, rest in zip(drivers, remaining):
        when, line = (None, None) if each.lines.empty() else each.next()
        renewed_at = frozen_at - (TTL - rest / 1000)
        signals[each.peer.name] = (
            (math.inf, "") if when is None else (when - renewed_at, line["lost"]))
    return signals


def freeze(peers, languages, server, folder, plan):
    """Each peer holds and renews a lock while the server stops."""
    drivers = []
    try:
        for peer in peers:
            drivers.append(Driver(peer, languages, server.port, folder))
        return losses(drivers, server, plan)
    finally:
        server.thaw()
        for each in drivers:
            each.kill()
