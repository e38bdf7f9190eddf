#' Bundled data
#'
#' @param name `"coronary"`, `"tic-tac-toe"`, `"iris"`, `"wine"`, `"asia"` or
#'   `"cohort"`.
#' @param rows,seed Of data that is drawn, `"asia"` and `"cohort"`: how many rows,
#'   and the seed.
#' @return A data frame with one row an observation, levels as factors.
#' @examples
#' \dontrun{
#' str(dagpost_data("coronary"))
#' }
#' @export
dagpost_data <- function(name = "coronary", rows = NULL, seed = NULL) {
  module <- dagpost_python()
  in_python({
    table <- module$datasets$load(name, rows = as_argument(rows), seed = as_argument(seed))
    seen <- array_to_r(table$weights)
    frame <- frame_to_r(table$to_pandas())
    # Counts come last, where rows were counted.
    frame <- frame[rep(seq_along(seen), seen), unlist(reticulate::py_to_r(table$names)), drop = FALSE]
    row.names(frame) <- NULL
    frame
  })
}
