#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Measures the layers behind the lock beside the plain statements: times, trips and commits.

Run by ./dev bench layers; docs/guide/performance.md explains the rows.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("bench/peers", "bench/stores"):
    sys.path.insert(0, str(ROOT / folder))

# The folders of the modules come first.
import bench_options  # noqa: E402
from drivers import Driver, Languages, Peer  # noqa: E402
from servers import MariaDb, Postgres, Redis  # noqa: E402
from stores_report import format_number, machine_info, table  # noqa: E402

from trip_counter import TripCounter  # noqa: E402

TITLES = {"postgres": "PostgreSQL", "mariadb": "MariaDB", "sqlite": "SQLite", "redis": "Redis"}
WAYS = {
    "plain": "the plain statements: BEGIN, INSERT, COMMIT; in Redis DECR",
    "counter": "`counters::subtract` with a floor",
    "counter_id": "the same with an id",
    "locked": "a lock, GET, SET, release",
    "fence": "`fence`, a guard row, in the transaction; in Redis `fenced`",
    "record": "a unique key in the same transaction, without Pawl",
    "lease_0": "`once` with `lease = 0`",
    "first": "`once`, the first call",
    "first_direct": "the same with `looks_first = false`",
    "replay": "`once`, a replay",
    "replay_direct": "the same with `looks_first = false`",
    "guarded": "`guarded_once`, the first call",
    "guarded_replay": "`guarded_once`, a replay",
}
OF_DATABASES = [way for way in WAYS if way not in ("counter", "counter_id", "locked")]
OF_REDIS = [way for way in WAYS if way not in ("record", "lease_0")]


@dataclass
class Plan:
    rounds: int = 5
    steps: int = 200
    counted: int = 20  # operations for the counts


QUICK = Plan(rounds=1, steps=5, counted=5)


def progress(text):
    print("  " + text, file=sys.stderr, flush=True)


class Sqlite:
    """The file, which has no server."""
    name = "SQLite"

    def __init__(self, folder):
        import sqlite3  # only its version
        self.version = sqlite3.sqlite_version
        self.file = folder / "bench.db"

    def url(self):
        return f"sqlite:{self.file}"

    def stop(self):
        pass


class Bench:
    def __init__(self, plan, build, folder):
        self.plan = plan
        self.folder = folder
        self.languages = Languages(build)
        self.languages.commands["layers"] = [str(build / "bench/pawl_layers")]
        self.servers = {}

    def start_servers(self):
        for name, make in (("postgres", Postgres), ("mariadb", MariaDb), ("sqlite", Sqlite),
                           ("redis", Redis)):
            folder = self.folder / name
            folder.mkdir()
            self.servers[name] = make(folder)
        self.servers["mariadb"].query("create database if not exists pawl")
        self.counters = {name: TripCounter(self.servers[name].port)
                         for name in ("postgres", "mariadb", "redis")}

    def stop_servers(self):
        for each in self.servers.values():
            each.stop()

    def url(self, store, is_counted):
        url = self.servers[store].url()
        if not is_counted or store == "sqlite":
            return url
        return url.replace(f":{self.servers[store].port}", f":{self.counters[store].port}")

    def driver(self, store, is_counted=False):
        place = f"{self.url(store, is_counted)} {self.url('redis', is_counted)}"
        return Driver(Peer(TITLES[store], "layers", store), self.languages, place, self.folder)

    def commits(self, store):
        """Transactions that have written, so far; None: the program counts them, or none are."""
        if store == "postgres":
            return self.servers[store].number(
                "select pg_snapshot_xmax(pg_current_snapshot())::text::numeric")
        return self.servers[store].flushes_now() if store == "mariadb" else None

    def count(self, store, ways):
        """Statements, round trips and commits of one operation."""
        counts = {}
        driver = self.driver(store, is_counted=True)
        try:
            for way in ways:
                driver.execute(f"{way} 1")  # loads its scripts
                before = sum(each.trips for each in self.counters.values()), self.commits(store)
                answer = driver.execute(f"{way} {self.plan.counted}")
                after = sum(each.trips for each in self.counters.values()), self.commits(store)
                commits = answer["commits"] if before[1] is None else after[1] - before[1]
                counts[way] = {"statements": answer["statements"] / self.plan.counted,
                               "trips": round((after[0] - before[0]) / self.plan.counted, 1),
                               "commits": round(commits / self.plan.counted, 1)}
            driver.quit()
        finally:
            driver.kill()
        if store == "sqlite":
            for each in counts.values():
                each["trips"] = 0
        return counts

    def time(self, store, ways):
        """The median time of an operation, and its ratio to that of the plain statements in the
        same round."""
        times = {way: [] for way in ways}
        driver = self.driver(store)
        try:
            for number in range(self.plan.rounds):
                turn = number % len(ways)
                for way in ways[turn:] + ways[:turn]:
                    driver.execute(f"{way} {max(1, self.plan.steps // 10)}")
                    times[way].append(
                        statistics.median(driver.execute(f"{way} {self.plan.steps}")["us"]))
            driver.quit()
        finally:
            driver.kill()
        return {way: {"us": statistics.median(times[way]),
                      "ratio": statistics.median(mine / plain for mine, plain
                                                 in zip(times[way], times["plain"]))}
                for way in ways}

    def measure(self):
        results = {}
        for store in TITLES:
            ways = OF_REDIS if store == "redis" else OF_DATABASES
            results[store] = self.count(store, ways)
            for way, times in self.time(store, ways).items() if self.plan.rounds else ():
                results[store][way] |= times
            progress(TITLES[store])
        return results


def goals(results):
    """(text, value, limit) of what the counts must be."""
    for store in ("postgres", "mariadb"):
        ways, title = results[store], TITLES[store]
        more = ways["first_direct"]["trips"] - ways["plain"]["trips"]
        yield f"{title}: trips of `once` without a look, less those of the plain ones", more, 2
        more = ways["first"]["trips"] - ways["plain"]["trips"]
        yield f"{title}: the same with the look", more, 3
        yield f"{title}: trips of a replay", ways["replay"]["trips"], 1
    for store in ("postgres", "mariadb", "sqlite"):
        ways, title = results[store], TITLES[store]
        yield f"{title}: commits of `once`, the first call", ways["first"]["commits"], 2
        yield f"{title}: commits of `once` with `lease = 0`", ways["lease_0"]["commits"], 1
        yield f"{title}: commits of a replay", ways["replay"]["commits"], 0


COLUMNS = [("statements", "statements"), ("trips", "round trips"), ("commits", "commits"),
           ("us", "p50, µs"), ("ratio", "to the plain ones")]
# InnoDB also flushes by itself now and then.
ROOM = 0.4


def page(machine, plan, results):
    times = f"Times are medians of {plan.rounds} rounds." if plan.rounds else "Counts only."
    lines = ["# The layers behind the lock", "",
             "; ".join(f"{key}: {value}" for key, value in machine.items()) + ".", "",
             f"{times} [How each row is measured](../../docs/guide/performance.md#layers).", ""]
    columns = COLUMNS if plan.rounds else COLUMNS[:3]
    for store, ways in results.items():
        rows = [[WAYS[way], *(format_number(row[key]) for key, _ in columns)]
                for way, row in ways.items()]
        lines += table([TITLES[store], *(title for _, title in columns)], rows) + [""]
    rows = [[text, format_number(value), f"≤ {limit}",
             "met" if value <= limit + ROOM else "**missed**"]
            for text, value, limit in goals(results)]
    return "\n".join(lines + table(["goal", "measured", "limit", ""], rows)) + "\n"


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench layers", description=__doc__.split("\n")[0])
    bench_options.add_common(parser, "small counts; fails if a count is not as it must be",
                             "layers.json and layers.md", "program")
    parser.add_argument("--counts", action="store_true",
                        help="no times: for a machine that has other work")
    bench_options.add_data(parser)
    return bench_options.parse(parser, arguments)


def main():
    options = parse(sys.argv[1:])
    plan = QUICK if options.quick else Plan()
    plan.rounds = 0 if options.counts else options.rounds or plan.rounds
    load_before = os.getloadavg()[0]
    data = (options.data or options.build).resolve()
    with tempfile.TemporaryDirectory(prefix="layers-", dir=data) as folder:
        os.chmod(folder, 0o755)
        bench = Bench(plan, options.build.resolve(), Path(folder))
        try:
            bench.start_servers()
            machine = machine_info(bench.servers, Path(folder), load_before, options.quick)
            results = bench.measure()
        finally:
            bench.stop_servers()
    text = page(machine, plan, results)
    print(text)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "layers.md").write_text(text)
        (options.out / "layers.json").write_text(
            json.dumps({"machine": machine, "ways": WAYS, "results": results}, indent=1) + "\n")
    missed = [each for each in goals(results) if each[1] > each[2] + ROOM]
    for text, value, limit in missed:
        print(f"{text}: {value:g}, above {limit}", file=sys.stderr)
    sys.exit(1 if options.quick and missed else 0)


if __name__ == "__main__":
    main()
