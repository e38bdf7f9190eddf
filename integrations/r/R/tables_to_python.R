# A data frame on its way to Python, column by column. reticulate has a
# conversion of its own; of release 1.28, it turns NA among integers into
# -2147483648, among logicals into TRUE and among text into "NA".

table_to_python <- function(data) {
  if (inherits(data, "python.builtin.object")) return(data)
  if (is.matrix(data)) data <- as.data.frame(data, stringsAsFactors = FALSE)
  if (!is.data.frame(data)) {
    stop_plainly("The data must be a data frame, a matrix, a table of counts or the path of a file, not ", kind_of(data), ".")
  }
  pandas <- reticulate::import("pandas", convert = FALSE)
  labels <- enc2utf8(names(data))
  columns <- lapply(seq_along(data), function(place) column_to_python(data[[place]], labels[place], pandas))
  # By place and not by name: two columns of the same name must both arrive, to be refused there.
  frame <- pandas$DataFrame(
    reticulate::py_dict(as.list(seq_along(columns)), columns, convert = FALSE),
    index = row_labels(data, pandas)
  )
  frame$set_axis(as.list(labels), axis = 1L)
}

# Rows are counted from 1, as R does, unless they have names.
row_labels <- function(data, pandas) {
  if (.row_names_info(data) > 0) pandas$Index(as.list(row.names(data))) else pandas$RangeIndex(1L, nrow(data) + 1L)
}

column_to_python <- function(column, name, pandas) {
  refuse_column(column, name)
  if (is.factor(column)) return(factor_to_python(column, pandas))
  if (inherits(column, c("Date", "POSIXt"))) {
    moments <- as.list(format(column, "%Y-%m-%dT%H:%M:%S", tz = "UTC"))
    moments[is.na(column)] <- list(NULL)
    return(pandas$to_datetime(moments))
  }
  gaps <- is.na(column)
  if (is.character(column)) {
    # Text, of which each value travels once; not a category, so that Python reads it as it reads a file.
    column <- enc2utf8(column)
    return(factor_to_python(factor(column, levels = unique(column[!gaps])), pandas)$astype("object"))
  }
  if (is.logical(column)) return(masked(column, FALSE, gaps, "bool", pandas$arrays$BooleanArray))
  if (is.integer(column)) return(masked(column, 0L, gaps, "int64", pandas$arrays$IntegerArray))
  array_to_python(as.numeric(column), "float64")
}

factor_to_python <- function(column, pandas) {
  in_order <- is.ordered(column)
  # addNA() makes a level of gaps; they are gaps all the same.
  kept <- levels(column)[!is.na(levels(column))]
  codes <- match(as.character(column), kept, nomatch = 0L) - 1L
  pandas$Categorical$from_codes(
    array_to_python(codes, "int64"),
    categories = pandas$Index(as.list(enc2utf8(kept)), dtype = "object"), ordered = in_order
  )
}

masked <- function(column, filler, gaps, dtype, make) {
  column[gaps] <- filler
  values <- array_to_python(as.vector(column), dtype)
  if (any(gaps)) make(values, array_to_python(gaps, "bool")) else values
}

refuse_column <- function(column, name) {
  remedy <- if (is.list(column)) {
    "is a list. A column must have one value in each row: unnest it, or leave it out."
  } else if (is.matrix(column) || is.array(column) && length(dim(column)) > 1) {
    "is a matrix. Make a column of each of its columns."
  } else if (inherits(column, "haven_labelled")) {
    "has labels of the package haven. Use haven::as_factor() for levels, or haven::zap_labels() for numbers."
  } else if (inherits(column, "integer64")) {
    "holds 64-bit integers of the package bit64. Use as.integer(), as.numeric() or as.character()."
  } else if (is.complex(column) || is.raw(column)) {
    paste0("is of type ", typeof(column), ". Use numbers, text, logicals or a factor.")
  }
  if (!is.null(remedy)) stop_plainly("The column '", name, "' ", remedy)
}

kind_of <- function(value) paste0("an object of class '", paste(class(value), collapse = "', '"), "'")
