"""The environment in which PyTorch runs fastest here; peer.py says what is in it."""
import glob
import os
import sys

OPENBLAS = "/usr/lib/*/openblas-openmp"


def cpu_has(*flags):
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            have = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        have = []
    return all(flag in have for flag in flags)


def environment(threads, memory):
    env = dict(os.environ, R4_PEER_TUNED="1", OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="true")
    folders = glob.glob(OPENBLAS)
    if folders:
        env["LD_LIBRARY_PATH"] = ":".join(folders + [p for p in [env.get("LD_LIBRARY_PATH")] if p])
    if cpu_has("avx512f", "avx512dq", "avx512bw", "avx512vl"):
        env["ATEN_CPU_CAPABILITY"] = "avx512"
    if not memory:
        env.update(MALLOC_MMAP_THRESHOLD_=str(1 << 30), MALLOC_TRIM_THRESHOLD_=str(1 << 40),
                   MALLOC_TOP_PAD_=str(256 << 20))
    return env


def start(threads, memory=False):
    """Starts this program again in that environment: libraries read it when they are loaded."""
    if os.environ.get("R4_PEER_TUNED") == "1":
        return
    if not glob.glob(OPENBLAS):
        print("libopenblas0-openmp is missing, PyTorch is slower without it "
              "(scripts/install-deps --extra bench)", file=sys.stderr)
    os.execve(sys.executable, [sys.executable] + sys.argv, environment(threads, memory))
