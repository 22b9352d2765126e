"""The log of acts from the command line: what instances did is in it, and the filters hold."""
import json

from conftest import ostraka


def listed(data, *flags):
    done = ostraka("audit", "list", *flags, "--json", "--data", data)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["acts"]


def test_an_instance_that_comes_and_goes_is_in_the_log_and_not_in_public(serve):
    server = serve()
    beside = listed(server.data)
    assert [act["kind"] for act in beside] == ["site-start"]
    assert beside[0]["outcome"] == "done" and beside[0]["instance"] == "127.0.0.1:0" and beside[0]["actor"] is None
    assert server.stop() == 0
    alone = listed(server.data)
    assert [act["kind"] for act in alone] == ["site-stop", "site-start"]
    assert listed(server.data, "--before", alone[0]["id"]) == alone[1:]
    assert listed(server.data, "--kind", "site-stop") == alone[:1]
    assert listed(server.data, "--public") == [] and listed(server.data, "--policy", "1") == []
    text = ostraka("audit", "list", "--data", server.data)
    assert text.returncode == 0 and len(text.stdout.splitlines()) == 2


def test_wrong_words_are_named(serve):
    data = serve().data
    for flags, word in ((["--kind", "tea"], "tea"), (["--who", "nobody"], "nobody"), (["--limit", "101"], "100")):
        done = ostraka("audit", "list", *flags, "--data", data)
        assert done.returncode == 1 and word in done.stderr, done.stderr
