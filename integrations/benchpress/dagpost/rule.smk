# Runs dagpost on one data set and writes graphs drawn from the posterior.
# `module_name` and the functions that make paths are Benchpress's own.


def dagpost_edge_constraints(wildcards):
    """The file that "edgeConstraints" names, as it is: script.py reads it without a conversion."""
    name = wildcards.edgeConstraints
    return [] if name == "None" else "resources/constraints/" + name


rule:
    name:
        module_name
    input:
        data=alg_input_data(),
        edge_constraints=dagpost_edge_constraints,
    output:
        seqgraph=alg_output_seqgraph_path(module_name),
        time=alg_output_time_path(module_name),
        ntests=touch(alg_output_ntests_path(module_name)),
    threads: lambda wildcards: int(wildcards.threads)
    container:
        # The Python that runs Snakemake, or the environment below with --use-conda. README.md says how to use an image.
        None
    conda:
        "environment.yaml"
    script:
        "script.py"
