"""The throw-away project in which the demo works."""

from pathlib import Path

BUG = "    return sum(values) / len(values)"
"""In ``stats.py``: fails for no values at all, and one of the tests says so."""

FIX = "    return sum(values) / max(len(values), 1)"

_FILES = {
    "README.md": """\
# Harbour

A tiny program that sums up how many boats came into the harbour. It exists for the demo of hermes-tui and nothing
else: change it, break it, delete it.

    python3 report.py        prints a report of boats.csv
    python3 -m unittest      runs the tests
""",
    "stats.py": f'''\
"""Numbers about lists of numbers."""


def total(values):
    return sum(values)


def average(values):
{BUG}


def busiest(days):
    """Return the name of the day with the most boats."""
    return max(days, key=days.get)
''',
    "report.py": '''\
"""Print a report of boats.csv."""

import csv

from stats import average, busiest, total


def load(path):
    with open(path, newline="") as file:
        return {row["day"]: int(row["boats"]) for row in csv.DictReader(file)}


def main():
    days = load("boats.csv")
    print(f"{total(days.values())} boats, {average(days.values()):.1f} a day, most of them on {busiest(days)}")


if __name__ == "__main__":
    main()
''',
    "test_stats.py": """\
import unittest

from stats import average, busiest


class StatsTest(unittest.TestCase):
    def test_average(self):
        self.assertEqual(average([1, 2, 3]), 2)

    def test_average_of_nothing(self):
        self.assertEqual(average([]), 0)

    def test_busiest(self):
        self.assertEqual(busiest({"Monday": 1, "Friday": 7}), "Friday")


if __name__ == "__main__":
    unittest.main()
""",
    "boats.csv": """\
day,boats
Monday,4
Tuesday,2
Wednesday,5
Thursday,3
Friday,9
Saturday,12
Sunday,11
""",
    "build/report.o": "not really an object file\n",
    "build/cache/index.bin": "0123456789\n",
}


def prepare_demo_folder(path: Path) -> Path:
    """Write the project into ``path``, made if needed; files of the same name are replaced. Returns ``path``.

    Raises OSError where the folder cannot be written.
    """
    for name, text in _FILES.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path
