"""Python source is read without being interrupted, by however many threads."""

import ast
import gc
from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes_tui.python_source import parse_python

SOURCE = "x = " + "(" * 60 + "1" + ")" * 60 + "\n" + "def f():\n    return [i for i in range(3)]\n" * 200


def test_many_threads_may_parse() -> None:
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(lambda _: parse_python(SOURCE), range(64)))
    assert {len(tree.body) for tree in trees} == {201}


def test_a_finalizer_that_parses_does_not_break_the_parse() -> None:
    class Garbage:
        """Part of a cycle, so that only the collector ends it; its end parses something broken."""

        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            ast.parse("f(" + "g(" * 20 + ")" * 20 + ")")

    kept = gc.get_threshold()
    gc.set_threshold(50)
    try:
        for _ in range(50):
            Garbage()
            assert len(parse_python(SOURCE).body) == 201
    finally:
        gc.set_threshold(*kept)


def test_errors_come_through_and_the_collector_runs_on() -> None:
    with pytest.raises(SyntaxError):
        parse_python("def")
    assert gc.isenabled()
