#!/usr/bin/env python3
"""Prints src/picture/font.c: the letters of DejaVu Sans in two sizes, for pictures.

    apt-get install fonts-dejavu-core && python3 -m venv v && v/bin/pip install pillow
    v/bin/python scripts/font.py /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf > src/picture/font.c
"""
import sys

from PIL import Image, ImageDraw, ImageFont

CODES = [*range(0x20, 0x7F), *range(0xA0, 0x100)]
SIZES = {"small": 11, "large": 16}


def glyph(font, top, code):
    """Pixels of 16 shades, from the top of capitals on: advance, left, top, width, height, shades."""
    on = Image.new("L", (64, 64))
    ImageDraw.Draw(on).text((16, 32), chr(code), fill=255, font=font, anchor="ls")
    on = on.point(lambda v: round(v / 17))
    left, first, right, last = on.getbbox() or (16, 32, 16, 32)
    shades = "".join("%x" % v for v in on.crop((left, first, right, last)).tobytes())
    return round(font.getlength(chr(code))), left - 16, first - 32 + top, right - left, last - first, shades


def wrapped(words, width):
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
        line += (" " if line else "") + word
    yield line


print("""/* DejaVu Sans (free, from Bitstream Vera) in two sizes: printable ASCII, then Latin-1 from U+00A0 on. Made by
 * scripts/font.py. A pixel is a hexadecimal digit, from 0 (ground) to f (ink). */
/* clang-format off */
#include "picture/font.h"
""")
for name, size in SIZES.items():
    font = ImageFont.truetype(sys.argv[1], size)
    top = -font.getbbox("H", anchor="ls")[1]
    entries, pixels = [], ""
    for code in CODES:
        advance, left, first, width, height, shades = glyph(font, top, code)
        entries.append("{%d,%d,%d,%d,%d,%d}," % (advance, left, first, width, height, len(pixels)))
        pixels += shades
    print(f"static const struct glyph {name}[GLYPHS] = {{")
    print("\n".join("  " + line for line in wrapped(entries, 112)))
    print(f"}};\n\nstatic const char {name}_pixels[] =")
    print("\n".join(f'  "{pixels[i:i + 112]}"' for i in range(0, len(pixels), 112)) + ";\n")
    descent = max(glyph(font, top, code)[2] + glyph(font, top, code)[4] - top for code in CODES)
    print(f"const struct font font_{name} = {{{top}, {descent}, {name}, {name}_pixels}};\n")
