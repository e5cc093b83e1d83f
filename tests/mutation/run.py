# SPDX-License-Identifier: MIT
"""Runs the tests that must notice once for each mutant that plant.py has planted.

    run.py PROGRAMS [FILE…]     PROGRAMS: the folder of the test programs; FILE: only its mutants

A mutant is caught if a program fails, crashes or does not end. Survivors are shown, each with its
key: either a new test catches it, or explained.txt says why none can. There, lines that begin in
the first column are keys, and the indented ones below are the reason. What is explained but caught,
or there no more, is shown too: each of these is a failure.
"""
import concurrent.futures
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

from subjects import SUBJECTS

HERE = pathlib.Path(__file__).resolve().parent
MEMORY_MAX = 2 << 30  # A loop that never ends must not take the machine's.


def limit_resources():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def passes(program, number, limit):
    try:
        return subprocess.run(
            [program, "--gtest_brief=1", "--gtest_break_on_failure"], timeout=limit,
            env=os.environ | {"SPILLWAY_MUTANT": str(number)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit_resources,
        ).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def times_of(programs):
    """How long each program takes without a mutant. All must pass."""
    times = {}
    for program in sorted(programs):
        began = time.monotonic()
        if not passes(program, 0, 300):
            raise SystemExit(f"mutants: {program.name} fails without any mutant: mend that first")
        times[program] = time.monotonic() - began
    return times


def explained_keys():
    """The keys of explained.txt. Several in a row share the reason below them."""
    keys, unexplained = set(), []
    for line in (HERE / "explained.txt").read_text().splitlines():
        if line.startswith(" "):
            unexplained = []
        elif line and not line.startswith("#"):
            if line in keys:
                raise SystemExit(f"mutants: explained twice: {line}")
            keys.add(line)
            unexplained.append(line)
    if unexplained:
        raise SystemExit(f"mutants: explained.txt gives no reason for: {unexplained[0]}")
    return keys


def survivors_of(mutants, folder):
    """Yields them as they are found, in order."""
    programs = {path: [folder / name for name in names]
                for paths, names in SUBJECTS for path in paths}
    times = times_of({each for mutant in mutants for each in programs[mutant["path"]]})

    def survives(mutant):
        return all(passes(program, mutant["number"], 10 + 5 * times[program])
                   for program in sorted(programs[mutant["path"]], key=times.get))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, survived in enumerate(pool.map(survives, mutants)):
            if sys.stdout.isatty():
                print(f"{done + 1} of {len(mutants)}", end="\r", flush=True)
            if survived:
                yield mutants[done]


def main(folder, *paths):
    mutants = json.loads((HERE.parents[1] / "build" / "mutants.json").read_text())
    known = {mutant["path"] for mutant in mutants}
    if unknown := set(paths) - known:
        raise SystemExit(f"mutants: not mutated: {' '.join(sorted(unknown))}")
    chosen = set(paths) or known
    mutants = [mutant for mutant in mutants if mutant["path"] in chosen]
    explained = {key for key in explained_keys()
                 if key.split(" | ")[0] in chosen or not paths}

    survivors = []
    for mutant in survivors_of(mutants, pathlib.Path(folder)):
        survivors.append(mutant["key"])
        if mutant["key"] not in explained:
            print(f"{mutant['path']}:{mutant['line']}: survived\n{mutant['key']}", flush=True)
    unexplained = set(survivors) - explained
    stale = explained - set(survivors)
    for key in sorted(stale):
        print(f"explained.txt: caught, or there no more\n{key}")
    print(f"mutants: {len(mutants)} planted, {len(mutants) - len(survivors)} caught, "
          f"{len(survivors) - len(unexplained)} explained, {len(unexplained)} survived")
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
