#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Measures Redlock over five servers: pairs while servers are killed and frozen, hand-offs, and the
renewal of many holds, beside other libraries that implement Redlock.

Run by ./dev bench redlock; docs/guide/performance.md explains the columns.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from drivers import PEERS_OF_REDLOCK, Driver, DriverFailed, Languages
from independent import MAJORITY, NODES, Independent
from measure import CLIENTS, USERS, percentile
from redlock_report import STATES, Page, machine_info, name_of
from server import die_with_parent
from topologies import Bench, Single, info

ROOT = Path(__file__).resolve().parents[2]
HOLDS = 10_000
# ms, of the round trip to each server. With all servers, the third one decides.
DELAYS = (10, 15, 20, 25, 30)
PEER_TIMEOUT = 20  # s, for a driver whose servers are gone


class Worker:
    """`pawl_bench worker KIND …`, on commands by lines."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, "worker", *map(str, arguments)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=die_with_parent)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a worker ended; its message is above")
        return line.split()

    def execute(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.read()

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def pairs_in_state(program, state, delays, pairs):
    """A pair after the failures of `state`, and the pairs in which they were noticed."""
    count, kind = state
    with tempfile.TemporaryDirectory() as folder:
        servers = Independent(Path(folder), program, delays)
        worker = Worker(program, "redlock", servers.url(), MAJORITY)
        try:
            worker.execute("notice")
            noticed = []
            for _ in range(count):
                servers.fail(kind)
                first, longest = map(float, worker.execute("notice"))
                noticed.append(max(first, longest))
            worker.execute("nodes " + " ".join(map(str, servers.answering_ports())))
            pawl, alone, at_once = map(float, worker.execute(f"measure {pairs}"))
        finally:
            worker.stop()
            servers.stop()
    return {"pawl_us": pawl, "alone_us": alone, "all_us": at_once,
            "ratio": pawl / alone, "ratio_all": pawl / at_once,
            "noticed_us": max(noticed, default=0)}


def renewals(program, ttl_ms):
    """Requests for each node and third of the ttl."""
    with tempfile.TemporaryDirectory() as folder:
        servers = Independent(Path(folder), program)
        holder = Worker(program, "holder", servers.url(), HOLDS, ttl_ms)

        def requests():
            return sum(int(re.search(r"cmdstat_evalsha:calls=(\d+)",
                                     each.call("INFO", "commandstats"))[1])
                       for each in servers.masters)

        def server_seconds():
            return sum(info(each, "cpu", field) for each in servers.masters
                       for field in ("used_cpu_user", "used_cpu_sys"))

        try:
            holder.read()
            holder.process.stdin.write("begin\n")
            holder.process.stdin.flush()
            before, spent, began = requests(), server_seconds(), time.monotonic()
            time.sleep(ttl_ms / 1000)
            after, span = requests(), time.monotonic() - began
            spent = server_seconds() - spent
            words = holder.execute("end")
        finally:
            holder.stop()
            servers.stop()
    thirds = span / (ttl_ms / 3000)
    return {"renew_requests": (after - before) / NODES / thirds, "renew_lost": int(words[3]),
            "renew_client_s": float(words[1]) / span, "renew_server_s": spent / NODES / span}


def counts(bench):
    """What a pair costs, beside one server's; and the throughput of many coroutines."""
    result = {}
    for name, make in (("one", Single),
                       ("five", lambda folder: Independent(folder, bench.program))):
        with tempfile.TemporaryDirectory() as folder:
            servers = make(Path(folder))
            try:
                measured = bench.pair(servers, 0)
                if bench.counts_instructions:
                    measured["instructions"] = bench.count_instructions(servers, 0)
                measured |= bench.throughput(servers, pairs=40)
            finally:
                servers.stop()
        result |= {f"{name}_{key}": value for key, value in measured.items()}
    return result


def peer_pairs(peer, languages, folder, state, program, seconds):
    """The median of a pair in µs; None if the library does not go on."""
    count, kind = state
    with tempfile.TemporaryDirectory() as place:
        servers = Independent(Path(place), program)
        driver = Driver(peer, languages, servers.place(), folder)
        try:
            driver.execute(f"pairs 1 {driver.hello['warm'] * seconds}")
            for _ in range(count):
                servers.fail(kind)
            driver.send(f"pairs 1 {seconds}")  # in which the failures are noticed
            if driver.next(timeout=PEER_TIMEOUT)[1] is None:
                return None
            driver.send(f"pairs 1 {seconds}")
            reply = driver.next(timeout=PEER_TIMEOUT)[1]
            return percentile(reply["us"], 0.5) if reply and reply["us"] else None
        except DriverFailed as problem:
            if count == 0:
                raise
            print(f"  {peer.name}, {count} {kind}: {problem}", file=sys.stderr)
            return None
        finally:
            driver.kill()
            servers.stop()


def peer_handoffs(peer, languages, folder, program, seconds):
    with tempfile.TemporaryDirectory() as place:
        servers = Independent(Path(place), program)
        driver = Driver(peer, languages, servers.place(), folder)
        try:
            result = {}
            for users, clients in ((2, 2), (USERS, CLIENTS)):
                driver.send(f"handoff {users} {clients} {seconds}")
                reply = driver.next(timeout=PEER_TIMEOUT)[1]
                times = reply["us"] if reply else []
                result[f"handoff_{users}_us"] = percentile(times, 0.5) if times else None
                if reply is None:
                    break
            return result
        finally:
            driver.kill()
            servers.stop()


def measure_peers(options, rows, left_out):
    languages = Languages(options.build)
    seconds = 0.3 if options.quick else 1.5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for peer in PEERS_OF_REDLOCK:
            if peer.name in left_out:
                continue
            why = languages.missing_reason(peer.language)
            if why:
                left_out[peer.name] = why
                continue
            row = rows.setdefault(peer.name, {})
            try:
                states = STATES[:1] if options.quick else STATES
                for state in states:
                    row.setdefault(name_of(state), []).append(
                        peer_pairs(peer, languages, folder, state, options.program, seconds))
                for key, value in peer_handoffs(peer, languages, folder, options.program,
                                                seconds).items():
                    row.setdefault(key, []).append(value)
            except DriverFailed as problem:
                rows.pop(peer.name)
                left_out[peer.name] = str(problem)
                continue
            print(f"  {peer.name}", file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(prog="./dev bench redlock",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true",
                        help="small counts: only checks that it runs")
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="default: 3; --quick has one")
    parser.add_argument("--without-peers", action="store_true", help="only Pawl")
    parser.add_argument("--out", type=Path, metavar="FOLDER",
                        help="for redlock.md, redlock.json and redlock.svg")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER",
                        help="build folder of pawl_bench and pawl_peer")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    options.build = options.build.resolve()
    options.program = str(options.build / "bench" / "pawl_bench")
    return options


def main():
    options = parse()
    rounds = 1 if options.quick else options.rounds
    machine = machine_info(DELAYS)
    bench = Bench(options)
    states, costs, peers, left_out = {}, {}, {}, {}
    for number in range(rounds):
        for place, delays, pairs in (("near", (), 100 if options.quick else 2_000),
                                     ("far", DELAYS, 10 if options.quick else 40)):
            for state in STATES[::4] if options.quick else STATES:
                row = states.setdefault(f"{place} {name_of(state)}", {})
                for key, value in pairs_in_state(options.program, state, delays, pairs).items():
                    row.setdefault(key, []).append(value)
        for each in (counts(bench), renewals(options.program, 3_000 if options.quick else 9_000)):
            for key, value in each.items():
                costs.setdefault(key, []).append(value)
        if not options.without_peers:
            measure_peers(options, peers, left_out)
        print(f"  {number + 1} of {rounds}", file=sys.stderr, flush=True)
        page = Page(machine, number + 1, {"states": states, "peers": peers, "costs": costs},
                    left_out)
        if options.out:
            page.write(options.out)  # each round, so that an interrupted run leaves something
    print(page.text())


if __name__ == "__main__":
    main()
