"""The outcome: tables in Markdown, and a line for each goal."""
import statistics


def median(numbers):
    return statistics.median(list(numbers))


def number(value):
    """1234567.8 -> 1,234,568; small ones keep what matters."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"


def table(title, columns, rows):
    """Columns are names; rows are lists, the first cell a name."""
    texts = [[number(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [columns] + texts) for i in range(len(columns))]

    def line(cells):
        return "| " + " | ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(cells, widths))) + " |"

    print(f"\n{title}\n")
    print(line(columns))
    print("|" + "|".join("-" * (width + 1) + ("-" if i == 0 else ":") for i, width in enumerate(widths)) + "|")
    for text in texts:
        print(line(text))


class Goals:
    """Collects goals and prints them last, so that a script's closing lines can be read by another."""

    def __init__(self):
        self.lines = []

    def at_least(self, name, value, bound):
        self.add(name, value, bound, value >= bound)

    def at_most(self, name, value, bound):
        self.add(name, value, bound, value <= bound)

    def add(self, name, value, bound, met):
        self.lines.append(f"goal {name} measured {value:.5g} bound {bound:.5g} {'met' if met else 'short'}"
                          if max(abs(value), abs(bound)) < 100 else
                          f"goal {name} measured {value:.0f} bound {bound:.0f} {'met' if met else 'short'}")

    def print(self):
        print()
        for line in self.lines:
            print(line)
