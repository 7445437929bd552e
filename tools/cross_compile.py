"""Compiles csrc/zero for other systems, to objects only, with the clang of the package ziglang.

    pip install ziglang
    python tools/cross_compile.py [target …]

It shows that the core is portable C++20: nothing is linked and nothing is run.
"""

import argparse
import importlib.util
import os
import sys

import build_core

TARGETS = {
    "aarch64-linux-gnu": ("linux", "aarch64"),
    "x86_64-linux-musl": ("linux", "x86_64"),
    "aarch64-macos": ("darwin", "aarch64"),
    "x86_64-macos": ("darwin", "x86_64"),
    "x86_64-windows-gnu": ("windows", "x86_64"),
}


def compile_for(target: str, jobs: int | None) -> None:
    system, machine = TARGETS[target]
    command = (sys.executable, "-m", "ziglang", "c++", "-target", target)
    toolchain = build_core.Toolchain("gnu", command, system, machine)
    toolchain.check()
    folder = build_core.build_dir() / "cross" / target
    objects = build_core.compile_all(
        build_core.core_compilations(build_core.Mode(), toolchain, folder), jobs
    )
    print(f"{target}: csrc compiles to {len(objects)} objects", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile the C++ core for other systems.")
    parser.add_argument("targets", nargs="*", metavar="target", help=", ".join(TARGETS))
    parser.add_argument("-j", "--jobs", type=int, help="compilers at a time (default: all CPUs)")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.targets) - set(TARGETS))
    if unknown:
        parser.error(f"unknown target {unknown[0]!r}; expected one of {', '.join(TARGETS)}")
    if importlib.util.find_spec("ziglang") is None:
        print("error: ziglang is not installed; run pip install ziglang", file=sys.stderr)
        return 1
    # zig keeps its own compiled libraries; beside our objects they don't fill the home directory.
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(build_core.build_dir() / "zig"))
    failed = []
    for target in arguments.targets or TARGETS:
        try:
            compile_for(target, arguments.jobs)
        except build_core.BuildError as error:
            print(f"{target}: {error}", flush=True)
            failed.append(target)
    if failed:
        print(f"error: csrc does not compile for {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
