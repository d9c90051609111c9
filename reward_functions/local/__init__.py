"""AWS and its neighbours on one machine, for the command line, the helpers and the tests alone.

emulator/               a local AWS emulator on the loopback interface
training_double/        the services that train, simulated
runtime_double/         the runtime of multi-turn jobs, with a policy that needs no model
loopback_service/       what every double of AWS takes, refuses and says
scripted_judge.py       a judge whose verdicts are rules
function_runtime.py     a Lambda function of this checkout, on this interpreter
laptop.py               what `reward doctor` looks at
"""
