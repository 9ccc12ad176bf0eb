# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The results as a chart: one panel per column, in the colours of ../chart.cpp."""
import math
from html import escape

from measure import TTL
from report import COLUMNS, scaled

WIDTH, LEFT, TOP, GAP = 960, 28, 92, 40
PANEL = (WIDTH - 2 * LEFT - GAP) / 2
NAMES, BARS, ROW, HEAD = 150, 160, 19, 34

STYLE = """
  <style>
    .card { fill: #fbfbfa; stroke: #d9d9d4 } .ink { fill: #20242a } .soft { fill: #666d76 }
    .limit { fill: #b9bec6 } .good { fill: #1f8a70 } .bad { fill: #d1672b }
    .tick { stroke: #20242a } .rule { stroke: #e4e4df }
    text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
    text { font-size: 13px }
    .title { font-size: 20px; font-weight: 600 } .small { font-size: 11.5px }
    .right { text-anchor: end }
    .strong { font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .card { fill: #16191d; stroke: #31363d } .ink { fill: #e8eaed } .soft { fill: #9aa2ad }
      .limit { fill: #59616c } .good { fill: #35b896 } .bad { fill: #ec8a4f }
      .tick { stroke: #e8eaed } .rule { stroke: #262b31 }
    }
  </style>
"""


def text(x, y, classes, label):
    return f'  <text x="{x:.0f}" y="{y:.0f}" class="{classes}">{escape(label)}</text>\n'


def bar(x, y, length, kind):
    return (f'  <rect x="{x:.0f}" y="{y:.0f}" width="{max(length, 1.5):.1f}" height="11" rx="2" '
            f'class="{kind}"/>\n')


def line(x1, y1, x2, y2, classes, dash=""):
    return (f'  <line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" '
            f'class="{classes}"{dash}/>\n')


def panel(page, column, x, y):
    title, unit, less, key, small = column
    better = "" if key == "loss_s" else ", less is better" if less else ", more is better"
    out = text(x, y + 12, "ink strong", f"{title}")
    out += text(x, y + 27, "soft small", f"{unit}{', p50 · p99' if small else ''}{better}")
    values = {name: scaled(key, row[key]) for name, row in page.rows.items()}
    finite = [each for each in values.values() if math.isfinite(each)]
    most = max([*finite, TTL * 1.25 if key == "loss_s" else 0, 1e-9])
    for number, (name, value) in enumerate(values.items()):
        at = y + HEAD + number * ROW
        pawl = page.peers[name].pawl
        late = key == "loss_s" and value > TTL
        kind = "bad" if late else "good" if pawl else "limit"
        out += text(x, at + 11, "ink small strong" if pawl else "ink small", name)
        if math.isinf(value):
            out += bar(x + NAMES, at + 2, BARS, kind)
        else:
            out += bar(x + NAMES, at + 2, BARS * value / most, kind)
        out += text(x + PANEL, at + 11, "ink small right", page.cell(name, key, small))
    if key == "loss_s":
        end = x + NAMES + BARS * TTL / most
        out += line(end, y + HEAD - 2, end, y + HEAD + len(values) * ROW, "tick",
                    ' stroke-dasharray="2 2"')
    return out


def draw(page):
    height_of_panel = HEAD + len(page.rows) * ROW + 26
    height = TOP + (len(COLUMNS) + 1) // 2 * height_of_panel + 36
    machine = page.machine
    about = (f"{machine['date']} · {machine['processor']} · {machine['cores']} cores, load "
             f"{machine['load before']} before the run · {machine['server']} · medians of "
             f"{page.plan.rounds} rounds")
    title = "Pawl compared with other lock libraries"
    out = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
           f'aria-label="{title}">' + STYLE)
    out += (f'  <rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10" '
            'class="card"/>\n')
    out += text(LEFT, 42, "ink title", title) + text(LEFT, 64, "soft small", about)
    for number, column in enumerate(COLUMNS):
        x = LEFT + number % 2 * (PANEL + GAP)
        y = TOP + number // 2 * height_of_panel
        if number % 2 == 0:
            out += line(LEFT, y - 10, WIDTH - LEFT, y - 10, "rule")
        out += panel(page, column, x, y)
    y = height - 22
    out += bar(LEFT, y - 9, 12, "good") + text(LEFT + 18, y, "soft small", "Pawl")
    out += bar(LEFT + 70, y - 9, 12, "limit") + text(LEFT + 88, y, "soft small", "the others")
    out += bar(LEFT + 170, y - 9, 12, "bad")
    out += text(LEFT + 188, y, "soft small", "a loss signal after the end of the lease, or none")
    return out + text(LEFT + 470, y, "soft small", "┊ end of the lease") + "</svg>\n"
