"""Three doors, one effect: every row of the table of operations is done by each of its doors (page, API, command) on equal sites, and what
is stored, noted, sent and seen afterwards must be the same. Operations that only ask must give the same JSON by API and command.
A row that stands in no example below fails."""
import difflib

import pytest
from door_examples import EXAMPLES, ONE_DOOR
from doors import DOORS, OPERATIONS, Site, do, doors_of, prepare, without_commands
from provider import Provider


class Sites:
    """Three that are alike. After a test that failed they are no longer, and the next one gets others."""

    def __init__(self, directory):
        self.directory, self.sites, self.number, self.provider = directory, None, 0, Provider()

    def alike(self):
        if self.sites is None:
            self.number += 1
            self.sites = {door: Site(self.directory / f"{door}{self.number}", self.provider) for door in DOORS}
        return self.sites

    def stop(self):
        sites, self.sites = self.sites or {}, None
        assert not any([site.stop() for site in sites.values()])


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    sites = Sites(tmp_path_factory.mktemp("doors"))
    yield sites
    sites.stop()
    sites.provider.stop()


def test_every_operation_has_an_example():
    assert sorted(OPERATIONS) == sorted({name for name, _ in EXAMPLES} | set(ONE_DOOR))
    assert [name for name in ONE_DOOR if len(doors_of(OPERATIONS[name])) > 1] == []


def differences(of, first, second, names):
    return list(difflib.unified_diff(first, second, f"{of} by {names[0]}", f"{of} by {names[1]}", lineterm="", n=0))


def compare(effects, doors, differs):
    """What differs between the first door and each of the others."""
    found = []
    first = effects[doors[0]]
    for door in doors[1:]:
        other, names = effects[door], (doors[0], door)
        for part in {"cells", "gone", "audit", "mail"} - set(differs):
            found += differences(part, getattr(first, part), getattr(other, part), names)
        for page in first.seen if "seen" not in differs else ():
            if first.seen[page] != other.seen[page]:
                found += differences(page, first.seen[page].split(". "), other.seen[page].split(". "), names)
    if {"api", "command"} <= set(doors) and "answer" not in differs:
        api, command = (without_commands(effects[door].answer) for door in ("api", "command"))
        if api != command:
            found.append(f"answers differ:\n  API     {api}\n  command {command}")
    return found


def judge(row, deeds, effects, doors):
    deed = deeds[doors[0]]
    for door in doors:
        effect = effects[door]
        assert effect.done == (deed.refused is None), f"{door}: {effect.text}"
        if deed.refused is not None:
            assert deed.refused in effect.text, f"{door}: {effect.text}"
            left = [line for line in effect.cells + effect.gone + effect.mail if not line.startswith("cell\tlogins\t")]
            assert not left or "left" in deed.differs, f"{door}: refused, and {left}"
    found = compare(effects, doors, {**deed.differs, **({"answer": "it is refused"} if deed.refused is not None else {})})
    assert not found, "\n" + "\n".join(found)
    if "command" in doors and deed.who and deed.refused is None and not row["asks"] and not row["audits"] and row["access"] != "guest":
        assert effects["command"].in_name, "the audit log does not say in whose name the operator did it"
    if row["audits"] and not row["asks"] and deed.refused is None:
        kinds = {line.split("\t")[1] for line in effects[doors[0]].audit}
        assert kinds & set(row["audits"]) or "person-as" in row["audits"], f"the audit log has {kinds}"


@pytest.mark.parametrize("words", [("roll", "import"), ("roll", "remove"), ("invite", "import")], ids=" ".join)
def test_a_list_that_is_not_there_is_not_an_empty_one(sites, words):
    code, text = sites.alike()["command"].command(*words, "/nowhere/people.csv")
    assert code == 1 and "cannot open /nowhere/people.csv" in text


@pytest.mark.parametrize("number", range(1, len(EXAMPLES) + 1), ids=[f"{name}-{example.__name__}" for name, example in EXAMPLES])
def test_doors_have_one_effect(sites, number):
    name, example = EXAMPLES[number - 1]
    if hasattr(example, "is_new"):
        sites.stop()
    row, alike = OPERATIONS[name], sites.alike()
    doors = doors_of(row)
    by = {door: door if door in doors else doors[0] for door in DOORS}  # so that the sites stay alike
    deeds = {door: prepare(alike[door], number, example, name, by[door]) for door in DOORS}
    effects = {door: do(alike[door], deeds[door], row, by[door]) for door in DOORS}
    try:
        judge(row, deeds, effects, doors)
    except AssertionError:
        sites.stop()
        raise
