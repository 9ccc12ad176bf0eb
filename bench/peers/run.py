#!/usr/bin/env python3
"""Measures Pawl beside the libraries that people run, on one private Redis server.

Run by ./dev bench peers; docs/performance.md says what each column means.
"""
import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import chart
import report
from drivers import PEERS, DriverFailed, Languages
from measure import QUICK, Plan, freeze, measure
from server import Server

ROOT = Path(__file__).resolve().parents[2]


def progress(text):
    print("  " + text, file=sys.stderr, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench peers", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true",
                        help="small counts: to see that it runs, not to quote")
    parser.add_argument("--only", metavar="NAME", action="append", default=[],
                        help="the peers whose name contains this; may be said again")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each is measured")
    parser.add_argument("--out", type=Path, metavar="FOLDER",
                        help="where peers.json, peers.md and peers.svg go")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="FOLDER",
                        help="where the drivers were built")
    how = parser.parse_args(arguments)
    if how.rounds is not None and how.rounds < 1:
        parser.error("--rounds is 1 or more")
    return how


class Run:
    def __init__(self, how, folder):
        self.plan = QUICK if how.quick else Plan()
        self.plan.rounds = how.rounds or self.plan.rounds
        self.folder = folder
        self.languages = Languages(how.build.resolve())
        self.left_out = {}
        self.failed = False
        self.found = {}  # a peer's name -> its rounds
        self.peers = [peer for peer in PEERS
                      if not how.only or any(part in peer.name for part in how.only)]
        for peer in list(self.peers):
            why = self.languages.why_not(peer.language)
            if why:
                self.leave_out(peer, why)

    def leave_out(self, peer, why):
        progress(f"{peer.name} is left out: {why}")
        self.left_out[peer.name] = why
        self.peers.remove(peer)
        self.found.pop(peer.name, None)

    def fail(self, problem):
        self.failed = True
        self.leave_out(problem.peer, str(problem))

    def columns(self, server, number):
        """Everybody begins once in a while: the order turns from round to round."""
        turn = number * len(self.peers) // self.plan.rounds
        for peer in self.peers[turn:] + self.peers[:turn]:
            try:
                found = measure(peer, self.languages, server, self.folder, self.plan)
            except DriverFailed as problem:
                self.fail(problem)
                continue
            self.found.setdefault(peer.name, []).append(found)
            progress(f"round {number + 1}/{self.plan.rounds}: {peer.name}: "
                     f"pair {found['pair_p50_us']:.0f} µs, 64 users "
                     f"{found['users_pairs_per_s']:,.0f} pairs/s, hand-off "
                     f"{found['handoff_2_p50_us'] / 1000:.2f} ms")

    def frozen(self, server, number):
        progress(f"round {number + 1}/{self.plan.rounds}: the server is frozen for "
                 f"{self.plan.frozen:.1f} s")
        while True:
            try:
                told = freeze(self.peers, self.languages, server, self.folder, self.plan)
                break
            except DriverFailed as problem:
                self.fail(problem)
        for name, (span, how) in told.items():
            self.found[name][number] |= {"loss_s": span, "loss_told_by": how}

    def all(self, server):
        for number in range(self.plan.rounds):
            self.columns(server, number)
            self.frozen(server, number)

    def medians(self):
        """{peer: {column: number}}, in the order of PEERS."""
        result = {}
        for peer in self.peers:
            rounds = self.found[peer.name]
            result[peer.name] = {
                key: statistics.median(each[key] for each in rounds)
                for key, value in rounds[0].items() if isinstance(value, (int, float))}
        return result


def main(arguments):
    how = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="pawl-peers-") as name:
        run = Run(how, Path(name))
        if not run.peers:
            raise SystemExit("Nobody is left to be measured: see the lines above, and --only.")
        server = Server(Path(name))
        try:
            where = report.surroundings(server, how.quick)
            run.all(server)
        finally:
            server.stop()
    page = report.Page(where, run)
    print(page.text())
    if how.out:
        how.out.mkdir(parents=True, exist_ok=True)
        page.write_json(how.out / "peers.json")
        (how.out / "peers.md").write_text(page.text())
        (how.out / "peers.svg").write_text(chart.draw(page))
        print(f"written: {how.out}/peers.json, peers.md and peers.svg")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
