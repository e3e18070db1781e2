"""Makes a folder of photos that a net can learn, for measurements: noise, and a brightness that says the class.

    bench/photos.py FOLDER NUMBER SIDE [CLASSES]

PNG files of three channels, not compressed, in FOLDER/images, 1000 to a folder, and FOLDER/metadata.csv."""
import os
import struct
import sys
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(side, noise, level):
    table = bytes(min(255, b // 2 + level) for b in range(256))
    row = 3 * side
    pixels = noise[: row * side].translate(table)
    lines = b"".join(b"\0" + pixels[y * row : (y + 1) * row] for y in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 0)) + chunk(b"IEND", b"")


def main(folder, number, side, classes=3):
    number, side, classes = int(number), int(side), int(classes)
    os.makedirs(f"{folder}/images")
    with open(f"{folder}/metadata.csv", "w") as table:
        table.write("file,label,split\n")
        for i in range(number):
            if i % 1000 == 0:
                os.makedirs(f"{folder}/images/{i // 1000:04}")
            name = f"{i // 1000:04}/{i:07}.png"
            label = i % classes
            with open(f"{folder}/images/{name}", "wb") as file:
                file.write(png(side, os.urandom(3 * side * side), 120 * label // max(classes - 1, 1)))
            table.write(f"{name},c{label},{'val' if i % 50 == 49 else 'train'}\n")


main(*sys.argv[1:])
