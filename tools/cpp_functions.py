# Finds function bodies in C++ text without compiling it, for tools/size.py.
# SPDX-License-Identifier: Apache-2.0
"""Comments and literals are blanked, then braces are followed. A brace opens a function body if
what stands before it (its head) looks like a signature; namespaces and classes are entered, any
other braces are passed over. Good for formatted code, not for adversaries."""

import re
from dataclasses import dataclass

BLANKED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S
)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
SCOPE = re.compile(
    r"^(?:template\s*<.*>\s*)?(?:inline\s+)?(?:namespace|class|struct|union|extern)\b", re.S
)
SIGNATURE = re.compile(
    r"\)\s*(?:(?:const|noexcept|override|final|mutable|try|&&?)\s*|noexcept\([^)]*\)\s*)*"
    r"(?:->\s*[\w:<>,\s*&]+?)?$"
)
INITIALISERS = re.compile(r"\)\s*(?:noexcept\s*)?:[^:]")


@dataclass(frozen=True)
class Function:
    name: str
    line: int
    lines: int
    parameters: int


def blank(text: str) -> str:
    """Comments, literals and directives as spaces; line ends stay where they are."""

    def spaces(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return PREPROCESSOR.sub(spaces, BLANKED.sub(spaces, text))


def find_functions(text: str) -> list[Function]:
    code = blank(text)
    functions: list[Function] = []
    head_start = 0
    position = 0
    while position < len(code):
        letter = code[position]
        if letter in ";}":
            head_start = position + 1
        elif letter == "{":
            head = code[head_start:position]
            if SCOPE.match(head.strip()) and not SIGNATURE.search(head):
                head_start = position + 1
            else:
                end = closing_brace(code, position)
                if opens_function(head):
                    functions.append(describe(code, head_start, position, end))
                    head_start = end + 1
                position = end
        position += 1
    return functions


def opens_function(head: str) -> bool:
    head = head.rstrip()
    if "(" not in head or re.search(r"[\w>]\s*=\s*", first_clause(head)):
        return False
    if INITIALISERS.search(head):
        return head.endswith((")", "}"))  # a_(1), b_{2} {: the brace after a name is a member's
    return SIGNATURE.search(head) is not None


def first_clause(head: str) -> str:
    """What stands before the first parenthesis; an = there means a variable, not a function."""
    return re.sub(r"operator\s*[=<>!]+", "operator", head[: head.index("(")])


def closing_brace(code: str, start: int) -> int:
    depth = 0
    for position in range(start, len(code)):
        if code[position] == "{":
            depth += 1
        elif code[position] == "}":
            depth -= 1
            if depth == 0:
                return position
    return len(code) - 1


def describe(code: str, head_start: int, start: int, end: int) -> Function:
    head = code[head_start:start]
    head_start += len(head) - len(head.lstrip())
    signature = re.sub(r"requires\s*\([^{]*?\)\s*(?=[\w:]+\s)", " ", head)
    match = re.search(r"([~\w]+|operator\s*\S+?)\s*\(", signature)
    name = match[1] if match else "?"
    first_line = code.count("\n", 0, head_start) + 1
    lines = code.count("\n", head_start, end) + 1
    parameters = count_parameters(signature[match.end() :]) if match else 0
    return Function(name, first_line, lines, parameters)


def count_parameters(rest: str) -> int:
    """Parameters of the list whose opening parenthesis is just before `rest`."""
    depth, commas, seen = 0, 0, False
    for letter in rest:
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            if depth == 0:
                break
            depth -= 1
        elif letter == "," and depth == 0:
            commas += 1
        seen = seen or not letter.isspace()
    return commas + 1 if seen else 0
