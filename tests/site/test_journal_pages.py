"""The pages of journals, for admins: all of them, and one with its dead list and its pause; by the forms as they stand there."""
import urllib.parse

from test_journals import ODD, admin, anybody, at, end, put, site, taken  # noqa: F401  fixtures, too


def test_admins_see_all_journals_and_can_read_the_declaration_again(site, anybody):
    put(anybody, "shown", {"data": "secret content", "key": "a key"})
    page = site.browser("admin").get("/admin/journals")
    for words in ("open", "work", "site.tasks", "the site’s own", "Due", "Given up"):
        assert words in page.words, words
    done = site.browser("admin").send(page, "/admin/journals/reload")
    assert done.code == 200 and "The declaration was read again." in done.words
    assert site.browser("vera").get("/admin/journals").code == 403
    assert site.browser().get("/admin/journals").path.startswith("/login")


def test_the_page_of_a_journal_has_its_dead_and_what_to_do_with_them(site, anybody, admin):
    for number in range(2):
        run = taken(anybody, "shown", {"key": f"<b>key {number}</b>", "data": "not to be shown"})
        end(anybody, "shown", "bury", run["token"])
    run = taken(anybody, "shown", {"key": "third", "data": "x"})
    chief, path = site.browser("admin"), "/admin/journals/shown"
    page = chief.get(path)
    assert "<b>key 0</b>" in page.words and "not to be shown" not in page.text and "Requeue all" in page.words
    ids = [one["id"] for one in admin.get(at("shown", "/entries?state=F")).json["entries"]]
    done = chief.send(page, f"{path}/entries/{ids[0]}/requeue")
    assert "It waits again." in done.words and admin.get(at("shown", f"/entries/{ids[0]}")).json["state"] == "W"
    done = chief.send(chief.get(path), f"{path}/entries/{ids[1]}/remove")
    assert "It is removed." in done.words and admin.get(at("shown", f"/entries/{ids[1]}")).code == 404
    again = taken(anybody, "shown", {"data": "x"})
    end(anybody, "shown", "bury", again["token"])
    done = chief.send(chief.get(path), f"{path}/requeue")
    assert "All of them wait again." in done.words and admin.get(at("shown")).json["dead"] == 0
    end(anybody, "shown", "done", run["token"])


def test_an_admin_pauses_and_resumes_by_the_page(site, admin):
    chief, path = site.browser("admin"), "/admin/journals/shown"
    wrong = chief.send(chief.get(path), f"{path}/pause", seconds="0")
    assert wrong.code == 422 and admin.get(at("shown")).json["paused_s"] == 0
    done = chief.send(chief.get(path), f"{path}/pause", seconds="600")
    assert "The journal is paused." in done.words and "for 9 min more" in done.words or "for 10 min more" in done.words
    assert "paused" in chief.get("/admin/journals").words
    done = chief.send(chief.get(path), f"{path}/resume")
    assert "hands out entries again" in done.words and admin.get(at("shown")).json["paused_s"] == 0
    assert chief.get("/admin/journals/nowhere").code == 404
    assert chief.get(f"/admin/journals/{urllib.parse.quote(ODD, safe='')}").code == 200
