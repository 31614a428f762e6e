# Every program runs in one environment, which `--software-deployment-method conda` makes; said once
# for all rules, where a directive would have to stand in each.
for rule_ in workflow.rules:
    rule_.conda_env = str(Path(workflow.basedir) / "environment.yml")
