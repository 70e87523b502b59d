"""Reading Python source. One door, since ``ast.parse`` of CPython 3.11 must not be interrupted by other Python code.

It counts the recursion depth of all parses in one place. A garbage collection in its midst runs finalizers, and those
may log a traceback, which parses too (for its carets): both then end in ``SystemError: AST constructor recursion depth
mismatch`` (python/cpython issue 106905). Without a collection the whole parse holds the interpreter.
"""

import ast
import gc


def parse_python(source: str | bytes) -> ast.Module:
    """Return the syntax tree. Raises SyntaxError, ValueError, RecursionError or MemoryError, as ``ast.parse`` does."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if collecting:
            gc.enable()
