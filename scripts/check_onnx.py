"""What others make of the files that r4 writes: ONNX's own checker, and the logits of ONNX Runtime next to r4's.

    R4_ONNX_DIR=DIR build/test/test_onnx    # leaves case-0000.onnx, and beside it examples and logits as r4 has them
    python3 scripts/check_onnx.py DIR       # needs numpy, onnx and onnxruntime; without them it says so, and exits with 1

Examples are laid out by the notes of a file alone ("input", "layout"), as a stranger would do it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

BATCH = 3
LIMIT = 1e-5  # of the largest logit of a file, or of 1 if that is smaller

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
except ImportError as missing:
    sys.exit(f"check_onnx: nothing was compared: {missing}")


def notes_of(model: onnx.ModelProto) -> dict[str, str]:
    return {p.key: p.value for p in model.metadata_props}


def read_case(path: Path, model: onnx.ModelProto) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Inputs by name, and r4's logits."""
    numbers = np.fromfile(path.with_suffix(".bin"), dtype=np.float32)
    shape = json.loads(notes_of(model)["input"])
    classes = model.graph.output[0].type.tensor_type.shape.dim[1].dim_value
    given, want = numbers[: -BATCH * classes], numbers[-BATCH * classes :].reshape(BATCH, classes)
    x, mask = (given, None) if given.size == BATCH * np.prod(shape) else np.split(given, 2)
    x = x.reshape(BATCH, *shape)
    if notes_of(model)["layout"] == "NCHW":
        x = x.transpose(0, 3, 1, 2)
    inputs = {}
    for v in model.graph.input:
        value = mask.reshape(BATCH, *shape) if v.name == "attention_mask" else x
        whole = v.type.tensor_type.elem_type == onnx.TensorProto.INT64
        inputs[v.name] = value.astype(np.int64 if whole else np.float32)
    return inputs, want


def check(path: Path) -> tuple[float, set[str]]:
    """The largest difference, relative to the logits, and the operators of the file."""
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    inputs, want = read_case(path, model)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    got = session.run(["logits"], inputs)[0]
    scale = max(float(np.abs(want).max()), 1)
    return float(np.abs(got - want).max()) / scale, {n.op_type for n in model.graph.node}


def main() -> int:
    worst, where, operators, failed = 0.0, None, set(), 0
    paths = sorted(Path(sys.argv[1]).glob("case-*.onnx"))
    for path in paths:
        try:
            difference, found = check(path)
        except Exception as e:  # whatever they raise is what this is about
            print(f"{path.name}: {type(e).__name__}: {e}\n  {notes_of(onnx.load(path)).get('net')}")
            failed += 1
            continue
        operators |= found
        if difference > worst:
            worst, where = difference, path.name
        if not difference <= LIMIT:
            print(f"{path.name}: differs by {difference:.2g}: {notes_of(onnx.load(path)).get('net')}")
            failed += 1
    print(f"check_onnx: {len(paths)} nets, {len(operators)} operators, onnxruntime {ort.__version__}: "
          f"largest difference {worst:.2g} ({where}), {failed} failed")
    return 1 if failed or not paths else 0


sys.exit(main())
