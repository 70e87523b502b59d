"""Configuration: how ``Settings`` is filled, from defaults < config.yaml < .env and environment < command line.

Every value is converted on its own, so one wrong value costs that value and nothing else. What was wrong is told with
file and line; the program starts all the same.
"""

from hermes_tui.config.env_file import Secrets
from hermes_tui.config.items import Layer, Problem, Source
from hermes_tui.config.load import Loaded, check_overrides, load_settings

__all__ = ["Layer", "Loaded", "Problem", "Secrets", "Source", "check_overrides", "load_settings"]
