"""Views: what a published state of a model can be asked, with the indexes that make it quick."""
