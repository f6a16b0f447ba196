"""What was observed: ratings, the data sets that they come from, worlds with a known truth.

`ratings` is the container with its checks; `datasets` reads published data and tables of your own;
`simulation` makes worlds; `selection` takes a part; `features` says what is known of items. It
imports `recbias._system` and `recbias.errors`. Begin with `recbias.data.datasets.load_dataset`.
"""
