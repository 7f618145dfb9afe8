"""MD2 files: what is read, what is warned of, and what is refused."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from md2_samples import make_model

from io_idtech.io_md2.format import GlCommands, Md2Error, Model, format_model, parse_model, read_model, write_model

FIELDS = [
    "ident",
    "version",
    "skinwidth",
    "skinheight",
    "framesize",
    "num_skins",
    "num_vertices",
    "num_st",
    "num_tris",
    "num_glcmds",
    "num_frames",
    "offset_skins",
    "offset_st",
    "offset_tris",
    "offset_frames",
    "offset_glcmds",
    "offset_end",
]


def header_of(data: bytes) -> dict[str, int]:
    return dict(zip(FIELDS, struct.unpack_from("<17i", data), strict=True))


def changed(data: bytes, **values: int) -> bytes:
    """The same file with other numbers in its header."""
    header = header_of(data) | values
    return struct.pack("<17i", *header.values()) + data[68:]


def poked(data: bytes, offset: int, new: bytes) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


@pytest.fixture
def data() -> bytes:
    return format_model(make_model())


def warnings_of(data: bytes) -> str:
    return "\n".join(parse_model(data).warnings)


def test_a_frame_size_of_0_is_accepted_if_the_frames_fit() -> None:
    data = bytearray(format_model(make_model()))
    struct.pack_into("<i", data, 16, 0)
    model = parse_model(data)
    assert model == make_model()
    assert any("framesize is 0" in text for text in model.warnings)
    with pytest.raises(Md2Error, match="the file is incomplete"):
        parse_model(data[:-120])


class TestRoundTrip:
    def test_a_model_survives_writing_and_reading(self, data: bytes) -> None:
        again = parse_model(data)
        assert again == make_model()
        assert again.warnings == []

    def test_bytes_survive_reading_and_writing(self, data: bytes) -> None:
        assert format_model(parse_model(data)) == data

    def test_models_that_differ_are_not_equal(self) -> None:
        other = make_model()
        other.vertices[1, 2, 0] += 1
        assert other != make_model()
        other = make_model()
        other.gl_commands.counts[0] = -3
        assert other != make_model()

    def test_warnings_do_not_make_models_differ(self) -> None:
        other = make_model()
        other.warnings.append("odd")
        assert other == make_model()

    def test_files(self, tmp_path: Path) -> None:
        path = tmp_path / "tris.md2"
        write_model(make_model(), path)
        assert read_model(path) == make_model()
        assert read_model(str(path)) == make_model()

    def test_read_arrays_can_be_edited(self, data: bytes) -> None:
        model = parse_model(data)
        for array in (model.st, model.triangles, model.scale, model.vertices, model.normals):
            array[...] = 0
        model.gl_commands.vertices[...] = 0

    def test_dtypes_and_shapes_are_those_promised(self, data: bytes) -> None:
        model = parse_model(data)
        for array, dtype, shape in (
            (model.st, np.int16, (4, 2)),
            (model.triangles, np.int32, (2, 3)),
            (model.triangle_st, np.int32, (2, 3)),
            (model.scale, np.float32, (2, 3)),
            (model.translate, np.float32, (2, 3)),
            (model.vertices, np.uint8, (2, 4, 3)),
            (model.normals, np.uint8, (2, 4)),
            (model.gl_commands.counts, np.int32, (2,)),
            (model.gl_commands.st, np.float32, (6, 2)),
            (model.gl_commands.vertices, np.int32, (6,)),
        ):
            assert (array.dtype, array.shape) == (np.dtype(dtype), shape)

    def test_names_that_fill_their_fields(self) -> None:
        model = make_model()
        model.skins[0] = "x" * 64
        model.frame_names[0] = "y" * 16
        again = parse_model(format_model(model))
        assert again == model
        assert len(again.warnings) == 2

    def test_every_byte_of_a_name_survives(self) -> None:
        model = make_model()
        every = bytes(range(1, 256)).decode("latin-1")
        model.skins = [every[i : i + 64] for i in range(0, 255, 64)]
        assert parse_model(format_model(model)).skins == model.skins

    def test_text_after_a_nul_is_ignored(self, data: bytes) -> None:
        start = header_of(data)["offset_frames"] + 24
        assert parse_model(poked(data, start, b"a\0garbage\xff")).frame_names[0] == "a"

    def test_sections_stand_in_the_compilers_order(self, data: bytes) -> None:
        h = header_of(data)
        assert h["offset_skins"] == 68
        assert h["offset_st"] == h["offset_skins"] + 64 * h["num_skins"]
        assert h["offset_tris"] == h["offset_st"] + 4 * h["num_st"]
        assert h["offset_frames"] == h["offset_tris"] + 12 * h["num_tris"]
        assert h["offset_glcmds"] == h["offset_frames"] + h["framesize"] * h["num_frames"]
        assert h["offset_end"] == h["offset_glcmds"] + 4 * h["num_glcmds"] == len(data)
        assert h["framesize"] == 40 + 4 * h["num_vertices"]

    def test_gl_commands_stand_as_the_specification_has_them(self, data: bytes) -> None:
        start = header_of(data)["offset_glcmds"]
        assert struct.unpack_from("<i ffi", data, start) == (3, 0.0, 0.0625, 0)
        assert struct.unpack_from("<i", data, start + 40) == (-3,)
        assert data[-4:] == bytes(4)
        assert header_of(data)["num_glcmds"] == 21 == make_model().gl_commands.word_count

    def test_other_orders_of_sections_are_read(self, data: bytes) -> None:
        h = header_of(data)
        skins = data[68 : h["offset_st"]]
        moved = changed(data, offset_skins=len(data), offset_end=len(data) + len(skins)) + skins
        assert parse_model(moved) == make_model()

    def test_no_skins(self) -> None:
        model = make_model()
        model.skins = []
        assert parse_model(format_model(model)) == model

    def test_not_a_number_in_gl_commands_is_kept(self) -> None:
        model = make_model()
        model.gl_commands.st[0] = np.nan
        assert parse_model(format_model(model)) == model


class TestWarnings:
    @pytest.mark.parametrize("end", [-3, 0, 100, 2**31 - 1])
    def test_wrong_offset_end(self, data: bytes, end: int) -> None:
        odd = changed(data, offset_end=end)
        assert parse_model(odd) == make_model()
        assert "offset_end" in warnings_of(odd)

    def test_trailing_bytes(self, data: bytes) -> None:
        odd = data + b"junk"
        assert parse_model(odd) == make_model()
        assert "4 bytes follow" in warnings_of(odd)

    def test_padded_frames(self) -> None:
        model = make_model()
        model.gl_commands = GlCommands()
        model.triangles = model.triangle_st = np.zeros((0, 3), np.int32)
        data = format_model(model)
        h = header_of(data)
        start, size = h["offset_frames"], h["framesize"]
        frames = [data[start + i * size : start + (i + 1) * size] + b"pad!" for i in range(2)]
        odd = changed(data[:start], framesize=size + 4, offset_glcmds=start + 2 * (size + 4))
        odd += b"".join(frames) + bytes(4)
        assert parse_model(odd) == model
        assert "4 more" in warnings_of(odd)

    def test_gl_commands_without_terminator(self, data: bytes) -> None:
        odd = changed(data, num_glcmds=20)[:-4]
        assert parse_model(odd) == make_model()
        assert "no terminator" in warnings_of(odd)

    def test_gl_commands_beyond_the_file(self, data: bytes) -> None:
        odd = changed(data, num_glcmds=2**31 - 1)
        assert parse_model(odd) == make_model()
        assert "past the end of the file" in warnings_of(odd)

    def test_gl_commands_cut_by_the_end_of_the_file(self, data: bytes) -> None:
        model = parse_model(data[:-8])
        assert model.gl_commands.counts.tolist() == [3]
        assert model.gl_commands.vertices.tolist() == [0, 1, 2]
        assert "left out" in warnings_of(data[:-8])

    def test_gl_commands_that_begin_after_the_file(self, data: bytes) -> None:
        odd = changed(data, offset_glcmds=2**31 - 1)
        assert parse_model(odd).gl_commands == GlCommands()

    @pytest.mark.parametrize("count", [2**31 - 1, -(2**31)])
    def test_a_primitive_of_absurd_length_gives_a_warning(self, data: bytes, count: int) -> None:
        odd = poked(data, header_of(data)["offset_glcmds"], struct.pack("<i", count))
        assert parse_model(odd).gl_commands == GlCommands()
        assert "left out" in warnings_of(odd)

    def test_no_gl_commands(self, data: bytes) -> None:
        assert "no GL commands" in warnings_of(changed(data, num_glcmds=0))

    def test_primitives_that_draw_nothing_are_kept(self) -> None:
        model = make_model()
        model.gl_commands.counts = np.array([2, -1, 3], np.int32)
        again = parse_model(format_model(model))
        assert again == model
        assert "fewer than three" in "\n".join(again.warnings)

    def test_normal_indices_beyond_the_table(self) -> None:
        model = make_model()
        model.normals[0, :2] = 162, 255
        again = parse_model(format_model(model))
        assert again == model
        assert "2 normal indices" in again.warnings[0]

    def test_a_model_with_one_frame_and_nothing_else_is_read(self) -> None:
        model = Model(
            scale=np.ones((1, 3), np.float32),
            translate=np.zeros((1, 3), np.float32),
            frame_names=[""],
            vertices=np.zeros((1, 0, 3), np.uint8),
            normals=np.zeros((1, 0), np.uint8),
        )
        again = parse_model(format_model(model))
        assert again == model
        assert {"The model has no vertices", "The model has no triangles"} <= set(again.warnings)

    def test_empty_sections_may_claim_to_be_anywhere(self) -> None:
        model = make_model()
        model.skins = []
        odd = changed(format_model(model), offset_skins=2**31 - 1)
        assert parse_model(odd) == model

    def test_a_skin_without_size(self, data: bytes) -> None:
        assert "0 x 0" in warnings_of(changed(data, skinwidth=0, skinheight=0))

    def test_st_outside_the_skin(self) -> None:
        model = make_model()
        model.st[0] = -1, 400
        again = parse_model(format_model(model))
        assert again == model
        assert "1 texture coordinate lies outside" in again.warnings[0]

    def test_more_than_quake_ii_takes(self) -> None:
        model = make_model(600)
        again = parse_model(format_model(model))
        assert again == model
        assert "600 frames" in "\n".join(again.warnings)

    def test_a_negative_scale_gives_no_warning(self) -> None:
        model = make_model()
        model.scale *= -1
        again = parse_model(format_model(model))
        assert again == model
        assert again.warnings == []


class TestRefusals:
    def refuse(self, data: bytes, *words: str, offset: int) -> None:
        with pytest.raises(Md2Error) as caught:
            parse_model(data, "a/tris.md2")
        message = str(caught.value)
        assert message.endswith(f" (a/tris.md2, byte {offset})")
        assert caught.value.offset == offset
        assert caught.value.found is not None
        assert caught.value.expected is not None
        for word in words:
            assert word in message

    @pytest.mark.parametrize("ident", [b"IDP3", b"IDPO", b"xV4\x12"])
    def test_files_of_other_formats_are_refused(self, data: bytes, ident: bytes) -> None:
        self.refuse(ident + data[4:], "not an MD2", repr(ident)[1:], "IDP2", offset=0)

    def test_an_md5_model(self) -> None:
        self.refuse(b"MD5Version 10\n", "MD5", offset=0)

    def test_nothing(self) -> None:
        self.refuse(b"", "incomplete", "0 bytes", offset=0)

    def test_half_a_header(self, data: bytes) -> None:
        self.refuse(data[:40], "40 bytes", "68", offset=40)

    def test_another_version(self, data: bytes) -> None:
        self.refuse(changed(data, version=7), "version", "found 7", "expected 8", offset=4)

    @pytest.mark.parametrize("name", [f for f in FIELDS if f not in ("ident", "version", "offset_end")])
    def test_negative_numbers(self, data: bytes, name: str) -> None:
        self.refuse(changed(data, **{name: -1}), name, "-1", offset=4 * FIELDS.index(name))

    @pytest.mark.parametrize("name", ["skins", "st", "tris", "frames"])
    def test_counts_beyond_the_file(self, data: bytes, name: str) -> None:
        for count in (2**31 - 1, 1000):
            odd = changed(data, **{f"num_{name}": count})
            self.refuse(odd, f"rows of {name}", str(len(data)), offset=header_of(data)[f"offset_{name}"])

    @pytest.mark.parametrize("name", ["skins", "st", "tris", "frames"])
    def test_offsets_beyond_the_file_or_in_the_header(self, data: bytes, name: str) -> None:
        field = f"offset_{name}"
        for offset in (2**31 - 1, len(data), 67, 0):
            self.refuse(changed(data, **{field: offset}), name, "68 to", offset=offset)

    def test_no_frames(self, data: bytes) -> None:
        self.refuse(changed(data, num_frames=0), "no frames", offset=40)

    def test_frames_smaller_than_their_vertices(self, data: bytes) -> None:
        self.refuse(changed(data, framesize=55), "55", "56", offset=16)
        self.refuse(changed(data, num_vertices=2**31 - 1), "too small", offset=16)

    def test_vertices_that_do_not_exist(self, data: bytes) -> None:
        place = header_of(data)["offset_tris"] + 12 + 2
        self.refuse(poked(data, place, b"\4\0"), "triangle 1", "found 4", "below 4", offset=place)

    @pytest.mark.parametrize("vertex", [4, -1])
    def test_vertices_of_gl_commands_that_do_not_exist(self, data: bytes, vertex: int) -> None:
        place = header_of(data)["offset_glcmds"] + 40 + 4 + 12 + 8
        odd = poked(data, place, struct.pack("<i", vertex))
        self.refuse(odd, "GL commands", f"found {vertex}", offset=place)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 3e38])
    def test_frames_without_a_finite_place(self, data: bytes, value: float) -> None:
        h = header_of(data)
        frame = h["offset_frames"] + h["framesize"]
        self.refuse(poked(data, frame + 4, struct.pack("<f", value)), "frame 1", "axis y", offset=frame + 4)
        if abs(value) != 3e38:
            odd = poked(data, frame + 12 + 4, struct.pack("<f", value))
            self.refuse(odd, "frame 1", "axis y", offset=frame + 4)


class TestAnyBytes:
    """Whatever the bytes, there is a model or an ``Md2Error``, and no great need of memory."""

    def test_every_truncated_file_is_read_or_refused(self, data: bytes) -> None:
        for size in range(len(data)):
            try:
                parse_model(data[:size])
            except Md2Error:
                continue

    @pytest.mark.slow
    def test_random_damage(self, data: bytes) -> None:
        rng = np.random.default_rng(2)
        extremes = [0, 1, -1, 4, 67, 68, 255, 65535, 2**31 - 1, -(2**31), len(data)]
        for _ in range(4000):
            damaged = bytearray(data)
            for _ in range(rng.integers(1, 4)):
                place = 4 * int(rng.integers(1, 17 if rng.random() < 0.6 else len(data) // 4))
                damaged[place : place + 4] = struct.pack("<i", int(rng.choice(extremes)))
            try:
                model = parse_model(bytes(damaged))
            except Md2Error:
                continue
            assert parse_model(format_model(model)) == model

    def test_random_bytes(self) -> None:
        rng = np.random.default_rng(3)
        for _ in range(500):
            noise = rng.integers(0, 256, 400, np.uint8).tobytes()
            try:
                parse_model(struct.pack("<4si", b"IDP2", 8) + noise)
            except Md2Error:
                continue

    def test_huge_counts_cost_no_memory(self, data: bytes) -> None:
        great = [{name: 2**31 - 1} for name in FIELDS[4:]]
        great += [{"num_vertices": 2**29, "framesize": 2**31 - 1}]
        tracemalloc.start()
        for values in great:
            try:
                parse_model(changed(data, **values))
            except Md2Error:
                continue
        _now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1 << 20
