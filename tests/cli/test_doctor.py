"""``sureshot doctor``."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

import numpy as np

import sureshot
from sureshot.cli import doctor

if TYPE_CHECKING:
    import pytest

    from tests.cli.conftest import Invoke


def test_doctor(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    found = json.loads(invoke("doctor", "--json").stdout)
    assert found["sureshot"] == sureshot.__version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["threads"] >= 1
    assert found["instruction_set"] in found["instruction_sets"]
    assert set(found["extras"]["cli"]) == {"click", "rich"}
    assert None not in found["extras"]["cli"].values()
    assert set(found["extras"]["reproduce"]) == {"implicit", "h5py"}
    shown = invoke("doctor").output
    assert found["platform"] in shown
    assert found["instruction_set"] in shown
    assert found["extras"]["cli"]["rich"] in shown

    extras = {"cli": {"click": "8.1"}, "report": {"matplotlib": None}}
    monkeypatch.setattr(doctor, "_extras", lambda: extras)
    assert "not installed: pip install 'sureshot[report]'" in invoke("doctor").output


def test_doctor_reads_extras_from_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    requirements = ["numpy>=1.26", 'numpy>=1.26; extra == "some"', "no-such-one; extra=='some'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: requirements)
    assert doctor._extras() == {"some": {"numpy": np.__version__, "no-such-one": None}}
