"""How the peers time a step, and how "r4 bench" does: samples that nobody disturbed count."""
import glob
import statistics
import time


def waited():
    """Seconds that our threads were ready but had no CPU."""
    total = 0
    for path in glob.glob("/proc/self/task/*/schedstat"):
        try:
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[1])
        except OSError:
            pass
    return total * 1e-9


def sample(step, repeats):
    """Seconds per step, and whether nobody disturbed it."""
    wait, start = waited(), time.perf_counter()
    for _ in range(repeats):
        step()
    spent = time.perf_counter() - start
    return spent / repeats, waited() - wait < 0.02 * spent


def measure(step, clean, limit):
    """Median milliseconds of the clean samples (of the faster half, if there are too few), how many, of how many."""
    for _ in range(2):
        step()
    repeats = max(1, int(0.005 / sample(step, 1)[0]))
    good, every, start = [], [], time.perf_counter()
    while len(good) < clean and (time.perf_counter() - start < limit or len(every) < 3):
        seconds, is_clean = sample(step, repeats)
        every.append(seconds)
        if is_clean:
            good.append(seconds)
    used = good if len(good) >= 3 else sorted(every)[: (len(every) + 1) // 2]
    return statistics.median(used) * 1e3, len(good), len(every)
