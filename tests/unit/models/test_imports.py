"""What loading the models part costs."""

import subprocess
import sys


def test_nothing_heavy_is_loaded_before_it_is_used() -> None:
    modules = ("client", "catalog", "keys", "local_servers", "demo", "errors", "wire")
    lines = [*(f"import hermes_tui.models.{name}" for name in modules), "import sys; print(*sys.modules)"]
    loaded = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"openai", "httpx2", "httpx", "pydantic"} & set(loaded)
