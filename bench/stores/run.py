#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Measures Pawl on PostgreSQL, MariaDB and Redis, beside what the databases do without it.

Run by ./dev bench stores; docs/guide/performance.md explains the rows.
"""
import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))

# The folder of the modules comes first.
import bench_options  # noqa: E402
from drivers import Driver, Languages, Peer  # noqa: E402
from servers import MariaDb, Postgres, Redis  # noqa: E402

import stores_chart  # noqa: E402
import stores_report as report  # noqa: E402

HOLD_TTL = 9.0  # s
LISTENERS = 100  # idle sessions that listen
WARM = 0.1  # s
FEWEST = 20  # results
LONGEST = 60  # s


@dataclass
class Plan:
    """The length of each part, in s."""
    rounds: int = 3
    pairs: float = 2
    handoffs: float = 3
    waiting: float = 40
    holds: int = 1000
    renewals: float = 2 * HOLD_TTL / 3
    waiters: tuple = (1, 10)


QUICK = Plan(rounds=1, pairs=0.2, handoffs=0.2, waiting=4, holds=200, renewals=HOLD_TTL / 3,
             waiters=(1,))


@dataclass
class Way:
    """One way to have a lock in a store."""
    key: str  # in the results
    title: str
    store: str
    kind: str = ""  # of the baseline; Pawl: empty
    has_pairs: bool = True
    handoffs: tuple = ()  # numbers of users


WAYS = [
    Way("postgres", "Pawl", "postgres", handoffs=(2, 64)),
    Way("postgres.plain", "INSERT, DELETE", "postgres", "plain"),
    Way("postgres.advisory", "advisory lock, as DistributedLock", "postgres", "advisory",
        handoffs=(2,)),
    Way("postgres.shedlock", "ShedLock's two UPDATEs", "postgres", "shedlock"),
    Way("postgres.notify", "NOTIFY", "postgres", "notify", False, (2,)),
    Way("postgres.durable_notify", "UPDATE and NOTIFY", "postgres", "durable_notify", False, (2,)),
    Way("mariadb", "Pawl", "mariadb", handoffs=(2, 64)),
    Way("mariadb.plain", "INSERT, DELETE", "mariadb", "plain"),
    Way("mariadb.advisory", "GET_LOCK, as DistributedLock", "mariadb", "advisory", handoffs=(2,)),
    Way("mariadb.shedlock", "ShedLock's two UPDATEs", "mariadb", "shedlock"),
    Way("redis", "Pawl", "redis", handoffs=(2, 64)),
]


def progress(text):
    print("  " + text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, plan, build, folder):
        self.plan = plan
        self.folder = folder
        self.languages = Languages(build)
        self.languages.commands["sql"] = [str(build / "bench/pawl_store_baseline")]
        self.servers = {}
        self.results = {way.key: {} for way in WAYS}

    def start_servers(self):
        for name, make in (("postgres", Postgres), ("mariadb", MariaDb), ("redis", Redis)):
            folder = self.folder / name
            folder.mkdir()
            self.servers[name] = make(folder)

    def stop_servers(self):
        for each in self.servers.values():
            each.stop()

    def driver(self, way):
        server = self.servers[way.store]
        if way.kind:
            peer = Peer(way.title, "sql", f"{way.store}:{way.kind}")
            return Driver(peer, self.languages, server.place(), self.folder)
        peer = Peer(way.title, "pawl", "coroutines", True)
        return Driver(peer, self.languages, server.url(), self.folder)

    def repeat(self, way, command, seconds):
        """The work of the server for each result of COMMAND SECONDS. Flushes are known exactly
        when the sessions have ended: those of a session that does little are subtracted."""
        server = self.servers[way.store]
        lives = [self.live(way, server, command, span) for span in (0, seconds)]
        short, full = lives
        count = len(full["us"])
        return {"us": statistics.median(full["us"]), "server_us": full["processor"] / count * 1e6,
                "log_bytes": full["log"] / count,
                "flushes": (full["flushes"] - short["flushes"]) / (full["all"] - short["all"])}

    def live(self, way, server, command, seconds):
        """One session, which first warms up."""
        before = server.flushes()
        driver = self.driver(way)
        try:
            warm = len(driver.execute(f"{command} {WARM}")["us"])
            log, processor = server.log_bytes(), server.processor()
            us = self.enough(driver, command, seconds) if seconds else []
            processor, log = server.processor() - processor, server.log_bytes() - log
            driver.quit()
        finally:
            driver.kill()
        return {"us": us, "all": warm + len(us), "processor": processor, "log": log,
                "flushes": server.flushes() - before}

    def enough(self, driver, command, seconds):
        """The times of at least a few results: a busy machine takes longer."""
        end = time.monotonic() + LONGEST
        us = []
        while len(us) < FEWEST:
            if time.monotonic() > end:
                raise SystemExit(f"{driver.peer.name}: too few results of `{command}`")
            us += driver.execute(f"{command} {seconds}")["us"]
        return us

    def add(self, way, name, values):
        for key, value in values.items():
            self.results[way.key].setdefault(f"{name}.{key}", []).append(value)

    def measure(self, way, number):
        if way.has_pairs:
            self.add(way, "pair", self.repeat(way, "pairs 1", self.plan.pairs))
        for users in way.handoffs:
            command = f"handoff {users} {min(users, 8)}"
            self.add(way, f"handoff_{users}", self.repeat(way, command, self.plan.handoffs))
        if not way.kind:
            for waiters in self.plan.waiters:
                self.measure_waiting(way, waiters)
            self.measure_holds(way, number)

    def measure_waiting(self, way, waiters):
        """The statements of waiters while they wait."""
        server = self.servers[way.store]
        driver = self.driver(way)
        try:
            driver.execute("watch awaited 120000")  # its holder renews later than this measures
            for _ in range(waiters):
                driver.execute("wait awaited")
            time.sleep(1)  # until all are in the queue
            server.begin_to_count_requests()
            time.sleep(self.plan.waiting)
            requests = server.requests()
            driver.execute("give awaited")
            driver.quit()
        finally:
            driver.kill()
        self.add(way, f"waiting_{waiters}",
                 {"requests_per_s": requests / self.plan.waiting / waiters})

    def measure_holds(self, way, number):
        """What the server stores for each hold, and the work of the renewals."""
        server = self.servers[way.store]
        driver = self.driver(way)
        try:
            driver.execute("take first")  # the tables exist now
            before = server.storage()
            for i in range(self.plan.holds):
                driver.execute(f"watch held/{number}/{i} {int(HOLD_TTL * 1000)}")
            stored = [(now - then) / self.plan.holds for now, then in zip(server.storage(), before)]
            self.add(way, "hold", dict(zip(("rows", "row_bytes", "bytes"), stored)))
            # PostgreSQL counts the flushes of the acquires when the session's next statement ends.
            time.sleep(HOLD_TTL / 2)
            server.begin_to_count_requests()
            before = server.flushes_now(), server.log_bytes(), server.processor()
            time.sleep(self.plan.renewals)
            now = server.flushes_now(), server.log_bytes(), server.processor()
            thirds = self.plan.renewals / (HOLD_TTL / 3)
            flushes, log, processor = [(b - a) / thirds for a, b in zip(before, now)]
            self.add(way, "renewal", {
                "requests": server.requests() / thirds, "flushes": flushes, "log_bytes": log,
                "server_us": processor * 1e6})
        finally:
            driver.kill()

    def measure_listeners(self):
        """A hand-off while idle sessions listen in the same database."""
        ways = {way.key: way for way in WAYS}
        server = self.servers["postgres"]
        listening = self.driver(ways["postgres.notify"])
        try:
            listening.execute(f"listen {LISTENERS}")
            server.idle_sessions = LISTENERS + 2
            for key in ("postgres", "postgres.notify"):
                self.add(ways[key], "handoff_2_listeners",
                         self.repeat(ways[key], "handoff 2 2", self.plan.handoffs))
            listening.quit()
        finally:
            listening.kill()
            server.idle_sessions = 0

    def measure_all(self):
        for number in range(self.plan.rounds):
            turn = number * len(WAYS) // self.plan.rounds
            for way in WAYS[turn:] + WAYS[:turn]:
                self.measure(way, number)
                progress(f"round {number + 1}/{self.plan.rounds}: {way.store}, {way.title}")
            self.measure_listeners()

    def medians(self):
        return {key: {name: statistics.median(values) for name, values in rows.items()}
                for key, rows in self.results.items()}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench stores", description=__doc__.split("\n")[0])
    bench_options.add_common(parser, "small counts; fails if a count is not as it must be",
                             "stores.json, stores.md and stores.svg", "drivers")
    bench_options.add_data(parser)
    return bench_options.parse(parser, arguments)


def main():
    options = parse(sys.argv[1:])
    plan = QUICK if options.quick else Plan()
    plan.rounds = options.rounds or plan.rounds
    data = (options.data or options.build).resolve()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="stores-", dir=data) as folder:
        os.chmod(folder, 0o755)
        bench = Bench(plan, options.build.resolve(), Path(folder))
        try:
            bench.start_servers()
            machine = report.machine_info(bench.servers, Path(folder), load_before, options.quick)
            bench.measure_all()
        finally:
            bench.stop_servers()
    page = report.Page(machine, plan, WAYS, bench.results, bench.medians())
    print(page.text())
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "stores.md").write_text(page.text())
        page.write_json(options.out / "stores.json")
        (options.out / "stores.svg").write_text(stores_chart.draw(page))
    if options.quick:
        wrong = report.wrong_counts(bench.medians())
        for each in wrong:
            print(each, file=sys.stderr)
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
