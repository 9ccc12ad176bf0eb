# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The results of redlock.py as a page, as JSON and as a chart."""
import json
import os
import statistics
from html import escape

from measure import CLIENTS, USERS
from report import first_line, format_number

# How many servers have failed, and how.
STATES = [(0, "down"), (1, "killed"), (2, "killed"), (1, "frozen"), (2, "frozen")]
GOAL = 1.3  # of the round trips to the slowest server that a majority needs


def name_of(state):
    count, kind = state
    return "all five answer" if count == 0 else f"{count} {kind}"


def median(values):
    """None if most rounds have no value."""
    numbers = [each for each in values if each is not None]
    return statistics.median(numbers) if len(numbers) * 2 > len(values) else None


def medians(rows):
    return {name: {key: median(values) for key, values in row.items()}
            for name, row in rows.items()}


def microseconds(value):
    return "–" if value is None else format_number(value)


class Page:
    def __init__(self, machine, rounds, results, left_out):
        """`results`: states, peers and others, each {row: {column: values of the rounds}}."""
        self.machine = machine
        self.rounds = rounds
        self.results = results
        self.left_out = left_out
        self.states = medians(results["states"])
        self.peers = medians(results["peers"])
        self.costs = {key: median(values) for key, values in results["costs"].items()}

    def pairs(self, place):
        return [(name_of(state), self.states[key]) for state in STATES
                if (key := f"{place} {name_of(state)}") in self.states]

    def pair_table(self, place):
        lines = ["| a pair | p50, µs | the slowest needed server alone, µs | ratio "
                 "| all at once without Pawl, µs | ratio | the longest pair after a failure, ms |",
                 "|--|--|--|--|--|--|--|"]
        for name, row in self.pairs(place):
            ratio = f"{row['ratio']:.2f}"
            if row["ratio"] > GOAL:
                ratio = f"**{ratio}**"
            noticed = format_number(row["noticed_us"] / 1000) if row["noticed_us"] else "–"
            lines.append(f"| {name} | {format_number(row['pawl_us'])} "
                         f"| {format_number(row['alone_us'])} | {ratio} "
                         f"| {format_number(row['all_us'])} | {row['ratio_all']:.2f} "
                         f"| {noticed} |")
        return lines

    def cost_table(self):
        columns = [("requests", "requests"), ("commands of the servers", "commands"),
                   ("bytes, both ways", "bytes"), ("instructions of the client", "instructions"),
                   ("pairs/s of 1,000 coroutines", "load_pairs_per_s"),
                   ("processor time of the client, µs per pair", "load_client_us"),
                   ("of all servers, µs per pair", "load_server_us")]
        lines = ["| | " + " | ".join(title for title, _ in columns) + " |",
                 "|--|" + "--|" * len(columns)]
        for title, name in (("one server", "one"), ("Redlock, five servers", "five")):
            cells = [microseconds(self.costs.get(f"{name}_{key}")) for _, key in columns]
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
        return lines

    def peer_table(self):
        states = [name_of(each) for each in STATES]
        lines = ["| five servers | " + " | ".join(f"pair, {each}" for each in states)
                 + f" | hand-off, 2 contenders, ms | hand-off, {USERS} contenders in {CLIENTS} "
                 "clients, ms |", "|--|" + "--|" * (len(states) + 2)]
        for name, row in self.peers.items():
            cells = [microseconds(row.get(each)) for each in states]
            for users in (2, USERS):
                value = row.get(f"handoff_{users}_us")
                cells.append("–" if value is None else format_number(value / 1000))
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return lines

    def text(self):
        title = "One round" if self.rounds == 1 else f"Medians of {self.rounds} rounds"
        costs = self.costs
        delays = ", ".join(str(each) for each in self.machine["delays_ms"])
        lines = ["# Redlock over five servers", "",
                 f"{title}. {self.machine['processor']}, {self.machine['cores']} cores, load "
                 f"before {self.machine['load before']}. "
                 "[How it is measured](../../docs/guide/performance.md#redlock).", "",
                 f"Servers whose round trips take {delays} ms longer, of which the first ones "
                 f"fail. Above {GOAL} in bold.", "", *self.pair_table("far"), "",
                 "All servers on the client's machine, which has fewer processors than there are "
                 "servers.", "", *self.pair_table("near"), "", *self.cost_table(), "",
                 f"Renewal of 10,000 holds: {format_number(costs['renew_requests'])} requests for "
                 f"each node and third of the ttl, {format_number(costs['renew_lost'])} lost; "
                 f"processor time of the client {costs['renew_client_s'] * 100:.1f} %, of each "
                 f"node {costs['renew_server_s'] * 100:.1f} %."]
        if self.peers:
            lines += ["", "Beside other libraries, all servers on the client's machine; p50 in "
                      "µs, and – where a library did not go on.", "", *self.peer_table()]
        lines += [""] + [f"Left out: {name}: {why.splitlines()[0]}"
                         for name, why in self.left_out.items()]
        return "\n".join(lines).rstrip() + "\n"

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "redlock.md").write_text(self.text())
        (folder / "redlock.json").write_text(json.dumps(
            {"where": self.machine, "rounds": self.results, "left_out": self.left_out},
            indent=1, ensure_ascii=False) + "\n")
        (folder / "redlock.svg").write_text(draw(self))


def machine_info(delays):
    return {"processor": first_line("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
            "load before": f"{os.getloadavg()[0]:.2f}", "delays_ms": list(delays)}


def draw(page):
    """The pairs beside the round trips to the slowest needed server."""
    # The chart of the peers has the style and the shapes.
    from chart import STYLE, bar, line, text
    width, left, names, row_height = 760, 28, 140, 46
    rows = page.pairs("far")
    height = 110 + row_height * len(rows) + 40
    most = max(max(row["pawl_us"], row["alone_us"]) for _, row in rows)
    length = width - 2 * left - names - 130
    title = "A Redlock pair over five servers"
    about = (f"p50 · round trips of {page.machine['delays_ms'][0]} to "
             f"{page.machine['delays_ms'][-1]} ms · {page.machine['cores']} cores, load "
             f"{page.machine['load before']} before the run")
    out = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
           f'aria-label="{escape(title)}">' + STYLE)
    out += (f'  <rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10" '
            'class="card"/>\n')
    out += text(left, 42, "ink title", title) + text(left, 64, "soft small", about)
    for number, (name, row) in enumerate(rows):
        y = 96 + number * row_height
        out += line(left, y - 8, width - left, y - 8, "rule") + text(left, y + 18, "ink", name)
        for offset, key, kind in ((2, "pawl_us", "good"), (16, "alone_us", "limit")):
            out += bar(left + names, y + offset, length * row[key] / most, kind)
        out += text(width - left, y + 18, "ink small right",
                    f"{row['pawl_us'] / 1000:.1f} ms · {row['ratio']:.2f} ×")
    y = height - 22
    out += bar(left, y - 9, 12, "good") + text(left + 18, y, "soft small", "Pawl")
    out += bar(left + 70, y - 9, 12, "limit")
    return out + text(left + 88, y, "soft small",
                      "the same requests to the slowest needed server alone") + "</svg>\n"
