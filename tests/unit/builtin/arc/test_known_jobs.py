"""What is known of jobs at a computing element."""

from pileup.builtin.arc.known_jobs import Entry, JobIndex


def test_a_job_whose_name_the_service_cannot_tell_yet_is_noted_by_who_submitted_it() -> None:
    book = JobIndex()
    book.note([Entry("1", "", "")])  # learned from the list of all jobs while its submission was answered
    assert not book.known("1")
    book.note([Entry("1", "mine-1", "user1")])
    assert book.ids("mine-1") == ["1"]
    assert book.entry("1").user == "user1"
    book.note([Entry("1", "other", "user2")])
    assert (book.ids("other"), book.entry("1").name) == ([], "mine-1")
