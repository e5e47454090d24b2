# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of defects that tests must notice fits the source: each can be put in, at one place."""

from __future__ import annotations

import tomllib

import pytest

from tests.conftest import ROOT

DEFECTS = tomllib.loads((ROOT / "tests" / "mutation" / "defects.toml").read_text("utf-8"))["defect"]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect["name"])
def test_defect_can_be_put_in(defect: dict[str, str]) -> None:
    text = (ROOT / defect["file"]).read_text("utf-8")
    assert text.count(defect["old"]) == 1
    compile(text.replace(defect["old"], defect["new"]), defect["file"], "exec")
    file, _, test = defect["test"].partition("::")
    assert f"\ndef {test.partition('[')[0]}(" in (ROOT / file).read_text("utf-8")


def test_names_are_different() -> None:
    assert len({defect["name"] for defect in DEFECTS}) == len(DEFECTS)
