"""The live view: a scene as a screen full of text."""

from nodewright_fake.demo.view.frame import frame

__all__ = ["frame"]
