# Defaults shared by all rules: the environment of the program (which --software-deployment-method
# conda makes); the digest of the program's code, a param, so that an edit reruns the rule; a log
# and a benchmark, named after the rule and its wildcards.
import re

for rule_ in workflow.rules:
    rule_.conda_env = str(Path(workflow.basedir) / "environment.yml")
    (program,) = re.findall(r"python -m ([\w.]+)", rule_.shellcmd)
    rule_.set_params(code=code.digest(program))
    names = dict.fromkeys(re.findall(r"{([a-z]+)", rule_.output[0]))
    # What is made of a study's own books has its logs there; the tables of costs are of the run.
    home = f"{cfg.results}/books/{{books}}" if "books" in names else cfg.results
    own = (f"{{{name}}}" for name in names if name != "books")
    job_name = os.path.join(rule_.name, *own)
    rule_.log_modifier = rule_.benchmark_modifier = rule_.output_modifier
    rule_.set_log(f"{home}/logs/{job_name}.log")
    rule_.benchmark = f"{home}/benchmarks/{job_name}.tsv"
