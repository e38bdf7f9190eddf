"""Results in the forms that other tools read: tables, graph files, local scores, chains for ArviZ."""
