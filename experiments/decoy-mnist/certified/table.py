#!/usr/bin/env python3
"""Prints what "run" has left in FILE.jsonl as a table in Markdown: table.py TABLE.csv FILE.jsonl

Rows are those of TABLE.csv. Per cent, average / worst group of each seed, means over seeds: accuracy, and for each box
what is certified and what an attack left standing."""
import csv
import json
import os
import statistics
import sys

BOXES = ("0.1", "0.5", "range")


def figure(lines, prefix):
    def mean(key):
        values = [line["all"].get(f"{prefix}{key}_group_accuracy") for line in lines]
        return None if None in values or not values else statistics.mean(values)

    avg, worst = mean("avg"), mean("worst")
    return ["-", "-"] if avg is None else [f"{100 * avg:.2f}", f"{100 * worst:.2f}"]


def row(name, lines):
    cells = [name] + figure(lines, "")
    for box in BOXES:
        of_box = [line for line in lines if line["eps"] == box]
        cells += figure(of_box, "certified_") + figure(of_box, "attacked_")
    return cells


def main(table, results):
    with open(results) as f:
        lines = [json.loads(line) for line in f]
    broken = sum(line.get("certified_and_broken", 0) for line in lines)
    seeds = len({line["seed"] for line in lines})
    print(f"{seeds} seed{'' if seeds == 1 else 's'}, {broken} certified examples broken by the attack.\n")
    heading = ["", "average", "worst"]
    for box in BOXES:
        label = "the range" if box == "range" else f"eps {box}"
        heading += [f"certified, {label}", "worst", "attacked", "worst"]
    print("| " + " | ".join(heading) + " |")
    print("|---" * len(heading) + "|")
    with open(table) as f:
        for r in csv.DictReader(f):
            own = [line for line in lines if line["run"] == os.path.basename(r["preset"])]
            if own:
                print("| " + " | ".join(row(r["name"], own)) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
