# Arrays of numbers between R and NumPy, as bytes. reticulate converts them
# itself, but only since release 1.37 those of NumPy 2, which dagpost needs.

array_to_python <- function(values, dtype) {
  numpy <- reticulate::import("numpy", convert = FALSE)
  if (is.logical(values)) values <- as.integer(values)
  # NA is a NaN that processors complain about in sums.
  if (is.double(values)) values[is.na(values)] <- NaN
  stored <- if (is.integer(values)) "<i4" else "<f8"
  numpy$frombuffer(writeBin(as.vector(values), raw(), endian = "little"), dtype = stored)$astype(dtype)
}

# Numbers, with the dimensions that they have there.
array_to_r <- function(array) {
  bytes <- reticulate::import_builtins(convert = FALSE)$bytearray(array$astype("<f8")$tobytes(order = "F"))
  dimensions <- unlist(reticulate::py_to_r(array$shape))
  values <- readBin(reticulate::py_to_r(bytes), "double", prod(dimensions), endian = "little")
  if (length(dimensions) > 1) array(values, dimensions) else values
}
