# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The results as a page and as JSON, the goals, and the counts that must hold on any machine."""
import json
import os
import time
from pathlib import Path

TITLES = {"postgres": "PostgreSQL", "mariadb": "MariaDB", "redis": "Redis"}


def format_number(value):
    """Three significant figures."""
    size = abs(value)
    if size < 0.005:
        return "0"
    if size >= 1000:
        return f"{value:,.0f}"
    digits = 0 if size >= 100 or value == round(value) else 1 if size >= 10 else 2
    return f"{value:.{digits}f}"


def first_line(path, start):
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith(start):
            return line.split(":", 1)[-1].strip()
    return "unknown"


def file_system(folder):
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    holding = [each for each in mounts if folder.resolve().is_relative_to(each[1])]
    return max(holding, key=lambda each: len(each[1]))[2]


def machine_info(servers, folder, load_before, quick):
    machine = {"date": time.strftime("%Y-%m-%d", time.gmtime()),
               "processor": first_line("/proc/cpuinfo", "model name"),
               "cores": str(os.cpu_count()), "load before": f"{load_before:.2f}",
               "servers": ", ".join(f"{each.name} {each.version}" for each in servers.values()),
               "file system": file_system(folder)}
    if quick:
        machine["counts"] = "small: do not quote these numbers"
    return machine


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|--" * len(head) + "|",
            *("| " + " | ".join(row) + " |" for row in rows)]


class Goal:
    def __init__(self, label, value, limit):
        self.label, self.value, self.limit = label, value, limit

    def row(self):
        # A server flushes now and then by itself.
        met = "met" if self.value <= self.limit * 1.02 else "**missed**"
        return [self.label, format_number(self.value), f"≤ {self.limit:g}", met]


def goals(values):
    postgres, mariadb = values["postgres"], values["mariadb"]

    def ratio(row, key, baseline, other=None):
        return row[key] / values[baseline][other or key]

    return [
        Goal("PostgreSQL: flushes of a pair", postgres["pair.flushes"], 1),
        Goal("MariaDB: flushes of a pair", mariadb["pair.flushes"], 1),
        Goal("PostgreSQL: server time of a pair / of INSERT, DELETE",
             ratio(postgres, "pair.server_us", "postgres.plain"), 2.5),
        Goal("MariaDB: server time of a pair / of INSERT, DELETE",
             ratio(mariadb, "pair.server_us", "mariadb.plain"), 2.5),
        Goal("PostgreSQL: hand-off of 2 / NOTIFY", ratio(postgres, "handoff_2.us",
                                                         "postgres.notify"), 3),
        Goal("PostgreSQL: hand-off of 2 / UPDATE and NOTIFY in one durable transaction",
             ratio(postgres, "handoff_2.us", "postgres.durable_notify"), 3),
        Goal("MariaDB: hand-off of 2 / hand-off of GET_LOCK",
             ratio(mariadb, "handoff_2.us", "mariadb.advisory"), 3),
        Goal("PostgreSQL: statements of a waiter, per s", postgres["waiting_1.requests_per_s"], 0),
        Goal("MariaDB: statements of a waiter, per s", mariadb["waiting_1.requests_per_s"], 0)]


def wrong_counts(values):
    """Sentences about counts that are not as they must be, with room for what a server does by
    itself."""
    limits = [("postgres", "pair.flushes", 1.3), ("mariadb", "pair.flushes", 2.3),
              # A look in 30 s, of two statements in PostgreSQL; polling would be more.
              ("postgres", "waiting_1.requests_per_s", 0.1),
              ("mariadb", "waiting_1.requests_per_s", 0.3),
              ("postgres", "hold.rows", 1), ("mariadb", "hold.rows", 1),
              ("postgres", "pair.log_bytes", 2000), ("mariadb", "pair.log_bytes", 3000),
              ("postgres", "renewal.requests", 100), ("mariadb", "renewal.requests", 100)]
    return [f"{store}: {name} is {values[store][name]:g}, above {limit}"
            for store, name, limit in limits if values[store][name] > limit]


class Page:
    def __init__(self, machine, plan, ways, rounds, values):
        self.machine, self.plan, self.ways = machine, plan, ways
        self.rounds, self.values = rounds, values

    def work(self, way, name, scale):
        """The cells of what one operation costs; a ratio to the baseline follows."""
        row = self.values[way.key]
        return [format_number(row[f"{name}.us"] / scale), format_number(row[f"{name}.server_us"]),
                format_number(row[f"{name}.log_bytes"]), format_number(row[f"{name}.flushes"])]

    def pairs(self):
        rows = [[TITLES[way.store], way.title, *self.work(way, "pair", 1)]
                for way in self.ways if way.has_pairs]
        return table(["store", "acquire + release", "p50, µs", "server's processor, µs",
                      "log, bytes", "flushes"], rows)

    def handoffs(self):
        rows = []
        for way in self.ways:
            for name, users in (("handoff_2", "2"), ("handoff_64", "64"),
                                ("handoff_2_listeners", "2, and 100 idle listeners")):
                if f"{name}.us" in self.values[way.key]:
                    rows.append([TITLES[way.store], way.title, users,
                                 *self.work(way, name, 1000)])
        return table(["store", "hand-off", "users", "p50, ms", "server's processor, µs",
                      "log, bytes", "flushes"], rows)

    def holds(self):
        keys = [("statements of one waiter, per s", "waiting_1.requests_per_s"),
                ("of each of 10 waiters of one client", "waiting_10.requests_per_s"),
                ("rows of a hold", "hold.rows"), ("bytes of its row", "hold.row_bytes"),
                ("bytes that the store grows by", "hold.bytes"),
                (f"renewal of {self.plan.holds:,} holds: requests", "renewal.requests"),
                ("flushes", "renewal.flushes"), ("log, bytes", "renewal.log_bytes"),
                ("server's processor, µs", "renewal.server_us")]
        rows = [[title, *(format_number(self.values[store][key]) for store in TITLES)]
                for title, key in keys if key in self.values["postgres"]]
        return table(["Pawl", *TITLES.values()], rows)

    def text(self):
        about = "; ".join(f"{name}: {value}" for name, value in self.machine.items())
        count = "One round" if self.plan.rounds == 1 else f"Medians of {self.plan.rounds} rounds"
        lines = ["# Pawl in databases", "", about + ".", "",
                 f"{count}. [How each row is measured](../../docs/guide/performance.md#stores).",
                 "", *self.pairs(), "", *self.handoffs(), "", *self.holds(), "",
                 *table(["goal", "measured", "limit", ""],
                        [each.row() for each in goals(self.values)])]
        return "\n".join(lines) + "\n"

    def write_json(self, path):
        path.write_text(json.dumps({"where": self.machine, "plan": vars(self.plan),
                                    "medians": self.values, "rounds": self.rounds},
                                   indent=1) + "\n")
