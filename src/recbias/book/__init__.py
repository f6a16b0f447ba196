"""The book: notebooks and their runs, pages, figures, sentences that follow verdicts.

`notebooks` runs a chapter, `site` builds all editions, `rerun` holds a rerun against its data,
`standalone` writes one page for a reader; `pages`, `cards`, `findings` and `figures` are what the
pages show, `html` writes it; `scorecard` and `claim_page` show the document of all claims, with
`signs` and a `forest` of intervals; `choosing` fills what a reader leaves open; `explorer` is
what readers choose in, `exercises` what a check of their answers says; `non_personalised` and
`predictions` serve chapters 2 and 3, `jupyter` runs kernels. `course` is what students get,
and what marks their answers. `chapters` has a folder for each
chapter, `systems` the page of systems. It may import every other room but `recbias.cli`. Begin with
a folder of `chapters`.
"""
