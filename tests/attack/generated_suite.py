"""Generated requests over all routes by people of every role, valid and spoiled: none may end in a 500, in a sanitizer's report, or take long.

A run in which the door refuses most proves nothing, so how many reached a handler is said, and it must be at least half."""
import collections
import subprocess

from attacked_site import LONG, PLAIN, SEED, clean_environment
from generator import KINDS, POLICIES, Digest, Generator, Offer, Person, reached_handler, send_plan

REQUESTS = 100_000 if LONG else 5_000
SLOWEST_S = 6  # under the sanitizers, on a machine that does other things, too
BACKUPS = 3


def tell(*words):
    return subprocess.run([PLAIN, *words], env=clean_environment(), capture_output=True, text=True, check=True).stdout


def furnish(site):
    """A site with something of everything."""
    site.add("dan")
    made = [site.policy(f"Policy number {number}") for number in range(POLICIES)]
    assert made == list(range(1, POLICIES + 1)), made
    site.add("chief", "admin")
    chief = site.known("chief")
    for name in ("Reds", "Blues"):
        assert chief.api("POST", "admin/parties", {"name": name}).code in (200, 201)
    site.call("policy", "answer", "1", "--as", "chief", "--text", "Considered.", "--outcome", "considering", "--seen", "0" * 32)
    for policy in (1, 2, 3):
        assert site.visitor().api("POST", "reports", {"words": "Look at it.", "policy": policy}).code in (200, 201)
    for _ in range(20):  # some are given up
        chief.api("POST", "journals/open/entries", {"data": "x"})
        chief.api("POST", "journals/open/bury", {"tokens": [chief.api("POST", "journals/open/claim", {}).json["entries"][0]["token"]]})
    people = chief.api("GET", "admin/people?q=dan").json["people"]
    site.somebody = next(person["id"] for person in people if person["name"] == "dan")
    return chief


def is_forbidden_here(plan, counts):
    """What would fill the disk if it were done thousands of times."""
    if "backup" not in plan.path:
        return False
    counts["backups"] += 1
    return counts["backups"] > BACKUPS


def test_nothing_that_is_asked_breaks_the_site(begin, post, capsys, declared):
    site = begin("--request-seconds", "20", "--journal-file", declared, post=post)
    furnish(site)
    offer = Offer(site, tell)
    generator, digest = Generator(offer, SEED), Digest()
    people = {kind: Person(site, kind) for kind in KINDS}
    counts, codes, seen, reached, wrong, slowest = collections.Counter(), collections.Counter(), set(), 0, [], (0, "")
    for number in range(REQUESTS):
        plan = generator.plan(number)
        digest.add(plan)
        if is_forbidden_here(plan, counts):
            continue
        person = people[plan.role]
        if not person.is_in() or number % 400 == 0:
            person.come()
        what = f"{number}: {plan.role} {plan.method} {plan.pattern} {[name for name, _ in plan.faults]}"
        try:
            page = send_plan(person, plan, post)
        except OSError as error:
            wrong.append(f"{what}: {error!r}")
            site.is_well()
            continue
        codes[page.code] += 1
        if reached_handler(page):
            reached += 1
            seen.add(plan.operation)
        if page.code in (401,) or page.headers.get("location", "").startswith("/login"):
            person.cookies.pop("session", None)
        if "maintenance" in plan.path and page.code in (200, 303):
            site.call("maintenance", "off")
        if "electorate" in plan.path and page.code in (200, 303) and plan.method != "GET":
            site.call("electorate", "set", "open")
        if page.code >= 500 and not (page.code == 501 and plan.method == "XYZ"):
            wrong.append(f"{what}: {page.code} {page.text[:300]}")
        if page.seconds > SLOWEST_S:
            wrong.append(f"{what}: {page.seconds:.1f} s")
        slowest = max(slowest, (page.seconds, what))
        if len(wrong) > 20:
            break
    operations = {row["name"] for row in offer.operations if row["api"] or row["page"]}
    with capsys.disabled():
        print(f"\ngenerated requests: seed {SEED}, {sum(codes.values())} sent (plans {digest.text()}), {reached} reached a handler "
              f"({100 * reached // max(1, sum(codes.values()))} %), answers {dict(sorted(codes.items()))}; {len(operations & seen)} of {len(operations)} operations "
              f"were reached; the slowest took {slowest[0]:.2f} s ({slowest[1]})")
        if operations - seen:
            print(f"not reached: {', '.join(sorted(operations - seen))}")
    assert wrong == [], "\n".join(wrong)
    assert reached * 2 >= sum(codes.values()), f"only {reached} of {sum(codes.values())} reached a handler"
    assert len(operations & seen) >= 0.8 * len(operations), sorted(operations - seen)
    site.is_well()


def test_the_same_seed_makes_the_same_requests(begin, post):
    site = begin(post=post)
    offer = Offer(site, tell)

    def digest_of(seed):
        digest = Digest()
        for number in range(500):
            digest.add(Generator(offer, seed).plan(number))
        return digest.text()

    assert digest_of(1) == digest_of(1) != digest_of(2)
