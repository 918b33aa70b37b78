"""Routes: what can be asked over HTTP, a module a subject; each answers from one view."""
