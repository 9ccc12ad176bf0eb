#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Measures what a failover by Sentinels costs the users of a lock library.

Run by ./dev bench switch; docs/guide/performance.md explains the columns.
"""
import argparse
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from drivers import PEERS, Driver, DriverFailed, Languages
from sentinels import Group, wait_for

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("planned", "crash")
MEASURED = ("Pawl", "Redisson RLock", "rueidislock")
TTL_MS = 10_000
LIMIT = 1.5 * TTL_MS / 1000  # s after the announcement


class Observed:
    """What one peer's program sees after the announcement, in s; None: nothing within LIMIT."""

    def __init__(self, peer, languages, group, folder, number):
        self.group = group
        self.number = number
        self.driver = Driver(peer, languages, group.place(), folder)
        self.key = self.driver.execute(f"watch held/{number} {TTL_MS}")["key"]
        self.driver.execute(f"take warm/{number}")
        self.first_hold = self.loss = None
        self.failure = ""

    def follow(self, announced):
        try:
            self._acquire(announced)
            while self.loss is None and time.monotonic() < announced + LIMIT:
                self._read(announced, 0.1)
        except DriverFailed as problem:
            self.failure = str(problem)

    def _read(self, announced, timeout):
        """True for the reply to a command."""
        when, line = self.driver.next(timeout)
        if line is None or "lost" not in line:
            return line is not None
        self.loss = when - announced
        return False

    def _acquire(self, announced):
        """Until a lock is held at the new master: the old one may still grant some."""
        count = 0
        while self.first_hold is None and time.monotonic() < announced + LIMIT:
            count += 1
            name = f"probe/{self.number}/{count}"
            self.driver.send(f"take {name}")
            while not self._read(announced, LIMIT):
                if time.monotonic() > announced + LIMIT:
                    return
            acquired = time.monotonic()
            if self.group.replica.call("EXISTS", self.key.replace(f"held/{self.number}", name)):
                self.first_hold = acquired - announced


def measure(peers, languages, kind, folder):
    """One switch, with all peers at the same master. The promoted replica lacks each peer's lock,
    as if it had been promoted before the lock was replicated."""
    group = Group(folder)
    observed = []
    try:
        for number, peer in enumerate(peers):
            observed.append(Observed(peer, languages, group, folder, number))
        keys = [each.key for each in observed]
        wait_for(lambda: group.replica.call("EXISTS", *keys) == len(keys), "the replication")
        group.replica.call("DEL", *keys)
        announced = group.switch(kind)
        threads = [threading.Thread(target=each.follow, args=(announced,)) for each in observed]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return observed
    finally:
        for each in observed:
            each.driver.kill()
        group.stop()


def cell(values):
    """The median, and the range; "none" stands for nothing within LIMIT."""
    known = sorted(value for value in values if value is not None)
    if len(known) < len(values):
        return "none" if not known else f"none in {len(values) - len(known)} of {len(values)}"
    text = [f"{value * 1000:.0f}" for value in (statistics.median(known), known[0], known[-1])]
    return f"{text[0]} ms ({text[1]} – {text[2]})"


def main():
    parser = argparse.ArgumentParser(prog="./dev bench switch", description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER",
                        help="build folder of the drivers")
    options = parser.parse_args()
    languages = Languages(options.build.resolve())
    peers = []
    for peer in PEERS:
        if peer.name in MEASURED:
            why = languages.missing_reason(peer.language)
            if why:
                print(f"{peer.name} is left out: {why}", file=sys.stderr)
            else:
                peers.append(peer)
    results = {(peer.name, kind): [] for peer in peers for kind in KINDS}
    for repetition in range(options.repetitions):
        for kind in KINDS:
            with tempfile.TemporaryDirectory() as folder:
                for each in measure(peers, languages, kind, Path(folder)):
                    if each.failure:
                        sys.exit(f"{each.driver.peer.name}: {each.failure}")
                    results[each.driver.peer.name, kind].append(each)
        print(f"  {repetition + 1} of {options.repetitions}", file=sys.stderr, flush=True)
    print(f"Median and range of {options.repetitions} switches, from the first announcement; "
          f"none: not within {LIMIT:.0f} s\n")
    print("| library | switch | first new hold | signal of the loss |\n|--|--|--|--|")
    for (name, kind), seen in results.items():
        print(f"| {name} | {kind} | {cell([each.first_hold for each in seen])} "
              f"| {cell([each.loss for each in seen])} |")


if __name__ == "__main__":
    main()
