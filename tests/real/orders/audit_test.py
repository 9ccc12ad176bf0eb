#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The auditor finds each kind of damage, and nothing where there is none."""
import copy
import unittest

import audit


def body(number, token):
    return f"paid paid #1.{number} token={token}"


def creation():
    """Two orders, made and charged once each."""
    facts = audit.Facts(orders=["order-0", "order-1"], items=10, stock=8)
    for number, order in enumerate(facts.orders):
        facts.made.append((order, "paid"))
        facts.records["order/" + order] = (2, order)
        facts.records["charge/" + order] = (2, body(number, 5))
        facts.effects[order] = [(5, body(number, 5))]
        facts.told += [(order, "done", body(number, 5)), (order, "replayed", body(number, 5))]
    return facts


def verification():
    facts = creation()
    facts.made, facts.stock = [], 10
    facts.records = {key.replace("charge", "verify"): record
                     for key, record in facts.records.items() if key.startswith("charge")}
    return facts


def sale():
    facts = creation()
    facts.made = [(order, "sold") for order in facts.orders]
    facts.records, facts.effects = {}, {}
    facts.told = [(order, "done", "") for order in facts.orders]
    return facts


def broken(story, facts):
    """The rules that are broken, and how often."""
    return {rule: count for rule, count, _ in audit.audit(story, facts) if count}


class Audit(unittest.TestCase):
    def expect(self, story, facts, **changes):
        self.assertEqual(broken(story, facts),
                         {rule.replace("_", " "): count for rule, count in changes.items()})

    def test_right_orders(self):
        self.expect("creation", creation())
        self.expect("verification", verification())
        self.expect("sale", sale())

    def test_an_order_made_twice(self):
        facts = creation()
        facts.made.append(("order-0", "paid"))
        self.expect("creation", facts, orders_made_twice=1, items_that_stock_and_orders_miss=1)

    def test_an_item_sold_without_an_order(self):
        facts = sale()
        facts.stock -= 2
        self.expect("sale", facts, items_that_stock_and_orders_miss=2)

    def test_a_second_effect_in_order(self):
        facts = verification()
        facts.effects["order-0"].insert(0, (4, body(9, 4)))
        self.expect("verification", facts, effects_twice_outside=1)

    def test_a_late_effect(self):
        facts = verification()
        facts.effects["order-0"].append((4, body(9, 4)))
        self.expect("verification", facts, effects_twice_outside=1,
                    tokens_fell_at_the_outside=1, outside_and_ledger_differ=1)

    def test_an_order_that_is_half_done(self):
        facts = creation()
        facts.made[0] = ("order-0", "new")
        del facts.effects["order-0"]
        facts.records["charge/order-0"] = (1, "")
        facts.told = facts.told[2:]
        self.expect("creation", facts, operations_never_ended=1, orders_half_done=1)

    def test_an_effect_that_is_not_known(self):
        facts = creation()
        facts.made[0] = ("order-0", "new")
        facts.records["charge/order-0"] = (1, "")
        facts.told = facts.told[2:]
        self.expect("creation", facts, operations_never_ended=1, orders_half_done=1,
                    outside_and_ledger_differ=1)

    def test_an_order_that_is_lost(self):
        facts = creation()
        del facts.made[0]
        facts.stock += 1
        del facts.records["order/order-0"], facts.records["charge/order-0"]
        found = broken("creation", facts)
        self.assertEqual(found["told, and lost or told differently"], 1)
        self.assertEqual(found["orders without an effect"], 1)
        self.assertEqual(found["outside and ledger differ"], 1)

    def test_callers_that_were_told_differently(self):
        facts = creation()
        facts.told.append(("order-1", "replayed", "another"))
        self.assertEqual(broken("creation", facts), {"told, and lost or told differently": 1})

    def test_without_records_the_answers_are_the_ledger(self):
        facts = copy.deepcopy(verification())
        facts.records = {}
        self.expect("verification", facts)
        facts.effects["order-0"].append((0, body(9, 0)))
        self.expect("verification", facts, effects_twice_outside=1, outside_and_ledger_differ=1)

    def test_an_order_that_failed(self):
        facts = creation()
        facts.told.append(("order-1", "failed", "too many attempts"))
        self.expect("creation", facts, told_that_it_failed=1)

    def test_a_buyer_who_was_told_that_all_is_sold(self):
        facts = sale()
        del facts.made[0]
        facts.stock += 1
        facts.told[0] = ("order-0", "sold-out", "")
        self.expect("sale", facts)
        facts.told[0] = ("order-0", "error", "")
        self.expect("sale", facts, orders_without_an_effect=1)


if __name__ == "__main__":
    unittest.main()
