"""Contracts: clause folders to one numbered tree, and that tree to PDF, HTML and Markdown.

`draft` prints a deal, `embed` gives the terms back out of a printed PDF, `lint` says what is wrong with a text.
"""
