"""Whatever comes, readers and exporters give a result or one clean error; `make torture` looks for longer."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .fuzz import READERS, bytes_near, export_strangely_named, fit_anything, read_anything

pytestmark = pytest.mark.slow

QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.parametrize("reader", READERS)
def test_readers(reader, tmp_path):
    @QUICK
    @given(bytes_near(reader))
    def law(content):
        read_anything(reader, content, tmp_path)

    law()


@QUICK
@given(st.data())
def test_estimator(data):
    fit_anything(data.draw)


@settings(QUICK, max_examples=25)
@given(st.data())
def test_exporters(data):
    export_strangely_named(data.draw)
