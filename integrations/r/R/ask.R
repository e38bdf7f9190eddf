#' How probable a statement is
#'
#' A statement about the network, such as `"A -> B"` (an edge), `"A ~> B"` (a
#' directed path), `"A -- B"` (an edge either way), `"A in mb(B)"` (Markov
#' blanket), joined by `&`, `|` and `!`; or about values, such as
#' `'P(Pressure = ">140" | Smoking = "yes")'`. A name with blanks is put in
#' quotes: `'"M. Work" -> Family'`.
#'
#' @param model A model that [dagpost()] made, or a sample of [sample_graphs()].
#' @param statement One statement, or several.
#' @param given A statement about the graph that is taken for true.
#' @param confidence The confidence of intervals.
#' @return Numbers that print with how they were found: exact, or from drawn
#'   graphs, with an interval. They compute as plain numbers do;
#'   `as.data.frame()` has all that is known: value, lower, upper, exact, rule.
#' @examples
#' \dontrun{
#' model <- dagpost(dagpost_data("coronary"), seed = 1)
#' ask(model, "Smoking ~> Pressure")
#' ask(model, c("Smoking -> Pressure", "Pressure -> Smoking"), given = "Smoking -- Pressure")
#' }
#' @export
ask <- function(model, statement, given = NULL, confidence = 0.95) {
  python <- python_of(model)
  if (!is.character(statement) || length(statement) == 0 || anyNA(statement)) {
    stop_plainly("A statement must be text, such as \"A -> B\". Got ", shown(statement), " instead.")
  }
  statement <- enc2utf8(unname(statement))
  found <- in_python({
    answers <- python$probability(as.list(statement), as_argument(given), confidence = confidence)
    # Lists of Python, of which R would make plain numbers.
    lapply(seq_along(statement) - 1L, function(place) estimate_fields(reticulate::py_get_item(answers, place)))
  })
  field <- function(name, kind) vapply(found, `[[`, kind, name)
  estimate(
    field("value", 0), statement, field("lower", 0), field("upper", 0), field("rule", ""), field("text", "")
  )
}

estimate_fields <- function(answer) {
  number <- function(name) as.numeric(reticulate::py_to_r(reticulate::py_get_attr(answer, name)))
  list(
    value = number("value"), lower = number("lower"), upper = number("upper"), rule = text_of(answer$rule),
    text = text_of(answer)
  )
}

estimate <- function(value, statement, lower, upper, rule, text) {
  structure(value, statement = statement, lower = lower, upper = upper, rule = rule, text = text,
            class = "dagpost_estimate")
}

#' @export
format.dagpost_estimate <- function(x, ...) attr(x, "text")

#' @export
print.dagpost_estimate <- function(x, ...) {
  before <- if (length(x) == 1) "" else paste0(format(attr(x, "statement")), "  ")
  cat(paste0(before, attr(x, "text"), "\n"), sep = "")
  invisible(x)
}

#' @export
as.double.dagpost_estimate <- function(x, ...) as.vector(unclass(x), "double")

#' @export
as.data.frame.dagpost_estimate <- function(x, ...) {
  data.frame(
    statement = attr(x, "statement"), value = as.double(x), lower = attr(x, "lower"), upper = attr(x, "upper"),
    exact = attr(x, "rule") == "exact", rule = attr(x, "rule")
  )
}

#' @export
`[.dagpost_estimate` <- function(x, i) {
  part <- function(name) attr(x, name)[i]
  estimate(as.double(x)[i], part("statement"), part("lower"), part("upper"), part("rule"), part("text"))
}

# What is computed from an estimate is a plain number.
#' @export
Ops.dagpost_estimate <- function(e1, e2) {
  plain <- function(value) if (inherits(value, "dagpost_estimate")) as.double(value) else value
  if (missing(e2)) get(.Generic)(plain(e1)) else get(.Generic)(plain(e1), plain(e2))
}

#' @export
Math.dagpost_estimate <- function(x, ...) get(.Generic)(as.double(x), ...)

#' @export
Summary.dagpost_estimate <- function(..., na.rm = FALSE) {
  do.call(.Generic, c(lapply(list(...), as.double), na.rm = na.rm))
}

#' A model in which statements are taken for true
#'
#' @param model A model that [dagpost()] made.
#' @param ... Statements about the graph, such as `"A -> B"`.
#' @return A model again, among the graphs in which all of these hold.
#' @examples
#' \dontrun{
#' model <- dagpost(dagpost_data("coronary"), seed = 1)
#' edge_probabilities(given(model, "Smoking -> Pressure"))
#' }
#' @export
given <- function(model, ...) {
  as_model(in_python(do.call(model_of(model)$given, lapply(unname(list(...)), as_argument))))
}
