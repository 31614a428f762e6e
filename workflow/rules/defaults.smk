# Defaults shared by all rules: the environment of the program (which --software-deployment-method
# conda makes); the digest of the program's code, a param, so that an edit reruns the rule; a log
# and a benchmark, named after the rule and its wildcards.
import re

for rule_ in workflow.rules:
    rule_.conda_env = str(Path(workflow.basedir) / "environment.yml")
    (program,) = re.findall(r"python -m ([\w.]+)", rule_.shellcmd)
    rule_.set_params(code=code.digest(program))
    names = dict.fromkeys(re.findall(r"{([a-z]+)", rule_.output[0]))
    job_name = os.path.join(rule_.name, *(f"{{{name}}}" for name in names))
    rule_.log_modifier = rule_.benchmark_modifier = rule_.output_modifier
    rule_.set_log(f"{cfg.results}/logs/{job_name}.log")
    rule_.benchmark = f"{cfg.results}/benchmarks/{job_name}.tsv"
