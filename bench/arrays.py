"""Makes an npz file of photos that a net can learn, as bench/photos.py does: noise, and a brightness that says the class.

    bench/arrays.py FILE.npz NUMBER SIDE [CLASSES]

The arrays x_train and y_train, not compressed. It needs no NumPy, and as little memory as one photo."""
import os
import struct
import sys
import zipfile


def head(kind, shape):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


def main(file, number, side, classes=3):
    number, side, classes = int(number), int(side), int(classes)
    size = side * side * 3
    noise = os.urandom(1 << 20) + os.urandom(size)
    tables = [bytes(min(255, b // 2 + 100 * c // max(1, classes - 1)) for b in range(256)) for c in range(classes)]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as z:
        with z.open("x_train.npy", "w", force_zip64=True) as f:
            f.write(head("|u1", (number, side, side, 3)))
            for i in range(number):
                at = i * 7919 % (1 << 20)
                f.write(noise[at : at + size].translate(tables[i % classes]))
        z.writestr("y_train.npy", head("|u1", (number,)) + bytes(i % classes for i in range(number)))


if __name__ == "__main__":
    main(*sys.argv[1:])
