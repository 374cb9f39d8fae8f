from __future__ import annotations

import pytest

pytest.importorskip("sklearn", reason="sureshot.estimators needs the extra [sklearn]")
