"""Names as Blender can hold them."""

from __future__ import annotations

import pytest

from io_idtech.io_common.names import distinct, for_blender, for_files

LIMIT = 63


@pytest.mark.parametrize(
    ("shown", "made"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a.001", "a.002"]),
        (["a", "a.001", "a"], ["a", "a.001", "a.002"]),
        (["a.001", "a.001"], ["a.001", "a.002"]),
        (["a", "A"], ["a", "A"]),
        (["x" * 63, "x" * 63], ["x" * 63, "x" * 59 + ".001"]),
        (["é" * 31, "é" * 31], ["é" * 31, "é" * 29 + ".001"]),
    ],
)
def test_equal_names_are_numbered_as_blender_does(shown, made):
    assert distinct(shown, LIMIT) == made


def test_however_many_are_equal_or_are_cut_to_the_same_they_differ_and_fit():
    shown = [for_blender(name, LIMIT, "none") for name in ["twin"] * 5000 + ["y" * 100] * 5000 + [""] * 10]
    shown += [("z" * 60 + str(number))[:LIMIT] for number in range(2000)]
    made = distinct(shown, LIMIT)
    assert len(set(made)) == len(shown)
    assert max(len(name.encode()) for name in made) <= LIMIT


DEVICES = ["CON", "PRN", "AUX", "NUL", *(f"{port}{digit}" for port in ("COM", "LPT") for digit in range(1, 10))]


@pytest.mark.parametrize("device", DEVICES)
def test_no_file_is_named_like_a_device_of_windows(device):
    assert for_files(device, "none") == f"{device}_"
    assert for_files(device.lower(), "none") == f"{device.lower()}_"
    assert for_files(f"{device}.idle.2", "none") == f"{device}_.idle.2"
    assert for_files(f"{device} .idle", "none") == f"{device} _.idle"
    assert for_files(f" {device}. ", "none") == f"{device}_"


@pytest.mark.parametrize("name", ["console", "auxiliary", "com", "COM10", "lpt", "a.con", "run con", "null"])
def test_names_that_only_look_like_devices_stay(name):
    assert for_files(name, "none") == name


@pytest.mark.parametrize(
    ("name", "made"),
    [("run.", "run"), ("run ", "run"), ("run. . ", "run"), (" ..run", "run"), (". .", "none"), ("", "none")],
)
def test_names_of_files_neither_begin_nor_end_with_dots_and_blanks(name, made):
    assert for_files(name, "none") == made


def test_signs_that_file_systems_refuse_become_underscores():
    assert for_files('a<b>c:d"e/f\\g|h?i*j\x00k\x1fl', "none") == "a_b_c_d_e_f_g_h_i_j_k_l"
