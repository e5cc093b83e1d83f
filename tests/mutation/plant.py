# SPDX-License-Identifier: MIT
"""Plants mutants: in a copy of the tree, build/mutants, each place of the subjects that can be wrong
in a small way is written so that SPILLWAY_MUTANT=17 makes number 17 of them wrong, and none without:

    (spillway_mutant(17) ? (now <= end) : (now < end))

So all are built once. The places come from clang's syntax tree. What would not compile is left out,
and so is what nobody could notice by its nature. build/mutants.json lists what is planted.
"""
import dataclasses
import json
import os
import pathlib
import re

import clang.cindex
from clang.cindex import CursorKind as Kind

from subjects import SUBJECTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "mutants"

SWITCH = """#pragma once
#include <cstdlib>
#include <type_traits>
inline const char* const spillway_mutant_text = std::getenv("SPILLWAY_MUTANT");
inline const int spillway_mutant_chosen =
    spillway_mutant_text == nullptr ? 0 : std::atoi(spillway_mutant_text);
#define spillway_mutant(number) (spillway_mutant_chosen == (number))
"""

OPERATORS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="],
    "!=": ["=="], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"],
    "&": ["|"], "+=": ["-="], "-=": ["+="],
}
NAMES = {
    "min": "max", "max": "min", "floor": "ceil", "ceil": "floor", "all_of": "any_of",
    "any_of": "all_of", "starts_with": "ends_with", "ends_with": "starts_with", "find": "rfind",
    "rfind": "find", "front": "back",
}
NEVER = '"~~"'  # A text that nobody writes.
SCOPES = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR,
          Kind.FUNCTION_TEMPLATE, Kind.VAR_DECL, Kind.FIELD_DECL}


@dataclasses.dataclass(frozen=True)
class Mutant:
    start: int
    end: int
    code: str | None  # In place of what is there. None: a statement is left out.
    scope: str
    line: int
    original: str
    mutated: str


def shown(code):
    """A piece of code as a key shows it: on one line, and not for ever."""
    line = " ".join(code.split())
    return line if len(line) <= 90 else line[:60] + " ... " + line[-25:]


class Finder:
    """Finds the mutants of one file."""

    def __init__(self, path, text, tree):
        self.path, self.text, self.scope = path, text, ""
        self.found = {}
        self.walk(tree.cursor)

    def walk(self, cursor):
        rule = getattr(self, "on_" + cursor.kind.name.lower(), None)
        if rule:
            rule(cursor)
        for child in cursor.get_children():
            place = child.location.file
            if place is None or place.name != self.path or child.kind == Kind.STATIC_ASSERT:
                continue
            if cursor.kind == Kind.CASE_STMT and self.range(child) == self.range(children(cursor)[0]):
                continue  # Its label: see on_switch_stmt.
            outermost = not self.scope and child.kind in SCOPES
            if outermost:
                self.scope = child.spelling
            self.walk(child)
            if outermost:
                self.scope = ""

    def range(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def code(self, cursor):
        start, end = self.range(cursor)
        return self.text[start:end]

    def add(self, cursor, code, mutated=None, original=None, line=None):
        start, end = self.range(cursor)
        if code == self.text[start:end] or not self.scope:
            return
        mutated = code if mutated is None else mutated
        self.found.setdefault((start, end, code), Mutant(
            start, end, code, self.scope, line or cursor.extent.start.line,
            shown(original or self.text[start:end]), shown(mutated)))

    # Branches.

    def force(self, cursor, *values):
        if "BOOL" in cursor.kind.name:
            return  # A literal, which on_cxx_bool_literal_expr turns round.
        for value in values:
            self.add(cursor, value)

    def on_if_stmt(self, cursor):
        first = children(cursor)[0]
        if first.kind == Kind.VAR_DECL:  # if (const auto x = …)
            value = children(first)[-1]
            self.add(value, f"decltype({self.code(value)}){{}}", "(empty)")
        else:
            self.force(first, "true", "false")

    def on_conditional_operator(self, cursor):
        self.force(children(cursor)[0], "true", "false")

    def on_while_stmt(self, cursor):
        self.force(children(cursor)[0], "false")

    def on_for_stmt(self, cursor):
        for child in children(cursor)[:-1]:
            if is_bool(child):
                self.force(child, "false")

    def on_return_stmt(self, cursor):
        for child in children(cursor):
            if is_bool(child):
                self.force(child, "true", "false")

    def on_var_decl(self, cursor):
        parts = children(cursor)
        if parts and is_bool(cursor) and is_bool(parts[-1]):
            self.force(parts[-1], "true", "false")

    def on_switch_stmt(self, cursor):
        value, body = children(cursor)[0], children(cursor)[-1]
        for case in children(body):
            labels = []
            while case.kind in (Kind.CASE_STMT, Kind.DEFAULT_STMT):
                labels += [children(case)[0]] if case.kind == Kind.CASE_STMT else []
                case = children(case)[-1]
            if case.kind == Kind.BREAK_STMT:
                continue  # A value without a case goes the same way.
            for label in labels:
                code = self.code(value)
                lost = f"static_cast<std::remove_cvref_t<decltype({code})>>(99)"
                self.add(value, f"({code}) == ({self.code(label)}) ? {lost} : ({code})", "(lost)",
                         "case " + self.code(label), label.extent.start.line)

    # Operators and calls.

    def on_binary_operator(self, cursor):
        left, right = children(cursor)
        between = self.range(left)[1], self.range(right)[0]
        self.swap_operator(cursor, *between)
        operator = self.text[slice(*between)].strip()
        for operand in (left, right):
            if operator == "&&":
                self.force(operand, "true")
            elif operator == "||":
                self.force(operand, "false")

    on_compound_assignment_operator = on_binary_operator

    def swap_operator(self, cursor, left_end, right_start):
        start, end = self.range(cursor)
        left, right = self.text[start:left_end].strip(), self.text[right_start:end].strip()
        for other in OPERATORS.get(self.text[left_end:right_start].strip(), []):
            plain = f"{left} {other} {right}"
            code = plain if "=" in other and other[0] in "+-" else f"({left}) {other} ({right})"
            self.add(cursor, code, plain)

    def on_unary_operator(self, cursor):
        if self.code(cursor).startswith("!"):
            self.add(cursor, "!" + self.code(cursor), self.code(cursor)[1:])

    def on_call_expr(self, cursor):
        start, end = self.range(cursor)
        if cursor.spelling.startswith("operator"):
            for child in children(cursor):
                place = self.range(child)
                if child.spelling.startswith("operator") and start < place[0] and place[1] < end:
                    return self.swap_operator(cursor, *place)
        if cursor.spelling in ("move", "forward"):
            return  # A copy does the same.
        parts = children(cursor)
        if parts and cursor.spelling in NAMES:
            callee = self.code(parts[0])
            other = re.sub(rf"\b{cursor.spelling}\b", NAMES[cursor.spelling], callee)
            self.add(cursor, other + self.text[self.range(parts[0])[1]:end])
        # What a call gives is often what it got, changed a little: left as it was.
        is_member = parts and parts[0].kind == Kind.MEMBER_REF_EXPR
        given = children(parts[0]) if is_member else list(cursor.get_arguments())[:1]
        if given and plain_type(given[0]) == plain_type(cursor):
            self.add(cursor, self.code(given[0]))

    def on_compound_stmt(self, cursor):
        for child in children(cursor):
            if child.kind.is_expression():
                self.add(child, None, "(left out)")

    # Constants.

    def on_integer_literal(self, cursor):
        code = self.code(cursor)
        if code[:1].isalnum():
            for change in ("+ 1", "- 1") if code[0].isdigit() and code != "0" else ("+ 1",):
                self.add(cursor, f"{code} {change}")

    def on_floating_literal(self, cursor):
        for change in ("+ 0.1", "- 0.1"):
            self.add(cursor, f"{self.code(cursor)} {change}")

    def on_cxx_bool_literal_expr(self, cursor):
        self.add(cursor, "false" if self.code(cursor) == "true" else "true")

    def on_string_literal(self, cursor):
        self.add(cursor, NEVER)

    def on_character_literal(self, cursor):
        self.add(cursor, "'~'")

    def on_decl_ref_expr(self, cursor):
        constant = cursor.referenced
        if constant is not None and constant.kind == Kind.ENUM_CONSTANT_DECL:
            names = [each.spelling for each in children(constant.semantic_parent)]
            other = names[(names.index(constant.spelling) + 1) % len(names)]
            self.add(cursor, re.sub(r"\w+$", other, self.code(cursor)))


def children(cursor):
    return list(cursor.get_children())


def is_bool(cursor):
    return plain_type(cursor) == "bool"


def plain_type(cursor):
    return cursor.type.get_canonical().spelling.removeprefix("const ")


# Constants have to be read at run time. A `(` before any `=` is a function's. The length stays, so
# that places in the file do.
def without_constexpr(text):
    return re.sub(r"\bconstexpr\b(?=([^=;{(]*\()?)",
                  lambda found: "inline   " if found[1] else "const    ", text)


def rendered(path, text, numbered):
    """The text with these mutants, {number: Mutant}, in it."""
    places = {}
    for number, mutant in numbered.items():
        places.setdefault((mutant.start, -mutant.end), []).append((number, mutant.code))
    waiting = sorted(places)  # The outer one before those in it.

    def until(at, end):
        code = ""
        while waiting and waiting[0][0] < end:
            place = waiting.pop(0)
            code += text[at:place[0]]
            at = -place[1]
            code += alternatives(places[place], until(place[0], at))
        return code + text[at:end]

    return f'#include <spillway/mutant.h>\n#line 1 "{path}"\n' + until(0, len(text))


def alternatives(mutants, original):
    code, guard = "", ""
    for number, other in mutants:
        if other is None:
            guard = f"if (!spillway_mutant({number})) "
        else:
            code += f"spillway_mutant({number}) ? ({other}) : "
    if not code:
        return guard + original
    is_condition = any(other in ("true", "false") for _, other in mutants)
    return f"{guard}({code}{'static_cast<bool>' if is_condition else ''}({original}))"


class Unit:
    """A file of the tree as clang sees it, with whatever text."""

    OPTIONS = clang.cindex.TranslationUnit.PARSE_PRECOMPILED_PREAMBLE
    ARGUMENTS = ["-std=c++20", "-x", "c++", "-ferror-limit=0", f"-I{ROOT}", f"-I{ROOT}/include"]

    def __init__(self, path):
        self.path = path
        self.name = str(ROOT / path)
        source = (ROOT / path).read_bytes().decode("latin-1")  # A byte is a place, to clang too.
        self.text = without_constexpr(source)
        self.tree = clang.cindex.Index.create().parse(
            self.name, self.ARGUMENTS, self.files(self.text), self.OPTIONS)
        if any(each.severity >= each.Error for each in self.tree.diagnostics):
            raise SystemExit(f"mutants: {path}: " + str(self.tree.diagnostics[0]))

    def files(self, text):
        return [(self.name, text.encode("latin-1")),
                (f"{ROOT}/include/spillway/mutant.h", SWITCH.encode())]

    def errors(self, text):
        self.tree.reparse(self.files(text), self.OPTIONS)
        return [each.location.offset for each in self.tree.diagnostics
                if each.severity >= each.Error]

    def compiling(self, numbered):
        """Those of the mutants that compile together."""
        text = rendered(self.path, self.text, numbered)
        errors = self.errors(text) if numbered else []
        if not errors:
            return numbered
        guilty = {number for at in errors for number in self.mutant_at(at, text, numbered)}
        if not guilty and len(numbered) > 1:  # An error beside them all: which of them caused it?
            half = len(numbered) // 2
            parts = list(numbered.items())
            return self.compiling(dict(parts[:half])) | self.compiling(dict(parts[half:]))
        return self.compiling({n: m for n, m in numbered.items() if guilty and n not in guilty})

    def mutant_at(self, at, text, numbered):
        begin = text.rfind("spillway_mutant(", 0, at + 1)
        number = int(re.match(r"\d+", text[begin + 16:] or "0")[0]) if begin >= 0 else 0
        code = numbered[number].code if number in numbered else None
        if code is not None and at < begin + len(f"spillway_mutant({number}) ? ({code})"):
            yield number


def write_if_changed(path, content):
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy_tree(except_for):
    """What has not changed keeps its time, and is not built again."""
    kept = set()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ("build", "node_modules") and f[0] != "."]
        for name in names:
            path = pathlib.Path(folder, name).relative_to(ROOT)
            if not (ROOT / path).is_symlink():
                kept.add(path)
                if str(path) not in except_for:
                    write_if_changed(COPY / path, (ROOT / path).read_bytes())
    for folder, folders, names in os.walk(COPY):
        folders[:] = [f for f in folders if f != "build"]
        for path in (pathlib.Path(folder, name) for name in names):
            if path.relative_to(COPY) not in kept:
                path.unlink()


def keys(path, mutants):
    """Names that stay when other lines change: of equal ones in a function the second is "… #2"."""
    seen = {}
    for mutant in mutants:
        key = f"{path} | {mutant.scope} | {mutant.original} -> {mutant.mutated}"
        seen[key] = seen.get(key, 0) + 1
        key += f" #{seen[key]}" if seen[key] > 1 else ""
        yield key.encode("latin-1").decode(errors="replace")


def main():
    paths = [path for files, _ in SUBJECTS for path in files]
    copy_tree(paths)
    write_if_changed(COPY / "include/spillway/mutant.h", SWITCH.encode())
    number, planted, left_out = 1, [], 0
    for path in paths:
        unit = Unit(path)
        found = sorted(Finder(unit.name, unit.text, unit.tree).found.values(),
                       key=lambda each: (each.start, each.end))
        numbered = unit.compiling(dict(enumerate(found, number)))
        number += len(found)
        left_out += len(found) - len(numbered)
        text = rendered(path, unit.text, numbered)
        write_if_changed(COPY / path, text.encode("latin-1"))
        planted += [{"number": each, "path": path, "line": mutant.line, "key": key}
                    for (each, mutant), key in zip(numbered.items(), keys(path, numbered.values()))]
    (ROOT / "build" / "mutants.json").write_text(json.dumps(planted, indent=1))
    print(f"mutants: {len(planted)} planted, {left_out} would not compile")


if __name__ == "__main__":
    main()
