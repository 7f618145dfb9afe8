import pytest

from io_idtech.io_common.declarations.modeldef import Definition, with_definition

IMP = Definition("Imp", "models/imp", "imp.md3", (), "Skin 0", "IMPA", False, (), 35.0)


@pytest.mark.parametrize("head", ["Model Imp // the imp\n", 'model /* a */ "imp"\n// Model Imp { }\n', "Model Imp"])
def test_a_block_is_replaced_whatever_comments_are_in_front_of_its_brace(head):
    text = with_definition(f"// first\n{head}{{\n\tScale 1 1 2\n}}\nModel Other {{ }}\n", IMP)
    assert text.startswith("// first\nModel Imp\n{")
    assert text.endswith("}\nModel Other { }\n")
    assert text.lower().count("imp\n") == 1
    assert "\tScale 1 1 2\n" in text


def test_a_block_in_a_comment_stays_and_a_new_one_is_added():
    comment = "/* Model Imp { } */"
    text = with_definition(comment, IMP)
    assert text.startswith(f"{comment}\n\nModel Imp\n{{")
    assert text.endswith("}\n")
