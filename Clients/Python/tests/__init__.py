"""Tests of the package in this folder: `python3 -m unittest`. They need only PyNaCl and cryptography."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "src"))
