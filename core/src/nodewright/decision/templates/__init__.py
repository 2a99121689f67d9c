"""What a new node of each group looks like, by its nodes, by memory, or by its provider."""

from nodewright.decision.templates.choice import Templates, choose_templates

__all__ = ["Templates", "choose_templates"]
