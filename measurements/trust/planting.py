"""A plugin of pytest that plants the mutant which the environment names."""

from __future__ import annotations

import os

from measurements.trust import mutants

if mutants.VARIABLE in os.environ:
    mutants.install(os.environ[mutants.VARIABLE])
