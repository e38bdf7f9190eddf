# One session of R for tests/unit/integrations/test_r.py: the tests of the package, the examples of the pages, and
# numbers to compare with those of Python.
#
#   Rscript r_session.R PACKAGE FOLDER PAGE...
#
# FOLDER gets a file for each page, with the output that its examples print now, and numbers.csv. The session ends with
# status 77 where something is not installed, and says what.

arguments <- commandArgs(trailingOnly = TRUE)
package <- arguments[1]
folder <- arguments[2]
pages <- arguments[-(1:2)]

not_here <- function(...) {
  cat(..., "\n", sep = "")
  quit(status = 77)
}
for (needed in c("reticulate", "testthat", "pkgload")) {
  if (!requireNamespace(needed, quietly = TRUE)) not_here("R does not have the package ", needed)
}
found <- tryCatch(reticulate::py_discover_config(), error = function(problem) {
  not_here("reticulate ", as.character(utils::packageVersion("reticulate")), " does not know this Python")
})
if (is.null(found$libpython)) not_here("this Python has no shared library for R to load")
pkgload::load_all(package, quiet = TRUE, attach_testthat = FALSE)

# The code of an R block with what it prints in lines that begin with "#>", one expression after the other.
refreshed_block <- function(lines, scope) {
  code <- lines[!startsWith(lines, "#>")]
  expressions <- parse(text = code, keep.source = TRUE)
  printed <- lapply(expressions, function(expression) {
    utils::capture.output({
      found <- withVisible(eval(expression, scope))
      if (found$visible) print(found$value)
    })
  })
  last_lines <- vapply(attr(expressions, "srcref"), function(place) place[3], 0)
  # What an example prints is checked where the page shows it.
  shows <- vapply(last_lines, function(line) shows_output(lines, code, line), NA)
  unlist(lapply(seq_along(code), function(line) {
    c(code[line], unlist(lapply(printed[last_lines == line & shows], function(text) paste0("#> ", text))))
  }))
}

shows_output <- function(lines, code, line) {
  place <- which(!startsWith(lines, "#>"))[line]
  place < length(lines) && startsWith(lines[place + 1], "#>")
}

refreshed_page <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  scope <- new.env(parent = globalenv())
  starts <- which(lines == "```r")
  result <- character()
  done <- 0
  for (start in starts) {
    end <- start + match("```", lines[-seq_len(start)])
    inside <- lines[(start + 1):(end - 1)]
    result <- c(result, lines[(done + 1):start])
    # Blocks with :: call other packages, or install something.
    result <- c(result, if (any(grepl("::", inside))) inside else refreshed_block(inside, scope))
    done <- end - 1
  }
  c(result, lines[(done + 1):length(lines)])
}

grDevices::pdf(NULL)
for (page in pages) writeLines(refreshed_page(page), file.path(folder, basename(page)), useBytes = TRUE)

coronary <- dagpost_data("coronary")
model <- dagpost(coronary, score = "bdeu", max_parents = 3, seed = 1)
drawn <- sample_graphs(model, 50, seed = 2)
numbers <- list(
  evidence = log_evidence(model), edges = edge_probabilities(model, as = "matrix"),
  path = ask(model, "Smoking ~> Pressure"), values = ask(model, 'P(Pressure = ">140" | Smoking = "yes")'),
  graphs = as_adjacency(drawn), weights = weights(drawn), best = probabilities(best_graphs(model, 5)),
  effect = effect(model, "Smoking", "Pressure", draws = 200)$draws,
  predicted = predict(model, coronary[c(1, 1000), ], "Pressure", type = "distribution")
)
table <- data.frame(
  name = rep(names(numbers), lengths(numbers)), value = sprintf("%.17g", unlist(lapply(numbers, as.numeric)))
)
utils::write.csv(table, file.path(folder, "numbers.csv"), row.names = FALSE, quote = FALSE)

outcome <- testthat::test_dir(
  file.path(package, "tests", "testthat"), package = "dagpost", load_package = "none", reporter = "summary",
  stop_on_failure = FALSE
)
outcome <- as.data.frame(outcome)
quit(status = as.integer(any(outcome$failed > 0 | outcome$error)))
