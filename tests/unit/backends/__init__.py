"""Tests of the backends. The contract suite lives in a module of its own, which pytest has to be told of."""

import pytest

pytest.register_assert_rewrite("tests.unit.backends.contract")
