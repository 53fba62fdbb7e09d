"""Turn the scripts and style sheets of the HTML report into C++ constants.

    embed_text.py OUTPUT.cc UPLOT_FOLDER STYLE.css SCRIPT.js...

The page's Content-Security-Policy names its scripts by hash, so the hash is taken here, of the
very bytes that go between the tags.
"""

import base64
import hashlib
import pathlib
import sys

# Compilers need not take a longer literal than 65,536 bytes, and some stop at a quarter of it.
PIECE_BYTES = 12_000

# uPlot draws as finely as the screen is. At least twice that keeps print sharp; the property is
# one that a page may replace.
FINENESS = "window.devicePixelRatio = Math.max(2, window.devicePixelRatio || 1);"


def script_text(name, text):
    # Inside a script these end it, or change how the parser reads on.
    for mark in ("</script", "<script", "<!--"):
        if mark in text.lower():
            raise SystemExit(f"{name}: a script inside a page must not hold `{mark}`")
    return text.encode()


def style_text(name, text):
    if "</style" in text.lower():
        raise SystemExit(f"{name}: a style sheet inside a page must not hold `</style`")
    return text.encode()


def one_script(paths):
    """Files that share one scope and leave nothing in the page's."""
    parts = "\n".join(pathlib.Path(path).read_text() for path in paths)
    return f'(() => {{\n"use strict";\n\n{parts}}})();\n'


def literal(piece):
    special = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\t"): "\\t"}
    written = []
    for byte in piece:
        # Three octal digits end an escape whatever follows, unlike hexadecimal ones.
        plain = 32 <= byte < 127 and byte != ord("?")
        written.append(special.get(byte) or (chr(byte) if plain else f"\\{byte:03o}"))
    return '"' + "".join(written) + '"'


def constant(name, data):
    pieces = [data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES)]
    rows = "".join(f"    {literal(piece)},\n" for piece in pieces)
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    return (
        f"constexpr std::string_view k{name}Pieces[] = {{\n{rows}}};\n"
        f'const EmbeddedText k{name} = {{k{name}Pieces, "sha256-{digest}"}};\n\n'
    )


def main(output, uplot_folder, style, *scripts):
    uplot = pathlib.Path(uplot_folder)
    licence = (uplot / "LICENSE").read_text().strip()
    if "*/" in licence:
        raise SystemExit("uPlot's licence does not fit into a comment")
    drawing = (uplot / "dist" / "uPlot.iife.min.js").read_text().strip()
    texts = {
        "UplotScript": script_text("uPlot", f"/*! uPlot\n\n{licence}\n*/\n{FINENESS}\n{drawing}\n"),
        "UplotStyle": style_text("uPlot", (uplot / "dist" / "uPlot.min.css").read_text()),
        "ReportScript": script_text("the report's script", one_script(scripts)),
        "ReportStyle": style_text(style, pathlib.Path(style).read_text()),
    }
    source = '// Made by tools/embed_text.py.\n#include "report/embedded_text_internal.h"\n\n'
    source += "namespace coden {\n\n"
    source += "".join(constant(name, data) for name, data in texts.items())
    pathlib.Path(output).write_text(source + "}  // namespace coden\n")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
