#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The auditor of `./dev proof --on orders`. It reads what is stored when all is quiet: the shop's
tables and records through psql, the log of the service outside, and what callers were told. It
shares no code with the library, and knows no more of it than the columns of its table.

Prints a line for each rule: its name, how often it is broken, and some orders that break it.
"""
import argparse
import collections
import dataclasses
import re
import subprocess
import sys

EXAMPLES = 5
DONE = ("done", "replayed")
# The operation of a program whose effect is outside, by the prefix of its record's key.
OUTSIDE = {"verification": "verify/", "creation": "charge/"}


@dataclasses.dataclass
class Facts:
    """What is stored, and what was told."""
    orders: list = dataclasses.field(default_factory=list)  # names of all orders
    made: list = dataclasses.field(default_factory=list)  # (order, state) of the shop's table
    records: dict = dataclasses.field(default_factory=dict)  # key -> (state, result)
    effects: dict = dataclasses.field(default_factory=dict)  # order -> [(token, body)], in order
    told: list = dataclasses.field(default_factory=list)  # (order, state, value)
    items: int = 0  # of the stock at the beginning
    stock: int = 0  # and now


def disagreements(story, facts):
    """Orders whose effect outside is not what the ledger says."""
    prefix = OUTSIDE[story]
    paid = {order for order, state in facts.made if state == "paid"}
    told = collections.defaultdict(set)
    for order, state, value in facts.told:
        if state in DONE:
            told[order].add(value)
    for order in facts.orders:
        bodies = [body for _, body in facts.effects.get(order, [])]
        if facts.records:
            state, result = facts.records.get(prefix + order, (0, ""))
            known, values = state == 2, {result}
        else:  # nothing but the answers says what was done
            known, values = order in told, told[order]
        if story == "creation" and (order in paid) != bool(bodies):
            yield order
        elif known != bool(bodies) or (known and bodies[-1] not in values):
            yield order


def lost(story, facts):
    """Orders of which a caller was told, and that are not there or were told differently."""
    values = collections.defaultdict(set)
    for order, state, value in facts.told:
        if state in DONE:
            values[order].add(value)
    made = {order for order, state in facts.made if state != "new"}
    for order, all_values in values.items():
        missing = order not in made if story != "verification" else order not in facts.effects
        if missing or len(all_values) > 1:
            yield order


def without_effect(story, facts):
    sold_out = {order for order, state, _ in facts.told if state == "sold-out"}
    made = {order for order, _ in facts.made}
    for order in facts.orders:
        has_effect = order in facts.effects if story == "verification" else order in made
        if not has_effect and order not in sold_out:
            yield order


def fallen_tokens(facts):
    """Orders at which the outside accepted a smaller token behind a larger one."""
    for order, effects in facts.effects.items():
        tokens = [token for token, _ in effects if token]
        if tokens != sorted(tokens):
            yield order


def audit(story, facts):
    """[(rule, count, examples)]"""
    times = collections.Counter(order for order, _ in facts.made)
    broken = {
        "orders made twice": [order for order in times if times[order] > 1],
        "effects twice outside": [order for order, all in facts.effects.items() if len(all) > 1],
        "outside and ledger differ":
            list(disagreements(story, facts)) if story in OUTSIDE else [],
        "tokens fell at the outside": list(fallen_tokens(facts)),
        "operations never ended": [key for key, (state, _) in facts.records.items() if state == 1],
        "orders half done": [order for order, state in facts.made if state == "new"],
        "orders without an effect": list(without_effect(story, facts)),
        "told, and lost or told differently": list(lost(story, facts)),
        "told that it failed":
            [order for order, state, _ in facts.told if state in ("failed", "mismatch")],
    }
    rules = [(rule, len(names), names[:EXAMPLES]) for rule, names in broken.items()]
    if story != "verification":
        difference = abs(facts.items - facts.stock - len(facts.made))
        rules.insert(1, ("items that stock and orders miss", difference, []))
    return rules


def query(options, text):
    """The rows of a query, as lists of strings."""
    answer = subprocess.run(
        [options.psql, options.database, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c",
         f"COPY ({text}) TO STDOUT"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line.split("\t") for line in answer.splitlines()]


def read_effects(path):
    """The log of the outside has TIME KEY RESOURCE TOKEN BODY. The headers may be missing, so the
    attempt's token is that at the end of the body."""
    effects = collections.defaultdict(list)
    with open(path, encoding="utf-8") as log:
        for line in log:
            _, _, resource, _, body = line.rstrip("\n").split(" ", 4)
            token = int(re.search(r" token=(\d+)$", body)[1])
            effects[resource.rsplit("/", 1)[1]].append((token, body))
    return dict(effects)


def read_facts(options):
    """Reads all sources."""
    facts = Facts(orders=[f"order-{i}" for i in range(options.orders)], items=options.items)
    table = ("SELECT request, 'sold' FROM purchases" if options.story == "sale"
             else "SELECT id, state FROM orders")
    facts.made = [tuple(row) for row in query(options, table)]
    for key, state, result in query(
            options, "SELECT convert_from(once_key, 'UTF8'), state, "
            "coalesce(convert_from(result, 'UTF8'), '') FROM pawl_once"):
        facts.records[key] = (int(state), result)
    facts.stock = int(query(options, "SELECT coalesce(sum(items), 0) FROM stock")[0][0])
    facts.effects = read_effects(options.outside)
    with open(options.answers, encoding="utf-8") as answers:
        for line in answers:
            facts.told.append(tuple(line.rstrip("\n").split("\t", 2)))
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("story", "psql", "database", "outside", "answers"):
        parser.add_argument("--" + name, required=True)
    for name in ("orders", "items"):
        parser.add_argument("--" + name, type=int, required=True)
    options = parser.parse_args()
    for rule, count, examples in audit(options.story, read_facts(options)):
        print(rule, count, " ".join(examples), sep="\t")


if __name__ == "__main__":
    sys.exit(main())
