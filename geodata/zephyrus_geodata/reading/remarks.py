"""What the axes of a source have to tell on the way: notes, questions, what is left out."""

from dataclasses import dataclass, field

from zephyrus_geodata.reading.understood import Note, Question


@dataclass
class Remarks:
    """Collects remarks; the same thing is told once.

    Attributes:
        notes: in the order in which they were made.
        questions: likewise.
        left_out: raw name -> why.
    """

    notes: list[Note] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def note(self, text: str, variable: str = "") -> None:
        """Tell what was done."""
        if (note := Note(text, variable)) not in self.notes:
            self.notes.append(note)

    def ask(self, text: str, flag: str, variable: str = "") -> None:
        """Ask what nobody may guess."""
        if (question := Question(text, flag, variable)) not in self.questions:
            self.questions.append(question)

    def leave_out(self, name: str, why: str) -> None:
        """Tell why a raw variable is not used; the first reason stands."""
        self.left_out.setdefault(name, why)
