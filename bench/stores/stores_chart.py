# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

"""The results as a chart: one panel per column, with the style and shapes of the peers' chart."""
from chart import STYLE, bar, line, text
from stores_report import TITLES, format_number

WIDTH, LEFT, TOP, GAP = 960, 28, 92, 40
PANEL = (WIDTH - 2 * LEFT - GAP) / 2
NAMES, BARS, ROW, HEAD, FOOT = 238, 142, 19, 34, 26

# Title, unit, key of the results, what a unit is divided by.
PANELS = [("Acquire and release: the server's processor", "µs", "pair.server_us", 1),
          ("Acquire and release: flushes of the disk", "number", "pair.flushes", 1),
          ("Acquire and release: time", "ms, p50", "pair.us", 1000),
          ("Acquire and release: log", "bytes", "pair.log_bytes", 1),
          ("Hand-off of 2 users: the server's processor", "µs", "handoff_2.server_us", 1),
          ("Hand-off of 2 users: flushes of the disk", "number", "handoff_2.flushes", 1),
          ("Hand-off of 2 users: time", "ms, p50", "handoff_2.us", 1000),
          ("Hand-off of 2 users: log", "bytes", "handoff_2.log_bytes", 1)]


def rows_of(page, key):
    """(label, whether it is Pawl's, value) of the ways that have it."""
    return [(f"{TITLES[way.store]}: {way.title}".split(", as ")[0], not way.kind,
             page.values[way.key][key]) for way in page.ways if key in page.values[way.key]]


def panel(page, column, x, y):
    title, unit, key, scale = column
    out = text(x, y + 12, "ink strong", title)
    out += text(x, y + 27, "soft small", f"{unit}, less is better")
    rows = [(label, is_pawl, max(0, value) / scale) for label, is_pawl, value in rows_of(page, key)]
    most = max(value for *_, value in rows) or 1
    for number, (label, is_pawl, value) in enumerate(rows):
        at = y + HEAD + number * ROW
        out += text(x, at + 11, "ink small strong" if is_pawl else "ink small", label)
        out += bar(x + NAMES, at + 2, BARS * value / most, "good" if is_pawl else "limit")
        out += text(x + PANEL, at + 11, "ink small right", format_number(value))
    return out


def draw(page):
    heights = [HEAD + FOOT + ROW * max(len(rows_of(page, key)) for _, _, key, _ in pair)
               for pair in zip(PANELS[::2], PANELS[1::2])]
    height = TOP + sum(heights) + 36
    machine = page.machine
    about = (f"{machine['date']} · {machine['servers']} · {machine['cores']} cores, load "
             f"{machine['load before']} before the run · medians of {page.plan.rounds} rounds")
    title = "Pawl in databases, and the databases without Pawl"
    out = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
           f'aria-label="{title}">' + STYLE)
    out += (f'  <rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10" '
            'class="card"/>\n')
    out += text(LEFT, 42, "ink title", title) + text(LEFT, 64, "soft small", about)
    y = TOP
    for number, each in enumerate(heights):
        out += line(LEFT, y - 10, WIDTH - LEFT, y - 10, "rule")
        for side in (0, 1):
            out += panel(page, PANELS[2 * number + side], LEFT + side * (PANEL + GAP), y)
        y += each
    y = height - 22
    out += bar(LEFT, y - 9, 12, "good") + text(LEFT + 18, y, "soft small", "Pawl")
    out += bar(LEFT + 70, y - 9, 12, "limit")
    return out + text(LEFT + 88, y, "soft small", "without Pawl") + "</svg>\n"
