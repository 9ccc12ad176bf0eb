#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""Measures Pawl and other lock libraries on one private Redis server.

Run by ./dev bench peers; docs/guide/performance.md explains each column.
"""
import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import bench_options
import chart
import report
from drivers import PEERS, DriverFailed, Languages, PeerTooSlow
from measure import QUICK, Plan, freeze, measure
from server import Server


def progress(text):
    print("  " + text, file=sys.stderr, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench peers", description=__doc__.split("\n")[0])
    bench_options.add_common(parser, "small counts: to see that it runs, not to quote",
                             "peers.json, peers.md and peers.svg", "drivers")
    parser.add_argument("--only", metavar="NAME", action="append", default=[],
                        help="the peers whose name contains this; may be repeated")
    return bench_options.parse(parser, arguments)


class Run:
    def __init__(self, options, folder):
        self.plan = QUICK if options.quick else Plan()
        self.plan.rounds = options.rounds or self.plan.rounds
        self.folder = folder
        self.languages = Languages(options.build.resolve())
        self.left_out = {}
        self.failed = False
        self.results = {}  # a peer's name -> its rounds
        self.peers = [peer for peer in PEERS
                      if not options.only or any(part in peer.name for part in options.only)]
        for peer in list(self.peers):
            why = self.languages.missing_reason(peer.language)
            if why:
                self.leave_out(peer, why)

    def leave_out(self, peer, why):
        progress(f"{peer.name} is left out: {why}")
        self.left_out[peer.name] = why
        self.peers.remove(peer)
        self.results.pop(peer.name, None)

    def fail(self, problem):
        """Another library that is too slow, or hangs as rueidislock may on a busy machine, is only
        a line of the report."""
        self.failed = self.failed or problem.peer.pawl or not isinstance(problem, PeerTooSlow)
        self.leave_out(problem.peer, str(problem))

    def measure_peers(self, server, number):
        """All columns except the frozen server. The order of the peers rotates from round to
        round."""
        turn = number * len(self.peers) // self.plan.rounds
        for peer in self.peers[turn:] + self.peers[:turn]:
            try:
                result = measure(peer, self.languages, server, self.folder, self.plan)
            except DriverFailed as problem:
                self.fail(problem)
                continue
            self.results.setdefault(peer.name, []).append(result)
            progress(f"round {number + 1}/{self.plan.rounds}: {peer.name}: "
                     f"pair {result['pair_p50_us']:.0f} µs, 64 users "
                     f"{result['users_pairs_per_s']:,.0f} pairs/s, hand-off "
                     f"{result['handoff_2_p50_us'] / 1000:.2f} ms")

    def freeze_server(self, server, number):
        progress(f"round {number + 1}/{self.plan.rounds}: the server is frozen for "
                 f"{self.plan.frozen:.1f} s")
        while True:
            try:
                signals = freeze(self.peers, self.languages, server, self.folder, self.plan)
                break
            except DriverFailed as problem:
                self.fail(problem)
        for name, (span, kind) in signals.items():
            self.results[name][number] |= {"loss_s": span, "loss_told_by": kind}

    def run_rounds(self, server):
        for number in range(self.plan.rounds):
            self.measure_peers(server, number)
            self.freeze_server(server, number)

    def medians(self):
        """{peer: {column: number}}, in the order of PEERS."""
        result = {}
        for peer in self.peers:
            rounds = self.results[peer.name]
            result[peer.name] = {
                key: statistics.median(each[key] for each in rounds)
                for key, value in rounds[0].items() if isinstance(value, (int, float))}
        return result


def main(arguments):
    options = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="pawl-peers-") as name:
        run = Run(options, Path(name))
        if not run.peers:
            raise SystemExit("No peer is left to measure: see the lines above, and --only.")
        server = Server(Path(name))
        try:
            machine = report.machine_info(server, options.quick)
            run.run_rounds(server)
        finally:
            server.stop()
    page = report.Page(machine, run)
    print(page.text())
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        page.write_json(options.out / "peers.json")
        (options.out / "peers.md").write_text(page.text())
        (options.out / "peers.svg").write_text(chart.draw(page))
        print(f"written: {options.out}/peers.json, peers.md and peers.svg")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
