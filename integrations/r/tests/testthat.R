library(testthat)
library(dagpost)

test_check("dagpost")
