"""Tell Meson where a wheel keeps its C++ headers and libraries.

    wheel_sdk.py pyarrow|torch include|lib|link

`link` prints one linker argument per library of the wheel that the build uses. The names
carry the wheel's version suffix (libarrow.so.2600), so they are read from its folder.
The wheel is located without importing it: importing torch takes seconds.
"""

import importlib.util
import pathlib
import sys

LIBRARIES = {
    "pyarrow": ["arrow", "arrow_compute", "arrow_acero", "arrow_dataset", "parquet"],
    "torch": ["torch", "torch_cpu", "c10"],
}
INCLUDES = {
    "pyarrow": ["include"],
    "torch": ["include", "include/torch/csrc/api/include"],
}
LIBRARY_FOLDER = {"pyarrow": ".", "torch": "lib"}


def main() -> None:
    wheel, question = sys.argv[1:]
    spec = importlib.util.find_spec(wheel)
    if spec is None or spec.origin is None:
        sys.exit(f"wheel_sdk: {wheel} is not installed; run tools/setup.sh")
    root = pathlib.Path(spec.origin).parent
    libraries = (root / LIBRARY_FOLDER[wheel]).resolve()
    if question == "include":
        answer = [str(root / folder) for folder in INCLUDES[wheel]]
    elif question == "lib":
        answer = [str(libraries)]
    else:
        answer = []
        for name in LIBRARIES[wheel]:
            found = sorted(libraries.glob(f"lib{name}.so*"), key=lambda path: len(path.name))
            if not found:
                sys.exit(f"wheel_sdk: lib{name}.so is not in {libraries}")
            answer.append(f"-l:{found[0].name}")
    print("\n".join(answer))


main()
