"""Rows read in bulk have the same values, and give the same messages, as rows read one by one."""

from __future__ import annotations

import md5_targets as fuzz
import pytest
from md5_samples import MESH

from io_idtech.io_md5.format import parse_mesh
from io_idtech.io_md5.format.text import rows
from io_idtech.io_md5.format.text.rows import extract_rows

pytest.importorskip("hypothesis", reason="the property tests need hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

# The last lines of a text are read in another way; here those are empty.
TEXT = MESH + fuzz.FAR.decode()
DATA = TEXT.encode()
FIRST_ROW = DATA.index(b"\tvert 0")


@pytest.fixture(scope="module", autouse=True)
def _few_rows_are_enough():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "MIN_LINES", 1)
        yield


def test_rows_as_exporters_write_them_are_read_in_bulk():
    cut = extract_rows(DATA)
    assert [block.shape for block in cut.rows.values()] == [(3, 5), (2, 4), (4, 6)]
    assert [cut.text[offset:].split(b"\n")[0] for offset in cut.rows] == [b"vert", b"tri", b"weight"]
    assert cut.text.count(b"\n") == DATA.count(b"\n")
    fuzz.assert_same(parse_mesh, DATA)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ("\tvert", "  vert"),
        ("vert 1 (", "vert   1   ("),
        ("( 0.25 1 )", "(0.25 1)"),
        ("( 0.25 1 )", "0.25 1"),
        ("numverts 3", "numverts 7"),
        ("numverts 3", "numverts 3 // three"),
        ("numverts 3", "/* numverts 3"),
        ("numverts 3", 'shader "numverts 3'),
        ("\tnumverts 3", "\tnumverts 3\n\tnumverts 3"),
        ("vert 0 ( 0 0 ) 0 1", "vert 0 ( 0 0 ) 0 1 // first"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 ) 1 2 /* num */"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 )\n1 2"),
        ("vert 1 ( 0.25 1 ) 1 2\n", ""),
        ("vert 1 ( 0.25 1 ) 1 2\n", "\n"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert1 ( 0.25 1 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "v1ert ( 0.25 1 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "1 vert ( 0.25 1 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 2.5e-1 1 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( +.25 1. ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25\r1 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1e999 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1e ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1\0) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 (" + 60 * " " + "0.25 1 ) 1 2"),
        ("vert 0 ( 0 0 ) 0 1", "vert 0 (" + 60 * " " + "0 0 ) 0 1"),
        ("vert 0 ( 0 0 ) 0 1", "vert 0 ( 0 0e0 ) 0 1"),
        ("vert 0 ( 0 0 ) 0 1", "vert 0 ( 0 0 0 ) 0 1"),
        ("\tvert", "\t" + 60 * " " + "vert"),
        ("tri 0 0 1 2", "tri -0 0 1 2"),
        ("tri 1 2 1 0", "tri 1 12345678 1 0"),
        ("tri 1 2 1 0", "tri 1 2 0000000001 0"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.2.5 1 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 - ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( .-25 1 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( . 0-25 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( -. 0-25 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( -.25 1. ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25-1 ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 nan ) 1 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 ) 1.5 2"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 ) 1 20"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 1 ( 0.25 1 ) 1 0"),
        ("vert 1 ( 0.25 1 ) 1 2", "vert 9 ( 0.25 1 ) 1 2"),
        ("0 1\n\tvert 1 ( 0.25 1 )", "0 1 7\n\tvert 1 ( 0.25 )"),
        ("\ttri 0 0 1 2\n\ttri 1 2", "\ttri 0 0 1 2 1\n\ttri 2"),
        ("tri 1 2 1 0", "tri 1 2 1 3"),
        ("tri 1 2 1 0", "tri 1 2 1 -1"),
        ("tri 1 2 1 0", "tri 1 2 1 0.5"),
        ("tri 1 2 1 0", "tri 1 2 1 4294967296"),
        ("tri 1 2 1 0", "tri 1 2 1 99999999999999999999"),
        ("tri 1 2 1 0", "tri 1 2 1 0 }"),
        ("tri 1 2 1 0", "tri 1 2 1 -"),
        ("tri 1 2 1 0", "tri 1 - 1 0"),
        ("tri 1 2 1 0", "tri 1 2 1 - 0"),
        ("tri 0 0 1 2\n\ttri 1 2 1 0", "tr i 0 0 1 2\n\ttr i 1 2 1 0"),
        ("0 1\n\tvert 1", "0 1\n\tnan\n\tvert 1"),
        ("( 0.5 -0.125 ) 3 1\n", "( 0.5 -0.125 ) 3 1\n\tnan\n\t4 5\n"),
        ("( 0.5 -0.125 ) 3 1\n", "( 0.5 -0.125 ) 3 1\n\tname \"n\"\n\tvert 3 ( 0 0 ) 0 1\n"),
        ("\n\tnumweights", "numweights"),
        ("weight 2 2 0.25", "weight 2 3 0.25"),
        ("weight 2 2 0.25", "weight 2 -1 0.25"),
        ("weight 2 2 0.25", f"weight 2 2 {'9' * 60}"),
        ("weight 2 2 0.25", f"weight 2 2 -0.{'9' * 30}"),
        ("weight 2 2 0.25", "weight 2 2 -0.000"),
        ("( 0 0 -10 )\n}", "( 0 0 -10 ) }"),
        ("( 0 0 -10 )\n}", "( 0 0 -10 )"),
        ("mesh {", "mesh {\n\tvert 0 ( 0 0 ) 0 1\n"),
        ("mesh {", "nomesh {"),
        ("// hips", "// hips numverts 2\n\tvert 0 0 0 0 1\n\tvert 1 0 0 0 1"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_bulk_reading_of_rows_gives_the_same_result(old, new):
    assert old in MESH
    for text in (TEXT, MESH):
        data = text.replace(old, new).encode()
        fuzz.assert_same(parse_mesh, data)


@pytest.mark.parametrize("row", ["v ert 0 ( 0 0 ) 0 1", "ve0rt 0 ( 0 0 ) 0 1", "ver 0 t ( 0 0 ) 0 1"])
def test_a_word_split_across_rows_is_not_a_row(row):
    start, end = TEXT.index("vert 0 ("), TEXT.index("\n\n\tnumtris")
    data = f"{TEXT[:start]}{row}{TEXT[end:]}".encode()
    fuzz.assert_same(parse_mesh, data)


@pytest.mark.slow
@settings(max_examples=400)
@given(
    st.lists(
        st.tuples(st.integers(FIRST_ROW, len(MESH) - 1), st.sampled_from([*b' \n\t().-+0159e/*"}nvt', None])),
        min_size=1,
        max_size=3,
    )
)
def test_damaged_bytes_among_rows_give_the_same_message(changes):
    letters = list(DATA)
    for place, byte in changes:
        letters[place] = byte
    data = bytes(byte for byte in letters if byte is not None)
    fuzz.assert_same(parse_mesh, data)


@pytest.mark.slow
@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "-"]),
            st.text("0123456789", max_size=9),
            st.sampled_from(["", ".", ".5", ".000", ".1000000000", ".123456789012345678", ".00000000000000000000001"]),
        ).filter(lambda parts: parts[1] + parts[2] not in ("", ".")),
        min_size=5,
        max_size=5,
    )
)  # fmt: skip
def test_decimals_are_read_as_the_floats_nearest_to_them(parts):
    numbers = ["".join(part) for part in parts]
    bias, x, y, z, s = numbers
    data = TEXT.replace("weight 2 2 0.25 ( 7 8 9.0625 )", f"weight 2 2 {bias} ( {x} {y} {z} )")
    data = data.replace("( 0.25 1 )", f"( {s} 1 )").encode()
    fuzz.assert_same(parse_mesh, data)
    mesh = parse_mesh(data).meshes[0]
    read = [mesh.weight_biases[2], *mesh.weight_positions[2], mesh.uvs[1, 0]]
    assert [float(number).hex() for number in read] == [float(number).hex() for number in numbers]


def test_a_row_in_another_layout_does_not_keep_the_others_from_being_read_in_bulk():
    data = DATA.replace(b"vert 1 ( 0.25 1 )", b"vert 1 ( 25e-2   1. )")
    assert len(extract_rows(data).rows) == 3
    assert fuzz.in_columns(parse_mesh, data) == fuzz.one_by_one(parse_mesh, DATA)
    fuzz.assert_same(parse_mesh, data)


def test_many_rows_in_another_layout_are_left_to_the_scanner():
    verts = "\n".join(f"\tvert {row} ( 0 {'0' if row == 0 else '1e-2'} ) 0 1" for row in range(500))
    start, end = TEXT.index("\tvert 0"), TEXT.index("\n\n\tnumtris")
    data = f"{TEXT[:start]}{verts}{TEXT[end:]}".encode()
    assert [block.shape[1] for block in extract_rows(data).rows.values()] == [4, 6]
    fuzz.assert_same(parse_mesh, data)


def test_meshes_of_few_rows_are_read_together():
    start, end = TEXT.index("mesh {"), TEXT.index("}\n", TEXT.index("weight 3")) + 2
    data = (TEXT[:end] + 300 * ("\n" + TEXT[start:end]) + TEXT[end:]).encode()
    assert len(extract_rows(data).rows) == 903
    fuzz.assert_same(parse_mesh, data)


@pytest.mark.slow
@pytest.mark.parametrize("point", range(1, 9))
@pytest.mark.parametrize("more", range(-2, 4))
def test_decimals_are_exact_up_to_the_last_whole_number_that_is_a_float(more, point):
    digits = str((1 << 53) + more)
    number = f"{digits[:point]}.{digits[point:]}"
    data = TEXT.replace("weight 2 2 0.25", f"weight 2 2 {number}").encode()
    assert parse_mesh(data).meshes[0].weight_biases[2] == float(number)
    fuzz.assert_same(parse_mesh, data)


@pytest.mark.slow
@pytest.mark.parametrize("byte", [byte for byte in range(256) if byte not in b"0123456789"])
def test_only_digits_are_read_as_digits(byte):
    for old in (b"0.25 (", b"9.0625", b"weight 2 2"):
        data = DATA.replace(old, old[:2] + bytes([byte]) + old[3:])
        fuzz.assert_same(parse_mesh, data)
