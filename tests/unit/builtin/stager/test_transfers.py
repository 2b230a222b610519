"""The log of the copy commands, and the events of the library."""

from pileup.builtin.stager.transfers import LibraryEvent, Transfer, event_of, transfer_of


def test_lines_of_the_copy_commands() -> None:
    assert transfer_of("1795526540891629000,n3,started,/tape/0000042,,,") == Transfer(
        1795526540891629000, "n3", "started", "/tape/0000042", 0, 0, ""
    )
    assert transfer_of("2000,n0,done,/tape/0000042,70,30,") == Transfer(2000, "n0", "done", "/tape/0000042", 70, 30, "")
    failed = transfer_of("2000,n0,failed,/tape/0000042,,,no answer, and no reason")
    assert failed is not None
    assert failed.problem == "no answer, and no reason"


def test_damaged_lines_are_left_out() -> None:
    for line in (
        "",
        "2000,n0,done",
        "x,n0,done,/tape/1,1,1,",
        "2000,n0,other,/tape/1,1,1,",
        "2000,n0,done,/tape/1,x,1,",
    ):
        assert transfer_of(line) is None, line


def test_lines_of_the_library() -> None:
    assert event_of("time,library,event,request,path,read,drive,cartridge,value") is None
    assert event_of("1005,50,begun,,/tape/0000042,3,1,17,") == LibraryEvent(1005, "begun", "/tape/0000042", "d1", "17")
    assert event_of("1005,50,queued,,/tape/0000042,3,,17,8") == LibraryEvent(1005, "queued", "/tape/0000042", "", "17")
