"""Conditional updates and the order of writes are as the contract says on a cluster of which one node of three is dead, or paused; with `--long` all of
the contract, and the ledger end to end."""
import os
import subprocess

import pytest

import nodes

DECIDED = ["contract/contract_conditional_test", "contract/contract_order_test"]
ALL = DECIDED + ["contract/contract_slice_test", "contract/contract_bytes_test",
                     "contract/contract_expiry_test", "contract/contract_limits_test", "contract/contract_many_test",
                     "contract/contract_scan_test", "contract/contract_threads_test", "contract/contract_model_test", "votes/votes_test"]
# A store is opened for every test, and it takes a while to hear that a node is gone: the short form has what is decided among the nodes.
PROGRAMS = ALL if nodes.LONG else DECIDED


@pytest.fixture(scope="module", params=["kill", "pause"])
def hurt(request):
    """Node 3 cannot be reached while the tests run."""
    nodes.heal()
    nodes.cluster(request.param, 3)
    yield request.param
    nodes.heal()


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_suite_passes_without_one_node(hurt, program):
    done = subprocess.run([nodes.PLAIN / "tests" / program], env={**os.environ, "OSTRAKA_TEST_STORE": "cassandra"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3000 if nodes.LONG else 400)
    assert done.returncode == 0, done.stdout
    assert "\nok " in "\n" + done.stdout and "not ok" not in done.stdout
