# What Benchpress gives a module: a check of its JSON objects, a path with all their fields but those of the estimate,
# and one job.
import json

import snakemake.utils

SCHEMA = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "properties": {"dagpost": {"$ref": "rules/structure_learning_algorithms/dagpost/schema.json"}},
}
with open("workflow/config.schema.json", "w") as file:
    json.dump(SCHEMA, file)
snakemake.utils.validate(config, "config.schema.json")
FIELDS = dict(config["dagpost"][0])
for name in ("id", "mcmc_estimator", "threshold", "burnin_frac"):
    FIELDS.pop(name)
pattern_strings = {"dagpost": "dagpost/alg_params=/" + "/".join(name + "={" + name + "}" for name in FIELDS)}


def path_of(kind, algorithm, file):
    return "{output_dir}/" + kind + "/{data}/algorithm=/" + pattern_strings[algorithm] + "/seed={seed}/" + file


def alg_input_data():
    return "{output_dir}/data/{data}/seed={seed}.csv"


def alg_output_seqgraph_path(algorithm):
    return path_of("adjvecs", algorithm, "adjvecs_tobecompressed.csv")


def alg_output_time_path(algorithm):
    return path_of("time", algorithm, "time.txt")


def alg_output_ntests_path(algorithm):
    return path_of("ntests", algorithm, "ntests.txt")


rule all:
    input:
        expand(alg_output_seqgraph_path("dagpost"), output_dir="results", data="small", seed=1, **FIELDS),


module_name = "dagpost"


include: "rules/structure_learning_algorithms/dagpost/rule.smk"
