#' dagpost: the posterior over Bayesian network structures
#'
#' Many networks usually explain a table almost equally well. [dagpost()] does
#' not pick one of them: it weighs all of them, and [ask()] answers any question
#' about the network with a probability. The work is done by the Python package
#' dagpost; [use_dagpost()] and [install_dagpost()] are about finding it.
#'
#' @docType package
#' @name dagpost-package
#' @keywords internal
NULL
