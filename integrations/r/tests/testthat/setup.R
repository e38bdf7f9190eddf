# Without Python and its package there is nothing to test; one model serves all.
python_is_there <- tryCatch(
  !is.null(dagpost_python()),
  error = function(problem) {
    message("Tests that need Python are skipped: ", conditionMessage(problem))
    FALSE
  }
)
skip_without_python <- function() skip_if_not(python_is_there, "Python with the package dagpost")

if (python_is_there) {
  coronary <- dagpost_data("coronary")
  model <- dagpost(coronary, score = "bdeu", seed = 1)
}

# The table that Python makes of a data frame. That so few rows look unintended is no matter here.
table_of <- function(data) suppressWarnings(in_python(dagpost_python()$as_table(table_to_python(data))))
levels_of <- function(table) reticulate::py_to_r(table$levels)
gaps_of <- function(table) array_to_r(table$gaps)
tibble_of <- function(data) {
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(data) else data
}
