"""The line that asks for a text to filter or search by."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class FindBar(Input):
    """Appears above the bottom line while a text is typed; every letter is reported at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "forget", "clear", tooltip="show everything again", id="find.forget", key_display="esc"),
    ]

    class Typed(Message):
        """The text to look for is another one; `done` once it is complete."""

        def __init__(self, text: str, *, done: bool) -> None:
            super().__init__()
            self.text = text
            self.done = done

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=True, classes="-gone")

    def open(self) -> None:
        """Ask for a text."""
        self.remove_class("-gone")
        self.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Report what is typed."""
        event.stop()
        self.post_message(self.Typed(event.value, done=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Report that the text is complete; an empty one closes the line."""
        event.stop()
        self.set_class(not event.value, "-gone")
        self.post_message(self.Typed(event.value, done=True))

    def action_forget(self) -> None:
        """Look for nothing any more."""
        self.value = ""
        self.add_class("-gone")
        self.post_message(self.Typed("", done=True))
