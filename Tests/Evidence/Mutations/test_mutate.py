"""Tests which faults are chosen. Run in this folder: python3 -m unittest"""

import contextlib
import io
import tempfile
import types
import unittest
from pathlib import Path

import mutate


def chosen(count, seed, among=100):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        return mutate.sample(list(range(among)), count, seed), output.getvalue()


class Samples(unittest.TestCase):
    def test_a_seed_chooses_the_same_again(self):
        first, output = chosen(10, 3)
        self.assertEqual((first, output), chosen(10, 3))
        self.assertEqual(first, sorted(set(first)))
        self.assertEqual(output, "== 10 of 100 faults, chosen by --seed 3\n")
        self.assertNotEqual(first, chosen(10, 4)[0])

    def test_a_seed_that_was_drawn_is_printed(self):
        first, output = chosen(10, None)
        self.assertEqual(first, chosen(10, int(output.split()[-1]))[0])

    def test_there_are_never_more_than_all(self):
        self.assertEqual(chosen(10, 3, among=4)[0], [0, 1, 2, 3])

    def test_worlds_are_given_only_faults_that_they_contain(self):
        with tempfile.TemporaryDirectory() as folder:
            objects = Path(folder, ".build/release/worlds.product/Objects.LinkFileList")
            objects.parent.mkdir(parents=True)
            objects.write_text("/a/release/PushOutbox.build/Outbox.swift.o\n/a/release/worlds.build/World.swift.o\n")
            inside, outside = (types.SimpleNamespace(file=f"Sources/Server/{module}/A.swift") for module in
                               ("PushOutbox", "PushPostgres"))
            self.assertEqual(mutate.linked(Path(folder), [inside, outside]), [inside])


if __name__ == "__main__":
    unittest.main()
