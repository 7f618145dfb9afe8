"""The head of an animation: what a list of files shows, read without the frames."""

from __future__ import annotations

import os

import needs
import numpy as np
import pytest
from md5_samples import ANIMATION, OLD_ANIMATION, edited, random_animation

from io_idtech.io_md5.format import Md5Error, read_animation, read_animation_header, write_animation


def write(folder, text):
    path = folder / "walk.md5anim"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [ANIMATION, OLD_ANIMATION], ids=["version 10", "old layout"])
def test_the_head_says_the_same_as_the_whole_file(tmp_path, text):
    path = write(tmp_path, text)
    head, whole = read_animation_header(path), read_animation(path)
    assert head.names == whole.names
    assert head.parents.tolist() == whole.parents.tolist()
    assert (head.frame_count, head.frame_rate) == (whole.frame_count, whole.frame_rate)
    assert head.has_hierarchy == whole.has_hierarchy


def test_the_frames_are_not_read(tmp_path):
    path = write(tmp_path, ANIMATION)
    whole = read_animation(path)
    cut = write(tmp_path, ANIMATION[: ANIMATION.index("bounds")] + "frame 0 { not a number")
    assert read_animation_header(cut).names == whole.names
    with pytest.raises(Md5Error):
        read_animation(cut)


def test_a_long_file_is_read_no_further_than_its_first_chunk(tmp_path, monkeypatch):
    path = tmp_path / "long.md5anim"
    animation = random_animation(np.random.default_rng(1), joints=4, frames=2000, flags=np.full(4, 63, np.int32))
    write_animation(animation, path)
    assert path.stat().st_size > 4 * (1 << 16)
    sizes = []
    fdopen = os.fdopen

    class Counting:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        def read(self, size=-1):
            data = self.file.read(size)
            sizes.append(len(data))
            return data

    monkeypatch.setattr(os, "fdopen", lambda *words: Counting(fdopen(*words)))
    assert read_animation_header(path).frame_count == 2000
    assert sum(sizes) <= 1 << 16


def test_counts_after_the_hierarchy_are_found(tmp_path):
    text = "\n".join(line for line in ANIMATION.splitlines() if not line.startswith("frameRate"))
    rate = next(line for line in ANIMATION.splitlines() if line.startswith("frameRate"))
    head = read_animation_header(write(tmp_path, f"{text}\n{rate}\n"))
    assert head.frame_rate == read_animation(write(tmp_path, ANIMATION)).frame_rate


def test_words_in_comments_and_strings_do_not_count(tmp_path):
    text = edited(ANIMATION, "hierarchy {", "// hierarchy { }\nhierarchy { // } } }")
    assert read_animation_header(write(tmp_path, text)).names == read_animation(write(tmp_path, ANIMATION)).names


@pytest.mark.parametrize(
    "text",
    ["", "nothing", "MD5Version 10", 'hierarchy { "a" }', 'numFrames 1\nframeRate 24\nhierarchy { "a" 7 0 0 }',
     'numFrames 1\nframeRate 24\nhierarchy { "a" -1 0'],
)  # fmt: skip
def test_what_is_no_animation_is_refused_with_the_name_of_the_file(tmp_path, text):
    with pytest.raises(Md5Error, match=r"walk\.md5anim"):
        read_animation_header(write(tmp_path, text))


@needs.pipes
def test_a_pipe_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.md5anim")
    with pytest.raises(OSError, match="regular file"):
        read_animation_header(tmp_path / "pipe.md5anim")
