"""Running evaluations: grids of systems and protocols, their cells, results and verification.

`grid` says what is asked, `run` answers; `cells` train and keep, `reduction` makes values of
tables, `results` are what is stored, `makers` are functions whose tables are stored like grids,
`verification` computes stored results anew. `report` is what results answer afterwards: `pairs` of
systems, values of `users`, tables (`typesetting`) and the `picture`. `options` has every decision
of an evaluation as one value, `decisions` the table of these decisions, and `outcomes` what options
give. `store` and `engine` keep files and workers; `folds` reads the splits of cells once; `worlds`
asks many worlds, `feedback` turns recommendations into ratings; `reproduction` compares a stored
result with a fresh one; `untrainable` and `training_seeds` say which systems are not trained, and
how often others are; `planning` tells what a run would do, and what that takes.
It imports the rooms above it in the table of CONTRIBUTING.md, and neither `recbias.claims` nor
`recbias.book`: these register what they want to be computed. Begin with `recbias.experiment.run`.
"""
