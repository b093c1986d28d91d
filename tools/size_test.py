# Tests of size.py and cpp_functions.py.
# SPDX-License-Identifier: Apache-2.0

import pytest
from cpp_functions import Function, find_functions
from size import ledger, measure


def names(text: str) -> list[str]:
    return [function.name for function in find_functions(text)]


def test_a_free_function_has_lines_and_parameters() -> None:
    text = "namespace a {\n\nint f(int x, std::map<int, int> y) {\n  return x;\n}\n\n}\n"
    assert find_functions(text) == [Function("f", 3, 3, 2)]


def test_members_and_constructors_are_found() -> None:
    text = """
class A : public B {
 public:
  A(int x) : x_(x), y_{2} {
    go();
  }
  bool ok() const noexcept { return true; }
  auto operator<=>(const A&) const = default;
  A& operator=(const A& a) { return *this; }
  int y_{3};
};
"""
    assert names(text) == ["A", "ok", "operator="]


@pytest.mark.parametrize(
    "text",
    [
        "constexpr std::array kRows = {Row(1), Row(2)};",
        "struct P { int x = f(1); };",
        "enum class E { A, B };",
        'const char* text = "int f() {";',
        "// int f() {\n",
        "#define F() { \\\n }\n",
    ],
)
def test_what_is_no_function(text: str) -> None:
    assert names(text) == []


def test_lambdas_and_blocks_belong_to_their_function() -> None:
    text = "void f() {\n  if (x) {\n    g([] { return 1; });\n  }\n}\nvoid h() {}\n"
    assert names(text) == ["f", "h"]


def test_a_trailing_return_type_is_a_signature() -> None:
    assert names("auto f(int a) -> std::vector<int> {\n  return {};\n}\n") == ["f"]


def test_a_long_function_is_soft_then_hard() -> None:
    def body(lines: int) -> str:
        return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"

    assert measure("a.cpp", body(40)) == []
    assert [excess.hard for excess in measure("a.cpp", body(41))] == [False]
    assert [excess.hard for excess in measure("a.cpp", body(61))] == [True]


def test_a_test_may_be_a_long_table() -> None:
    text = "TEST(A, B) {\n" + "  g();\n" * 80 + "}\n"
    assert [excess.hard for excess in measure("a_test.cpp", text)] == [False]
    assert [excess.hard for excess in measure("a.cpp", text)] == [True]


def test_six_parameters_and_long_lines_are_too_many() -> None:
    text = "void f(int a, int b, int c, int d, int e, int f) {}\n"
    assert [excess.what for excess in measure("a.cpp", text)] == ["6 parameters"]
    assert [excess.hard for excess in measure("a.cpp", "x" * 101)] == [True]


def test_tables_and_raw_strings_may_be_wide() -> None:
    wide = "x" * 101
    assert measure("a.h", f"// clang-format off\n{wide}\n// clang-format on\n") == []
    assert measure("a.h", f'auto s = R"(\n{wide}\n)";\n') == []
    assert [excess.where for excess in measure("a.h", f'R"(\n)"\n{wide}\n')] == ["a.h:3"]


def test_python_functions_are_measured_too() -> None:
    text = "def f(self, a, b, c, d, e, g):\n" + "    x()\n" * 41
    assert [excess.hard for excess in measure("a.py", text)] == [False, True]


def test_the_ledger_keeps_tests_apart() -> None:
    text = ledger({"src/orrery/base/a.cpp": 10, "src/orrery/base/a_test.cpp": 5})
    assert text.splitlines()[1].split() == ["src/orrery/base", "10", "5"]
