#' Write a report, keep a model
#'
#' @param model A model that [dagpost()] made; for `report()` also a sample.
#' @param file The path of the file; an older one is replaced.
#' @param title The title of the report.
#' @param rows Whether the rows of the table are kept in the file.
#' @return `report()`: the path, invisibly; one HTML file that opens in any
#'   browser, offline. `save_model()`: the path, invisibly. `load_model()`: the
#'   model.
#' @examples
#' \dontrun{
#' model <- dagpost(dagpost_data("coronary"), seed = 1)
#' report(model, "coronary.html")
#' save_model(model, "coronary.dagpost")
#' model <- load_model("coronary.dagpost")
#' }
#' @export
report <- function(model, file, title = NULL) {
  python <- python_of(model)
  in_python(python$report(path.expand(file), title = title))
  invisible(file)
}

#' @rdname report
#' @export
save_model <- function(model, file, rows = FALSE) {
  python <- model_of(model)
  in_python(python$save(path.expand(file), rows = rows))
  invisible(file)
}

#' @rdname report
#' @export
load_model <- function(file) {
  module <- dagpost_python()
  as_model(in_python(module$DagPosterior$load(path.expand(file))))
}
