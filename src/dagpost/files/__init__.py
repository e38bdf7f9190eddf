"""Results in the forms that other tools read: tables, labelled arrays, graph files, local scores, chains for ArviZ."""
