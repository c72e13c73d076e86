"""`sfumato advise proximity`: figures on stdout in the published schema, exit 4 with what can be met."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_verbs import checked, said


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    salaries = [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000]
    (tmp_path / "pay.csv").write_text("name,salary\n" + "".join(f"N{i},{s}\n" for i, s in enumerate(salaries)))


def test_what_can_be_met_and_what_cannot(capsys) -> None:
    asked = ["advise", "proximity", "pay.csv", "--on", "salary", "--m", "3"]
    found = checked("advice", said(capsys, [*asked, "--epsilon", "19.5", "--json"])[0])
    assert found["achievable"] and found["epsilon_supremum"] == 20 and len(found["frontier"]) == 7
    out, err = said(capsys, [*asked, "--epsilon", "20"], code=4)
    assert "largest m for this ε: 2" in out and "ε must be below 20" in err
    open_ended = checked("advice", said(capsys, [*asked[:5], "--m", "1", "--relative", "--json"])[0])
    assert open_ended["achievable"] is open_ended["largest_m"] is open_ended["epsilon_supremum"] is None


@pytest.mark.parametrize(
    ("more", "code"),
    [(["--on", "name"], 2), (["--on", "pay"], 5), (["--on", "salary", "--epsilon", "x"], 2),
     (["--on", "salary", "--epsilon", "2", "--relative"], 2)],
)  # fmt: skip
def test_mistakes_have_their_exit_codes(capsys, more: list[str], code: int) -> None:
    assert "N1" not in said(capsys, ["advise", "proximity", "pay.csv", *more], code=code)[1]
