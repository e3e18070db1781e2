#!/usr/bin/env python3
"""Prints the gauntlet's results as tables in Markdown: table.py [OUT]

Figures of the runs in OUT are added to results.json beside this script, from which the tables are made; "run" does not repeat what is there.

For each cell: average / worst group / predictions that change with the masked content, in per cent, means over seeds. Gap closed is
(worst group of the method - erm's) / (ceiling's - erm's), where the ceiling is at least five points above erm. Then, for each half: the
median gap closed by auto, the cells below one half, and how often the verdict at the end of training agrees with the swap test of the
test part (a tenth of the correct predictions lost); verdicts that say that they cannot tell are counted apart."""
import csv
import glob
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "results.json")
USES = 0.1


def load(path):
    with open(path) as f:
        return json.load(f)


def read(run):
    path = os.path.join(run, "eval.json")
    if not os.path.exists(path):
        return None
    j = json.load(open(path))
    swap = (j.get("swap") or {}).get("swap")
    outcomes = [{k: o[k] for k in ("verdict", "lost", "lost_error", "exchanged")} for o in map(load, sorted(glob.glob(os.path.join(run, "seed-*", "outcome.json"))))]
    return {
        "average": 100 * j["avg_group_accuracy"],
        "worst": 100 * j["worst_group_accuracy"],
        "changed": 100 * swap["flipped_share"] if swap else None,
        "lost": swap["lost_share"] if swap else None,
        "method": j["method"],
        "seeds": len(outcomes),
        "outcomes": outcomes,
        "validation": validation(run),
    }


def figure(r):
    if not r:
        return ""
    changed = f" / {r['changed']:.1f}" if r["changed"] is not None else ""
    return f"{r['average']:.1f} / {r['worst']:.1f}{changed}"


def closed(r, erm, ceiling):
    if not (r and erm and ceiling) or ceiling["worst"] - erm["worst"] < 5:
        return None
    return (r["worst"] - erm["worst"]) / (ceiling["worst"] - erm["worst"])


def verdicts(runs):
    """Agreeing, disagreeing and undecided ones of runs whose test part has a swap test. With masks on one class, all but "uses" says
    that the other classes were not measured."""
    agree = disagree = undecided = 0
    for r, masks in runs:
        for o in r["outcomes"] if r["lost"] is not None else []:
            if o["verdict"] in ("unknown", "may use", "collapsed") or (masks == "one" and o["verdict"] != "uses"):
                undecided += 1
            elif (o["verdict"] in ("uses", "reacts")) == (r["lost"] >= USES):  # "reacts" loses as much, for another reason
                agree += 1
            else:
                disagree += 1
    return agree, disagree, undecided


def validation(run):
    """What the seeds of a run have in validation at their end: means of score, its error and changed predictions."""
    lines = [open(p).readlines()[-1] for p in sorted(glob.glob(os.path.join(run, "seed-*", "log.jsonl")))]
    vals = [json.loads(line).get("val", {}) for line in lines]
    if not vals or any(v.get("of") != "exchanged" for v in vals):
        return None
    return {k: statistics.mean(v[k] for v in vals) for k in ("score", "avg_se", "changed")}


def pick(vals):
    """As r4 sweep picks: within one standard error of the highest score, the fewest changed predictions."""
    top = max(vals, key=lambda m: vals[m]["score"])
    tied = [m for m in vals if vals[m]["score"] >= vals[top]["score"] - vals[top]["avg_se"]]
    return min(tied, key=lambda m: vals[m]["changed"])


def main():
    cells = list(csv.DictReader(open(os.path.join(HERE, "cells.csv"))))
    methods = ["ceiling", "erm", "auto", "fill", "r3", "cert-r4+r3", "pairing", "cert-r4+pairing"]
    kept = load(KEPT) if os.path.exists(KEPT) else {}
    for c in cells if len(sys.argv) > 1 else []:
        for m in methods:
            r = read(os.path.join(sys.argv[1], "runs", c["name"], m))
            if r:
                kept[f"{c['name']}/{m}"] = r
    with open(KEPT, "w") as f:
        json.dump(kept, f, indent=0, sort_keys=True)
        f.write("\n")
    there = {(c["name"], m): kept.get(f"{c['name']}/{m}") for c in cells for m in methods}
    methods = [m for m in methods if any(there[c["name"], m] for c in cells)]
    for half in ("tune", "report"):
        print(f"\n**{'Tuned on' if half == 'tune' else 'Not looked at while tuning'}**\n")
        print("| cell | " + " | ".join(methods) + " | auto took | gap closed |")
        print("|---|" + "---|" * (len(methods) + 2))
        gaps, runs, regrets = [], [], []
        for c in [c for c in cells if c["half"] == half]:
            row = {m: there[c["name"], m] for m in methods}
            runs += [(r, c["masks"]) for r in row.values() if r]
            tried = {r["method"]: r for m, r in row.items() if r and m != "ceiling"}  # auto is the method that it took
            vals = {m: r["validation"] for m, r in tried.items()}
            if len(tried) > 1 and all(vals.values()):
                picked = pick(vals)
                regrets.append((max(r["worst"] for r in tried.values()) - tried[picked]["worst"], c["name"], picked))
            gap = closed(row.get("auto"), row.get("erm"), row.get("ceiling"))
            if gap is not None:
                gaps.append((gap, c["name"]))
            took = row["auto"]["method"] if row.get("auto") else ""
            print(f"| {c['name']} | " + " | ".join(figure(row[m]) for m in methods) + f" | {took} | {'' if gap is None else f'{100 * gap:.0f} %'} |")
        agree, disagree, undecided = verdicts(runs)
        if gaps:
            low = ", ".join(n for g, n in gaps if g < 0.5)
            print(f"\nMedian gap closed by auto: {100 * statistics.median(g for g, _ in gaps):.0f} % of {len(gaps)} cells; below one half: {low or 'none'}.")
        for regret, name, picked in regrets:
            print(f"- {name}: a sweep over these methods picks {picked}, {regret:.1f} points below the best in the worst group of the test")
        print(f"Verdicts: {agree} agree with the swap test of the test part, {disagree} do not, {undecided} cannot tell.")


if __name__ == "__main__":
    main()
