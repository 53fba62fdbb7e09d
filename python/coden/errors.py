"""What goes wrong with a run, said in one line."""


class RunError(Exception):
    """A run is not there, not whole, or does not hold what was asked for."""


def one_line(error: BaseException) -> str:
    """The message of an error on one printable line; a foreign message may hold anything."""
    text = " ".join(str(error).split()) or type(error).__name__
    return "".join(letter if letter.isprintable() else "?" for letter in text)
