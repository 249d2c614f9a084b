"""Which releases of the dependencies are installed: a few tests describe what only newer ones do."""

from importlib.metadata import version


def before(package, major, minor):
    """Whether the installed release of a package is older than `major.minor`."""
    return tuple(map(int, version(package).split(".")[:2])) < (major, minor)
