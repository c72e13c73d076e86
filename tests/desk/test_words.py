"""What a newcomer gets wrong in Python is said in words: an unread table, a class for a method, a bare number."""

from __future__ import annotations

import pandas as pd
import pytest

import sfumato as sf

FRAME = pd.DataFrame({"age": [30, 31, 32, 33], "illness": ["a", "b", "a", "b"]})


def test_an_unread_table_and_a_class_for_a_method_are_named() -> None:
    people = sf.read(FRAME).roles(quasi=["age"], sensitive=["illness"])
    with pytest.raises(sf.SchemaError, match=r"sf\.read"):
        sf.publish(FRAME, sf.Mondrian(), require=sf.KAnonymity(2))
    with pytest.raises(sf.ParameterError, match=r"sf\.Mondrian\(\)"):
        sf.publish(people, sf.Mondrian, require=sf.KAnonymity(2))
    release = sf.publish(people, sf.Mondrian(), require=sf.KAnonymity(2))
    with pytest.raises(sf.SchemaError, match=r"sf\.read"):
        sf.measure(release, truth=FRAME)


@pytest.mark.parametrize("made", [lambda: sf.KAnonymity(0), lambda: sf.KAnonymity(2.5), lambda: sf.KAnonymity(k=0)])
def test_a_wrong_parameter_is_named_even_when_given_by_place(made) -> None:
    with pytest.raises(sf.ParameterError, match="KAnonymity: k should be"):
        made()
