"""The .md5scale file: what is read, what is refused with its place, and how it is written."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from io_idtech.io_common.skeletal.scales import ScaleTable
from io_idtech.io_md5.format import Md5Error
from io_idtech.io_md5.format.scale_file import (
    Scales,
    format_scales,
    parse_scales,
    read_scales,
    scales_of_table,
    write_scales,
)

GOOD = b'{"arm": {"scale_positions": true, "12": 0.0, "13": 0.5}, "leg": {"0": -2e0}}'


def test_joints_frames_and_switches_are_read():
    scales = parse_scales(GOOD)
    assert scales.joints == {"arm": {12: 0.0, 13: 0.5}, "leg": {0: -2.0}}
    assert (scales.scales_positions, scales.warnings) == ({"arm"}, [])


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ('{\n"a": {\n  "1": }}', 3, 8),
        ('{"a": {"1": 01}}', 1, 14),
        ('{"a": {"1": 1}', 1, 15),
        ('{"a": {"1": 1}} {}', 1, 17),
        ("{a: {}}", 1, 2),
        ('{"a" {}}', 1, 6),
        ('{"a": {} "b": {}}', 1, 10),
    ],
)
def test_what_is_no_json_is_refused_with_line_and_column(text, line, column):
    with pytest.raises(Md5Error) as caught:
        parse_scales(text.encode(), "x.md5scale")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert f"x.md5scale, line {line}, column {column}" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[1]", "the file is not an object"),
        ('{"a": 1}', "the joint 'a' is not an object"),
        ('{"a": {"1": 1e999}}', "the scale '1' of 'a'"),
        ('{"a": {"1": 2e6}}', "the scale '1' of 'a'"),
        ('{"a": {"1": "2"}}', "the scale '1' of 'a'"),
        ('{"a": {"1": true}}', "the scale '1' of 'a'"),
        ('{"a": {"1": NaN}}', "the scale '1' of 'a'"),
        ('{"a": {"1": [1]}}', "the scale '1' of 'a'"),
        ('{"a": {"scale_positions": 1}}', "scale_positions of 'a'"),
        ('{"\\ud800": {}}', "a key of the file"),
        ('{"a": {"\\ud800": 1}}', "a key of the joint 'a'"),
    ],
)
def test_values_that_no_game_takes_are_refused_with_their_joint(text, place):
    with pytest.raises(Md5Error, match=re.escape(place)) as caught:
        parse_scales(text.encode(), "x.md5scale")
    assert str(caught.value).endswith("(x.md5scale)")


def test_deep_nesting_is_refused_like_any_other_invalid_text():
    with pytest.raises(Md5Error):
        parse_scales(b'{"a":' * 100_000)


def test_keys_that_are_no_frames_are_warnings():
    scales = parse_scales(b'{"a": {"first": 2, "-1": 3, "1.5": 4, "99999999999": 1, "2": 5}}')
    assert scales.joints == {"a": {2: 5.0}}
    assert "'first', '-1', '1.5', '99999999999'" in scales.warnings[0]


def test_the_table_has_ones_where_nothing_is_given_and_warns_of_what_the_animation_lacks():
    table, warnings = parse_scales(GOOD).table(["root", "leg", "leg"], 1)
    np.testing.assert_array_equal(table.values, [[1.0, -2.0, 1.0]])
    assert not table.scales_position.any()
    assert "'arm'" in warnings[0]
    assert warnings[1].endswith("it has 1: 12, 13")


def test_what_is_written_is_json_of_scales_other_than_1_and_does_not_depend_on_the_order_of_frames():
    table = ScaleTable(np.array([[1.0, 0.1, 1.0], [1.0, 1.0, 3.0]]), np.array([True, True, False]))
    scales = scales_of_table(["a", "b", "c"], table)
    data = format_scales(scales)
    assert json.loads(data) == {"b": {"scale_positions": True, "0": 0.1}, "c": {"1": 3.0}}
    shuffled = Scales({"b": {9: 1.0, 2: 2.0, 0: 0.1}})
    assert list(json.loads(format_scales(shuffled))["b"]) == ["0", "2"]
    assert format_scales(parse_scales(data)) == data


def test_numbers_are_as_short_as_32_bits_allow():
    assert b'"0": 0.3\n' in format_scales(Scales({"a": {0: float(np.float32(0.3))}}))
    assert b'"0": 0.0\n' in format_scales(Scales({"a": {0: -0.0}}))


def test_values_that_no_reader_takes_are_not_written():
    for value in (float("nan"), float("inf"), 1e7):
        with pytest.raises(Md5Error, match="joint 'a'"):
            format_scales(Scales({"a": {0: value}}))


def test_without_scales_an_empty_object_is_written():
    assert json.loads(format_scales(Scales({"a": {0: 1.0}}))) == {}


def test_names_that_are_not_utf_8_come_back(tmp_path):
    data = b'{"kn\\u00f6chel \\" \\\\": {"1": 2.0}}'.replace(b'{"k', b'{"\xff')
    scales = parse_scales(data)
    write_scales(scales, tmp_path / "a.md5scale")
    assert read_scales(tmp_path / "a.md5scale").joints == scales.joints


def test_a_scale_that_is_1_in_32_bits_is_left_out():
    assert format_scales(Scales({"a": {0: 1.0 + 1e-12}})) == b"{\n}\n"
