"""MD2 models to files: what is written, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from md2_samples import make_model, odd_model

from io_idtech.io_md2.format import Md2Error, Model, format_model, parse_model, read_model, write_model


def test_all_bytes_of_an_unchanged_file_are_kept_if_asked(tmp_path: Path) -> None:
    data = bytearray(format_model(odd_model()))
    data[data.index(b"\0", data.index(b"stand")) + 3] = 77  # after the end of a name
    data += b"more"
    path = tmp_path / "a.md2"
    path.write_bytes(data)
    write_model(read_model(path, preserve=True), tmp_path / "b.md2")
    assert (tmp_path / "b.md2").read_bytes() == data
    assert format_model(read_model(path)) != data
    # As soon as anything differs, the file is written anew.
    edited = replace(read_model(path, preserve=True), skin_width=32)
    assert parse_model(format_model(edited)) == edited
    assert len(format_model(edited)) < len(data)


class TestWriting:
    def refuse(self, model: Model, *words: str) -> None:
        with pytest.raises(Md2Error) as caught:
            format_model(model)
        for word in words:
            assert word in str(caught.value)

    def test_indices_outside_their_tables(self) -> None:
        model = make_model()
        model.triangles[0, 0] = 4
        self.refuse(model, "triangles", "found 4")
        model = make_model()
        model.triangle_st[0, 0] = -1
        self.refuse(model, "triangle_st", "found -1")
        model = make_model()
        model.gl_commands.vertices[0] = 99
        self.refuse(model, "gl_commands", "found 99")

    def test_values_that_would_wrap(self) -> None:
        model = make_model()
        model.st = model.st.astype(np.int32) + 40000
        self.refuse(model, "st", "40000", "32767")
        model = make_model()
        model.vertices = model.vertices.astype(np.int32) + 300
        self.refuse(model, "vertices", "255")

    def test_indices_beyond_sixteen_bits(self) -> None:
        model = make_model(1)
        model.vertices = np.zeros((1, 70000, 3), np.uint8)
        model.normals = np.zeros((1, 70000), np.uint8)
        model.triangles[1, 1] = 65536
        self.refuse(model, "triangles", "65536")

    def test_shapes_that_do_not_fit(self) -> None:
        model = make_model()
        model.normals = model.normals[:1]
        self.refuse(model, "normals", "(1, 4)", "(2, 4)")
        model = make_model()
        model.gl_commands.counts = model.gl_commands.counts[:1]
        self.refuse(model, "gl_commands")

    def test_names_that_do_not_fit(self) -> None:
        for skin in ("x" * 65, "a\0b", "\u20ac"):
            model = make_model()
            model.skins[0] = skin
            self.refuse(model, "skins[0]")
        model = make_model()
        model.frame_names[0] = "y" * 17
        self.refuse(model, "frame_names[0]", "16")

    def test_values_without_meaning_are_refused(self) -> None:
        model = make_model()
        model.scale[0, 0] = np.nan
        self.refuse(model, "finite")
        model = make_model()
        model.skin_width = -1
        self.refuse(model, "skin_width")
        model = make_model(0)
        self.refuse(model, "no frames")
        model = make_model()
        model.gl_commands.counts = np.array([3, 0, -3], np.int32)
        self.refuse(model, "end the GL commands")

    def test_a_refused_model_leaves_the_file_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "tris.md2"
        path.write_bytes(b"precious")
        model = make_model()
        model.triangles[0, 0] = 4
        with pytest.raises(Md2Error, match=r"tris\.md2"):
            write_model(model, path)
        assert path.read_bytes() == b"precious"
