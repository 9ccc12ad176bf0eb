#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Measures what Sentinels, a cluster and durability add to an uncontended pair of Pawl's, and how
many pairs three masters serve beside one.

Run by ./dev bench cluster; docs/guide/performance.md explains the columns.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cluster_nodes import Cluster
from report import first_line, format_number
from sentinels import MASTER, Group, Process, wait_for

ROOT = Path(__file__).resolve().parents[2]
FEW_PAIRS = 200  # of the run that is subtracted, so that no start is counted
# Of Sentinels and replicas: no pair of a lock without waiters executes these.
NOT_COUNTED = ("ping", "publish", "replconf")
GOAL = 0.03  # what a topology may add to a pair


class Single:
    def __init__(self, folder):
        self.masters = [Process(folder / "server", [])]

    def url(self):
        return f"redis://127.0.0.1:{self.masters[0].port}"

    def stop(self):
        self.masters[0].kill()


class Replicated:
    """A server with a replica, without Sentinels: the baseline of a durable pair."""

    def __init__(self, folder):
        self.masters = [Process(folder / "server", [])]
        self.replica = Process(folder / "replica", [f"replicaof 127.0.0.1 {self.masters[0].port}"])
        wait_for(lambda: "master_link_status:up" in self.replica.call("INFO", "replication"),
                 "the replication")

    def url(self):
        return f"redis://127.0.0.1:{self.masters[0].port}"

    def stop(self):
        self.masters[0].kill()
        self.replica.kill()


class Monitored:
    """A master with a replica, and three Sentinels."""

    def __init__(self, folder):
        self.group = Group(folder)
        self.masters = [self.group.master]

    def url(self):
        ports = ",".join(f"127.0.0.1:{each.port}" for each in self.group.sentinels)
        return f"redis+sentinel://{ports}/{MASTER}"

    def stop(self):
        self.group.stop()


# Title, servers, and how many replicas a grant waits for.
KINDS = {
    "server": ("one server", Single, 0),
    "sentinel": ("Sentinels, one master and its replica", Monitored, 0),
    "cluster1": ("cluster, 1 master", lambda folder: Cluster(folder, 1), 0),
    "cluster3": ("cluster, 3 masters", lambda folder: Cluster(folder, 3), 0),
    "replicated": ("one server and its replica", Replicated, 0),
    "durable": ("the same, durable: `replicas(1)`", Replicated, 1),
}
LOADED = ("server", "cluster1", "cluster3")


def info(process, section, field):
    text = process.call("INFO", section)
    match = re.search(rf"^{field}:(.*?)\r?$", text, re.MULTILINE)
    return float(match[1]) if match else 0.0


class Counts:
    """What the masters of a kind have done so far."""

    def __init__(self, servers):
        self.processor = self.bytes = self.commands = 0.0
        for each in servers.masters:
            self.processor += info(each, "cpu", "used_cpu_user") + info(each, "cpu", "used_cpu_sys")
            # Without the stream to replicas.
            for direction in ("input", "output"):
                self.bytes += info(each, "stats", f"total_net_{direction}_bytes")
                self.bytes -= info(each, "stats", f"total_net_repl_{direction}_bytes")
            for name, calls in re.findall(r"cmdstat_([^:]+):calls=(\d+)",
                                          each.call("INFO", "commandstats")):
                if not name.startswith(NOT_COUNTED):
                    self.commands += int(calls)


class Bench:
    def __init__(self, options):
        self.program = str(options.build.resolve() / "bench" / "pawl_bench")
        self.quick = options.quick
        self.counts_instructions = shutil.which("valgrind") is not None
        if not self.counts_instructions:
            print("Instructions are left out: there is no valgrind", file=sys.stderr)

    def load(self, servers, replicas, coroutines, pairs, tool=()):
        """(seconds, processor seconds of the client, requests) for `pairs` of each coroutine."""
        done = subprocess.run([*tool, self.program, "worker", "load", servers.url(),
                               str(coroutines), str(pairs), str(replicas)],
                              check=True, capture_output=True, text=True)
        span, processor, requests = done.stdout.split()
        return float(span), float(processor), int(requests)

    def instructions(self, servers, replicas, pairs):
        """Of the client's process, without the kernel and without its start."""
        with tempfile.NamedTemporaryFile() as counts:
            self.load(servers, replicas, 1, pairs, [
                "valgrind", "--tool=callgrind", f"--callgrind-out-file={counts.name}",
                "--zero-before=bench::begin_to_count()"])
            text = Path(counts.name).read_text()
        match = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
        if not match:
            raise SystemExit("valgrind reported no instructions")
        return int(match[1])

    def pair(self, servers, replicas):
        """One pair after the other, by one coroutine."""
        pairs = 1_000 if self.quick else 5_000
        # The processes' own share of bytes and commands is the difference to a short run.
        before = Counts(servers)
        self.load(servers, replicas, 1, FEW_PAIRS)
        middle = Counts(servers)
        span, processor, requests = self.load(servers, replicas, 1, FEW_PAIRS + pairs)
        after = Counts(servers)
        total = FEW_PAIRS + pairs

        def added(field):
            values = [getattr(each, field) for each in (before, middle, after)]
            return ((values[2] - values[1]) - (values[1] - values[0])) / pairs

        return {"us": span / total * 1e6, "client_us": processor / total * 1e6,
                "requests": requests / total, "bytes": added("bytes"),
                "commands": added("commands"), "server_us": added("processor") * 1e6}

    def count_instructions(self, servers, replicas):
        pairs = 200 if self.quick else 3_000
        return self.instructions(servers, replicas, pairs) / pairs

    def throughput(self, servers, pairs=200):
        """1,000 coroutines of one client, each with a name of its own and so many pairs."""
        coroutines, pairs = 1_000, pairs // 10 if self.quick else pairs
        before = Counts(servers)
        span, processor, _ = self.load(servers, 0, coroutines, pairs)
        after = Counts(servers)
        total = coroutines * pairs
        # The servers' work includes the first pair of each coroutine.
        return {"load_pairs_per_s": total / span, "load_client_us": processor / total * 1e6,
                "load_server_us":
                    (after.processor - before.processor) / (total + coroutines) * 1e6}


def measure_round(bench, number, results):
    kinds = list(KINDS)
    for name in kinds[number % len(kinds):] + kinds[:number % len(kinds)]:
        _, make, replicas = KINDS[name]
        with tempfile.TemporaryDirectory() as folder:
            servers = make(Path(folder))
            try:
                measured = bench.pair(servers, replicas)
                if bench.counts_instructions:
                    measured["instructions"] = bench.count_instructions(servers, replicas)
                if name in LOADED:
                    measured |= bench.throughput(servers)
            finally:
                servers.stop()
        for key, value in measured.items():
            results[name].setdefault(key, []).append(value)


def medians(results):
    return {name: {key: statistics.median(values) for key, values in rows.items()}
            for name, rows in results.items()}


# These hardly depend on the machine's other load.
COUNTS = [("requests", "requests"), ("commands", "commands"), ("bytes", "bytes"),
          ("instructions of the client", "instructions")]
PAIR_COLUMNS = [("instructions of the client", "instructions"), ("bytes, both ways", "bytes"),
                ("requests", "requests"), ("commands of the servers", "commands"),
                ("processor time of the server, µs", "server_us"), ("time, µs", "us")]


def pair_table(values, names, baseline):
    lines = ["| one pair | " + " | ".join(title for title, _ in PAIR_COLUMNS) + " |",
             "|--|" + "--|" * len(PAIR_COLUMNS)]
    for name in names:
        cells = []
        for _, key in PAIR_COLUMNS:
            if key not in values[name]:
                cells.append("–")
                continue
            text = format_number(values[name][key])
            if name != baseline:
                change = values[name][key] / values[baseline][key] - 1
                text += f" ({change * 100:+.1f} %)"
            cells.append(text)
        lines.append(f"| {KINDS[name][0]} | " + " | ".join(cells) + " |")
    return lines


def percent(share):
    text = f"{share * 100:+.1f} %"
    return "0 %" if text[1:] == "0.0 %" else text


def added_cell(results, name, baseline, key):
    """The median over the rounds of what is added, and the range."""
    if key not in results[name]:
        return "–"
    shares = [value / base - 1 for value, base in zip(results[name][key], results[baseline][key])]
    median = statistics.median(shares)
    text = percent(median)
    if round(median, 3) > GOAL:
        text = f"**{text}**"
    ends = percent(min(shares)), percent(max(shares))
    return text if ends[0] == ends[1] else f"{text} ({ends[0]} to {ends[1]})"


def added_table(results, names, baseline):
    lines = [f"| a pair, beside {KINDS[baseline][0]} | "
             + " | ".join(title for title, _ in COUNTS) + " |", "|--|" + "--|" * len(COUNTS)]
    for name in names:
        cells = [added_cell(results, name, baseline, key) for _, key in COUNTS]
        lines.append(f"| {KINDS[name][0]} | " + " | ".join(cells) + " |")
    return lines


def load_table(values):
    lines = ["| 1,000 coroutines | pairs/s | processor time of the client, µs per pair "
             "| of all servers, µs per pair |", "|--|--|--|--|"]
    for name in LOADED:
        row = values[name]
        lines.append(f"| {KINDS[name][0]} | {format_number(row['load_pairs_per_s'])} "
                     f"| {row['load_client_us']:.1f} | {row['load_server_us']:.1f} |")
    return lines


def main():
    parser = argparse.ArgumentParser(prog="./dev bench cluster",
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true",
                        help="small counts: only checks that it runs")
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="default: 3; --quick has one")
    parser.add_argument("--out", type=Path, metavar="FOLDER",
                        help="for cluster.md and cluster.json")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER",
                        help="build folder of pawl_bench")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    rounds = 1 if options.quick else options.rounds
    bench = Bench(options)
    load_before = os.getloadavg()[0]
    results = {name: {} for name in KINDS}
    for number in range(rounds):
        measure_round(bench, number, results)
        print(f"  {number + 1} of {rounds}", file=sys.stderr, flush=True)
    values = medians(results)
    title = "One round" if rounds == 1 else f"Medians of {rounds} rounds"
    page = [f"{title}. {first_line('/proc/cpuinfo', 'model name')}, "
            f"{os.cpu_count()} cores, load before {load_before:.2f}.", "",
            "What is added, as the median of the rounds with their range. Above "
            f"{GOAL * 100:g} % in bold.", "",
            *added_table(results, ["sentinel", "cluster1", "cluster3"], "server"), "",
            "The commands are those that clients send and that scripts execute, without "
            + ", ".join(name.upper() for name in NOT_COUNTED[:-1])
            + f" and {NOT_COUNTED[-1].upper()}, which Sentinels and replicas send.", "",
            *load_table(values), "",
            *pair_table(values, ["server", "sentinel", "cluster1", "cluster3"], "server"), "",
            *pair_table(values, ["replicated", "durable"], "replicated")]
    print("\n".join(page))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "cluster.md").write_text("# Topologies\n\n" + "\n".join(page) + "\n")
        (options.out / "cluster.json").write_text(
            json.dumps({"rounds": results, "medians": values}, indent=1) + "\n")


if __name__ == "__main__":
    main()
