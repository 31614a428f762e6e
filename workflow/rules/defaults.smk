# What every rule has, said once: the environment of its program (which --software-deployment-method
# conda makes), a log, and a benchmark, both named after the rule and its wildcards.
import re

for rule_ in workflow.rules:
    rule_.conda_env = str(Path(workflow.basedir) / "environment.yml")
    names = dict.fromkeys(re.findall(r"{([a-z]+)", rule_.output[0]))
    job_name = "/".join([rule_.name, *(f"{{{name}}}" for name in names)])
    rule_.log_modifier = rule_.benchmark_modifier = rule_.output_modifier
    rule_.set_log(f"{cfg.results}/logs/{job_name}.log")
    rule_.benchmark = f"{cfg.results}/benchmarks/{job_name}.tsv"
