"""What an admin comes for, in one journey, as roles_suite.py has them of the others."""
import pathlib
import re

from conftest import PASSWORD, follow, title_is
from playwright.sync_api import expect
from roles import acts_of, join_by, noted, person, town  # noqa: F401


def room(admin, name):
    admin.menu("Admin")
    admin.to(admin.page.locator("main .cards").get_by_role("link", name=name, exact=True))


def find_person(admin, name):
    room(admin, "People")
    admin.fill(q=name)
    admin.press("Find")
    admin.to(admin.page.locator("main .people").get_by_role("link", name=name, exact=True))
    title_is(admin.page, name)


def set_rights(by, why, **boxes):
    for value, on in boxes.items():
        by.page.locator(f"main input[type=checkbox][value={value}]").set_checked(on)
    by.fill(reason=why)
    by.press("Set")


def look_after_people(admin, town, person):
    page, vera = admin.page, person("vera")
    room(admin, "People")
    page.get_by_label("Role").select_option("moderate_policies")
    admin.press("Find")
    expect(page.locator("main .people li")).to_have_count(1)
    expect(page.locator("main .people li a")).to_have_text("mia")
    find_person(admin, "vera")
    set_rights(admin, "She knows it well.", feature=True)
    admin.told("Their roles and rights are set")
    vera.page.reload()
    vera.menu("Desk")
    find_person(admin, "vera")
    set_rights(admin, "For a week.", feature=False, vote=True)
    admin.told("Their roles and rights are set")
    vera.read("Harbour lights")
    expect(vera.page.locator("#vote")).to_contain_text("The right to vote was taken from your account")
    vera.may_not("/desk")
    find_person(admin, "vera")
    set_rights(admin, "The week is over.", vote=False)
    admin.page.locator("#sessions-reason").fill("Her telephone was stolen.")
    admin.press("Log them out everywhere")
    admin.told("They are logged out everywhere")
    vera.menu("My votes")
    expect(vera.page.locator("main")).to_contain_text("Your session has ended")
    guest = person()
    for name in ("twin-one", "twin-two"):
        guest.page.goto("/")
        guest.to("Join")
        guest.fill(name=name, email=f"{name}@example.org", password=PASSWORD)
        guest.press("Join")
        title_is(guest.page, "Check your e-mail")
    find_person(admin, "twin-one")
    expect(page.locator("main")).to_contain_text("twin-two registered with the same browser")
    find_person(admin, "admin")
    set_rights(admin, "It is enough.", admin=False)
    admin.wrong("from yourself")
    edda = person("edda")
    edda.menu("People")
    edda.may_not("/admin", "/admin/settings", "/admin/activity")


def look_after_parties(admin):
    page = admin.page
    room(admin, "Parties")
    page.locator("#name0").fill("The Harbour Party")
    follow(page, page.get_by_role("button", name="Add it"))
    admin.told("The party is saved")
    page.locator("summary").filter(has_text="The Harbour Party").click()
    form = page.locator("details").filter(has_text="The Harbour Party")
    form.get_by_label("Who they are").fill("Sailors.")
    form.get_by_label("Takes new policies").uncheck()
    follow(page, form.get_by_role("button", name="Save"))
    expect(page.locator("summary").filter(has_text="The Harbour Party")).to_contain_text("takes no new policies")


def look_after_rules(admin):
    page = admin.page
    room(admin, "Rules of the vote")
    page.get_by_label("Rule", exact=True).select_option("salary")
    admin.fill(value="140", **{"from": "2001-01-01T00:00"})
    admin.press("See what it does")
    admin.wrong("15 minutes")
    admin.fill(**{"from": "2999-01-01T12:00"})
    admin.press("See what it does")
    title_is(page, re.compile("salary will be 140"))
    expect(page.locator("main table")).to_contain_text("100 pollies every 7 days")
    expect(page.locator("main table")).to_contain_text("140 pollies every 7 days")
    admin.fill(reason="More for all.")
    admin.press("Change it")
    admin.told("The change is planned")
    expect(page.locator("main")).to_contain_text(re.compile("salary 100 → 140, from .*2999"))
    admin.fill(logins="30")
    follow(page, page.locator("form").filter(has=page.locator("#logins")).get_by_role("button"))
    admin.told("New ones are kept for that time")
    expect(page.locator("#logins")).to_have_value("30")


def set_rule(admin, mode, why, domains=None):
    room(admin, "Who may join")
    admin.page.locator(f"main input[type=radio][value={mode}]").check()
    if domains is not None:
        admin.fill(domains=domains)
    admin.fill(reason=why)
    admin.press("Set the rule")


def try_to_join(person, name, address):
    guest = person()
    guest.page.goto("/")
    guest.to("Join")
    guest.fill(name=name, email=address, password=PASSWORD)
    guest.press("Join")
    return guest


def choose_electorate(admin, town, person, place):
    """By domain, by invitation with a list, by roll with a list, and open again."""
    page = admin.page
    lines = place / "people.csv"
    lines.write_text("email,name\nina@example.net,Ina\nno address,Nobody\ngone@example.net,Gone\nina@example.net,Ina\n,Empty\n")
    set_rule(admin, "domain", "Only us.", domains="not a domain")
    admin.wrong("domain")
    admin.fill(domains="example.org")
    admin.press("Set the rule")
    admin.told("The rule is set")
    guest = try_to_join(person, "stranger", "stranger@elsewhere.example")
    guest.wrong("only addresses of certain domains may join here")
    set_rule(admin, "invitation", "By letter.")
    admin.told("The rule is set")
    guest.page.goto("/")
    guest.to("Join")
    expect(guest.page.locator("main")).to_contain_text("Only invited people can join")
    expect(guest.page.locator("main form")).to_have_count(0)
    page.get_by_text("Invite a whole list").click()
    page.locator("#lines-invites-file").set_input_files(lines)
    admin.press("Invite all of them")
    expect(page.locator("main [role=status]")).to_contain_text(["2 lines were left out"])
    expect(page.locator("main [role=status] li")).to_contain_text(["Line 3:", "Line 6:"])
    join_by(town, person(), "ina@example.net", "ina")
    set_rule(admin, "roll", "By the list.")
    admin.told("The rule is set")
    page.locator("#lines-file").set_input_files(lines)
    admin.press("Put them on the roll")
    expect(page.locator("main [role=status] li")).to_contain_text(["Line 3:", "Line 6:"])
    expect(page.locator("main")).to_contain_text("2 people are on it")
    guest = try_to_join(person, "stranger", "stranger@elsewhere.example")
    title_is(guest.page, "Check your e-mail")
    assert "not on the list" in town.post.letter("stranger@elsewhere.example", "could not join").replace("\n", " ")
    set_rule(admin, "open", "All are welcome.")
    admin.told("The rule is set")


def write_texts(admin, visitor):
    room(admin, "Texts")
    admin.to("Terms")
    admin.fill(words="## Of this town\n\nBe *kind*.")
    admin.press("See how it looks")
    expect(admin.page.locator(".prose em")).to_have_text("kind")
    admin.fill(reason="We have our own.")
    admin.press("Save it")
    admin.told("The text is saved")
    visitor.page.goto("/")
    visitor.to(visitor.page.locator("footer").get_by_role("link", name="Terms"))
    expect(visitor.page.locator(".prose")).to_contain_text("Of this town")


def look_after_machine(admin, visitor, place):
    page = admin.page
    room(admin, "Tasks")
    follow(page, page.get_by_role("button", name="Run now names"))
    admin.told("The task begins in a moment")
    room(admin, "Store and instances")
    admin.press("Make a backup now")
    admin.told("The backup is made")
    made = page.locator("section[aria-labelledby=backup-head] li code").all_inner_texts()
    assert len(made) == 1 and list((place / "backups").iterdir())
    admin.fill(message="We move to a larger house. Back at noon.", reason="The house is too small.")
    admin.press("Close the site for visitors")
    admin.told("The site is closed for visitors")
    visitor.expected = True
    answer = visitor.page.goto("/ranking")
    assert answer.status == 503 and int(answer.headers["retry-after"]) > 0
    title_is(visitor.page, "Closed for maintenance")
    expect(visitor.page.locator("main")).to_contain_text("We move to a larger house. Back at noon.")
    expect(visitor.page.locator("main")).not_to_contain_text("..")
    page.reload()
    admin.press("Open the site")
    admin.told("The site is open again")
    assert visitor.page.goto("/ranking").status == 200
    visitor.expected = False


def look_after_mail(admin, town):
    page = admin.page
    room(admin, "Mail")
    failed = page.locator("[aria-label='E-mails that failed'] tbody tr").filter(has_text="gone@example.net")
    expect(failed).to_contain_text("nobody of that name")
    expect(page.locator("[aria-label='Suppressed addresses'] tbody tr")).to_have_count(1)
    follow(page, failed.get_by_role("button", name="Try again"))
    admin.told("That e-mail is tried again")
    admin.fill(address="gone@example.net")
    admin.press("All e-mails again")
    admin.told("That address gets all e-mails again")
    admin.fill(address="vera@example.org")
    admin.press("Only e-mails about log-in")
    admin.told("That address gets only e-mails about its log-in")


def test_an_admin_runs_the_site(town, person, tmp_path):
    town.policy("Harbour lights", "hans")
    admin, visitor = person("admin"), person()
    place = pathlib.Path(town.site.data).parent
    look_after_people(admin, town, person)
    look_after_parties(admin)
    look_after_rules(admin)
    choose_electorate(admin, town, person, tmp_path)
    write_texts(admin, visitor)
    look_after_machine(admin, visitor, place)
    look_after_mail(admin, town)
    acts = acts_of(person("watcher"), "admin")
    for sentence, why in (
            ("Roles or rights of a person were set", "She knows it well."), ("Roles or rights of a person were set", "For a week."),
            ("Somebody was logged out", "Her telephone was stolen."), ("A party was added or changed", ""),
            ("A setting of the vote was changed", "More for all."), ("How long things are kept was changed", ""),
            ("Who may join was changed", "Only us."), ("Who may join was changed", "By letter."), ("Who may join was changed", "By the list."),
            ("Who may join was changed", "All are welcome."), ("People were invited", ""), ("The roll was changed", ""),
            ("A text of the site was changed", "We have our own."), ("A task was asked to run", ""), ("A backup was made", ""),
            ("Maintenance mode was changed", "The house is too small."), ("A letter that had failed was queued again", ""),
            ("An address gets all letters again", ""), ("An address gets only letters about log-in", "")):
        noted(acts, sentence, "admin", why)
    assert not any("admin" in line or "lights" in line for line in visitor.public_log()), "that is not for everybody"
