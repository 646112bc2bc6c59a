"""Makes Clients/Python importable from the checkout."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "Clients" / "Python" / "src"))
