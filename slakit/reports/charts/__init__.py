"""Charts as SVG text, the same on paper and on a page; only the palette differs."""
