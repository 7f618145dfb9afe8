"""What is in an MD2 file, in numbers."""

from __future__ import annotations

from md2_samples import write_two_sequences

from io_idtech.io_md2.format import describe, read_model


def test_a_model_is_described_like_its_file(tmp_path):
    path = write_two_sequences(tmp_path)
    assert describe(read_model(path)) == describe(path) == describe(path.read_bytes())


def test_info_of_an_md2_has_its_frames_sequences_and_skins(tmp_path):
    facts = describe(write_two_sequences(tmp_path)).facts
    assert (facts["frames"], facts["vertices"], facts["triangles"]) == (4, 4, 2)
    assert facts["skin_size"] == [64, 32]
    assert facts["skins"] == ["models/box/skin.pcx"]
    assert facts["sequences"] == [{"name": "stand", "first": 0, "last": 2}, {"name": "run", "first": 3, "last": 3}]
    assert facts["box"] == [[0, 0, 0], [4.5, 4.5, 2.5]]
