# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The results as a page and as JSON."""
import json
import math
import os
import time

from measure import CLIENTS, TTL, USERS


def format_number(value):
    """Three significant figures, as pawl_bench writes them."""
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    digits = 0 if size >= 100 or value == round(value) else 1 if size >= 10 else 2
    return f"{value:.{digits}f}"


def milliseconds(us):
    return format_number(us / 1000)


def first_line(path, start):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(start):
                return line.split(":", 1)[-1].strip()
    return "unknown"


def machine_info(server, quick):
    machine = {"date": time.strftime("%Y-%m-%d", time.gmtime()),
             "processor": first_line("/proc/cpuinfo", "model name"),
             "cores": str(os.cpu_count()),
             "load before": f"{os.getloadavg()[0]:.2f}",
             "server": f"redis {server.info('server', 'redis_version')}, loopback, no persistence",
             "kernel": os.uname().release}
    if quick:
        machine["counts"] = "small: do not quote these numbers"
    return machine


def loss_text(span, frozen):
    return f"never within {format_number(frozen)} s" if math.isinf(span) else f"{span:.2f} s"


# Title, unit, whether less is better, and the keys of the number and of the small number beside it.
COLUMNS = [
    ("Acquire + release, uncontended", "µs", True, "pair_p50_us", "pair_p99_us"),
    (f"{USERS} users on different names", "pairs/s", False, "users_pairs_per_s", None),
    ("Hand-off, 2 contenders", "ms", True, "handoff_2_p50_us", "handoff_2_p99_us"),
    (f"Hand-off, {USERS} contenders", "ms", True, "handoff_64_p50_us", "handoff_64_p99_us"),
    ("Server, commands of a pair", "µs", True, "server_us", None),
    (f"Server, total work for a pair, {USERS} users", "µs", True, "users_server_us", None),
    ("Requests of one waiter", "per s", True, "waiter_requests_per_s", None),
    (f"Frozen server: last renewal to loss signal, ttl {format_number(TTL)} s", "s", True, "loss_s",
     None),
]


def scaled(key, value):
    """In the unit of its column."""
    return value / 1000 if key.startswith("handoff") else value


class Page:
    def __init__(self, machine, run):
        self.machine = machine
        self.plan = run.plan
        self.rows = run.medians()
        self.rounds = run.results
        self.left_out = run.left_out
        self.peers = {peer.name: peer for peer in run.peers}

    def frozen_for(self, name):
        """The observed time after the last renewal, at least."""
        return self.plan.frozen

    def cell(self, name, key, small):
        row = self.rows[name]
        if key == "loss_s":
            return loss_text(row[key], self.plan.frozen)
        text = format_number(scaled(key, row[key]))
        if small:
            text += f" · {format_number(scaled(small, row[small]))}"
        if key == "server_us":
            text += (f" · {format_number(row['commands_sent'])}"
                     f" + {format_number(row['commands_in_scripts'])}")
        return text

    def best(self, key, less):
        values = [row[key] for row in self.rows.values()]
        return min(values) if less else max(values)

    def text(self):
        about = "; ".join(f"{name}: {value}" for name, value in self.machine.items())
        lines = ["# Pawl compared with other lock libraries", "", about + ".", "",
                 f"Medians of {self.plan.rounds} rounds; the best of each column is bold. "
                 "[How each column is measured](../../docs/guide/performance.md).", "",
                 "| | " + " | ".join(f"{title}, {unit}{' · p99' if small else ''}"
                                     for title, unit, _, _, small in COLUMNS) + " |",
                 "|--" * (len(COLUMNS) + 1) + "|"]
        for name in self.rows:
            cells = []
            for _, _, less, key, small in COLUMNS:
                text = self.cell(name, key, small)
                cells.append(f"**{text}**" if self.is_best(name, key, less) else text)
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines += ["", "The server's commands: sent by clients + executed by scripts. "
                  f"Contenders: 2 in 2 clients, {USERS} in {CLIENTS}.", "",
                  "| | version | runtime | renewal and loss signal | signal on the frozen server |",
                  "|--|--|--|--|--|"]
        for name in self.rows:
            last = self.rounds[name][-1]
            lines.append(f"| {name} | {last['version'].lstrip('v')} | {last['runtime']} | "
                         f"{self.peers[name].renewal} | {last['loss_told_by'] or 'nothing'} |")
        lines += [""] + [f"Left out: {name}: {why.splitlines()[0]}"
                         for name, why in self.left_out.items()]
        return "\n".join(lines).rstrip() + "\n"

    def is_best(self, name, key, less):
        """A signal after the end of the lease is too late; before it, earlier is not better."""
        value = self.rows[name][key]
        return value <= TTL if key == "loss_s" else value == self.best(key, less)

    def write_json(self, path):
        def plain(value):
            if isinstance(value, dict):
                return {key: plain(each) for key, each in value.items()}
            if isinstance(value, list):
                return [plain(each) for each in value]
            if isinstance(value, float):
                return None if math.isinf(value) else float(f"{value:.6g}")
            return value

        rows = [{"name": name, "medians": row, "rounds": self.rounds[name]}
                for name, row in self.rows.items()]
        path.write_text(json.dumps(plain({
            "where": self.machine, "plan": vars(self.plan) | {"ttl_when_frozen": TTL},
            "peers": rows, "left_out": self.left_out}), indent=1, ensure_ascii=False) + "\n")
