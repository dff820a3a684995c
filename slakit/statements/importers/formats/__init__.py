"""One module for each format; see `slakit.statements.importers.form`."""
