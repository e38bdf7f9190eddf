# Log scores of all families of a small mixed table by Debian's r-cran-deal (Bottcher & Dethlefsen 2003), version 1.2.42:
#   Rscript tests/reference/deal.R > tests/reference/deal.json
suppressMessages(library(deal))
set.seed(15)
rows <- 40
a <- sample(0:1, rows, replace = TRUE)
b <- pmin(2, a + sample(0:2, rows, replace = TRUE))
x <- round(rnorm(rows) + a, 3)
y <- round(0.5 * x * (1 + b) + rnorm(rows), 3)
z <- round(10 + 3 * y - 2 * a + 2 * rnorm(rows), 3)
table <- data.frame(a = factor(a), b = factor(b), x = x, y = y, z = z)
size <- 24
quietly <- function(value) invisible(capture.output(value))
quietly({
  empty <- network(table)
  prior <- jointprior(empty, size)
  empty <- getnetwork(learn(empty, table, prior))
})
subsets <- function(columns) {
  found <- list(integer(0))
  for (column in columns) found <- c(found, lapply(found, function(own) c(own, column)))
  found
}
digits <- function(values, count = 17) paste(format(values, digits = count, trim = TRUE), collapse = ", ")
families <- c()
for (child in 1:5) for (parents in subsets(setdiff(1:5, child))) {
  if (child <= 2 && any(parents > 2)) next
  own <- empty
  for (parent in parents) quietly(own <- getnetwork(insert(own, parent, child, table, prior)))
  score <- format(own$nodes[[child]]$loglik, digits = 17)
  families <- c(families, sprintf('    [%d, [%s], %s]', child - 1, paste(parents - 1, collapse = ", "), score))
}
numbers <- 3:5
cat("{\n")
cat(sprintf('  "imaginary_sample_size": %d,\n', size))
for (name in names(table)) cat(sprintf('  "%s": [%s],\n', name, digits(as.numeric(as.character(table[[name]])), 7)))
cat(sprintf('  "mean": [%s],\n', digits(prior$jointmu[1, ])))
cat(sprintf('  "phi_of_a_cell": [%s],\n', digits(diag(prior$jointphi[[1]]))))
cat(sprintf('  "families": [\n%s\n  ]\n}\n', paste(families, collapse = ",\n")))
