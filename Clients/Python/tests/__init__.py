"""Tests of the package as it lies here: `python3 -m unittest` in Clients/Python. Needs PyNaCl and cryptography alone."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "src"))
